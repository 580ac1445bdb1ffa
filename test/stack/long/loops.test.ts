import { expect, it } from 'vitest';
import { DEFAULT_PER_SECOND } from '../../../lib/deliveries/recovery.ts';
import { changed } from '../../support/changed.ts';
import { eventsOf } from '../../support/documents.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook } from '../../support/requests.ts';
import { eventually, useService } from '../../support/service.ts';

const service = useService({ speed: 300 });
/** The pages of the recovery. The chain of the first page has two invocations left. */
const PAGES = 8;
const deadLetters = () =>
  [...service.stack.queues].flatMap(([name, queue]) => (name === 'DeadLetters' ? queue.receive(10) : []));

it('publishes the event of a connection that expires after 40 leases', async () => {
  const client = await (await service.project()).client('live');
  const events = await eventsOf(client);
  const isOpen = (line: string) => line.includes('"connection_id":"kept"') && line.includes('"result":"open"');
  const checks = () => service.log.filter(isOpen).length;
  for (let leases = 0; leases < 40; leases++) {
    const renewed = await client('PUT', '/v1/connections/kept', { body: { node_id: 'n', lease_seconds: 10 } });
    expect(renewed.status).toBe(200);
    await eventually(() => checks() > leases);
  }
  expect(events.all()).toEqual([]);
  service.stack.clock.advance(10_000);
  const [lost] = await events.until(1);
  expect(lost).toMatchObject({ type: 'connection.lost', data: { connection_id: 'kept' } });
  expect(deadLetters()).toEqual([]);
});

it('continues a recovery for more pages than the chain limit of Lambda', async () => {
  const { stack } = service;
  const project = await service.project();
  const client = await project.client('live');
  const receiver = await startReceiver();
  const { id } = await createWebhook(client, receiver.url);
  await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
  const since = stack.clock.now() - 1;
  const expected = new Set<string>();
  for (let batch = 0; batch < PAGES; batch++) {
    const body = { events: Array.from({ length: DEFAULT_PER_SECOND }, () => changed()) };
    for (const event of (await client('POST', '/v1/events/batch', { body })).body.data) expected.add(event.id);
  }
  const skipped = () =>
    [...service.log.join('').matchAll(/"skipped":(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  await eventually(() => skipped() >= expected.size);
  await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'enabled' } });

  // A page of a long recovery.
  const queue = [...stack.queues.values()].find(({ settings: { name } }) => name === 'Deliveries');
  const deliver = [...stack.functions.keys()].find((name) => /^DeliveryDeliver[0-9A-F]{8}$/.test(name));
  const space = { projectId: project.id, environment: 'live' };
  const recover = { webhookId: id, ...space, since, until: stack.clock.now(), perSecond: DEFAULT_PER_SECOND };
  queue?.send(JSON.stringify({ recover }), { group: id, trace: `Lineage=${deliver}:14` });
  await eventually(() => receiver.received.length >= expected.size || deadLetters().length > 0);
  expect(new Set(receiver.received.map(({ headers }) => headers['x-service-event-id']))).toEqual(expected);
});
