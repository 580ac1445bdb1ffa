import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, expect, it, vi } from 'vitest';
import { ops } from '../../../infra/commands/ops.ts';
import { ServiceError } from '../../../infra/local/services/endpoints.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import { SET_ASIDE_PREFIX } from '../../../lib/deployment.ts';
import { SETTLE_MS } from '../../../lib/operators/deletion.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { changed } from '../../support/changed.ts';
import { logEvents, matchesPattern } from '../../support/cloudwatch/logs.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { code } from '../../support/documents.ts';
import { writeItems } from '../../support/items.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, deliveryOf, publish, settled } from '../../support/requests.ts';
import { eventually, useService } from '../../support/service.ts';
import { ran } from '../../support/shell.ts';
import { stackPerformers } from '../../support/stack-performers.ts';
import { copyTable } from '../../support/table-performers.ts';

const service = useService({ speed: 1000, visibilitySpeed: 1000 });
const HALF_A_DAY_MS = 12 * 60 * 60 * 1000;
const bucket = () => [...service.stack.buckets.values()][0] ?? new Map<string, string>();

/** The commands of this project in the blocks of shell code and in the inline code. */
const runbook = readFileSync(new URL('../../../infra/RUNBOOK.md', import.meta.url), 'utf8');
const OPS = 'npm run ops -- ';
const texts = [...runbook.matchAll(/```\w*\n([\s\S]*?)\n *```|`([^`]+)`/g)].map(
  ([, block, inline]) => block ?? inline ?? '',
);
const ours = [...new Set(texts.map((each) => each.trim()).filter((each) => each.startsWith(OPS)))];
const ranCommands = new Set<string>();

/** Runs the only command of this project that contains a text, with values for its placeholders. Throws if it fails. */
async function run(part: string, values: Record<string, string> = {}): Promise<string> {
  const [command = '', ...others] = ours.filter((each) => each.includes(part));
  expect([command === '', others], part).toEqual([false, []]);
  ranCommands.add(command);
  const words = command.slice(OPS.length).split(' ');
  const filled = words.map((word) => {
    if (word === '$STACK') return 'Service';
    const [, name] = /^<(.+)>$/.exec(word) ?? [];
    const value = name === undefined ? word : values[name];
    if (value === undefined) throw new Error(`${command}: there is no value for ${word}`);
    return value;
  });
  const ask = async () => values.answer ?? '';
  const { status, stdout, stderr } = await ran(ops, filled, stackPerformers(service.stack), { ask });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

it('keeps an event that the fan-out discarded, and delivers it when it is replayed', async () => {
  const { stack } = service;
  const live = await (await service.project()).client('live');
  const receiver = await startReceiver();
  await createWebhook(live, receiver.url, { events: ['document.changed'] });
  let isDown = true;
  stack.endpoints.wrap('dynamodb', (table) => (request) => {
    if (isDown && request.principal.startsWith('DeliveryFanOut'))
      throw new ServiceError('InternalServerError', '', 500);
    return table(request);
  });
  const { id } = (await live('POST', '/v1/events', { body: changed() })).body;
  await eventually(() => service.log.some((line) => line.includes('event.fan_out_failed') && line.includes(id)));
  stack.clock.advance(HALF_A_DAY_MS);
  const key = await eventually(() => [...bucket().keys()][0]);

  await expect(run('replay events')).rejects.toThrow(`Not replayed: ${key}. See the log of the function.`);
  expect(receiver.received).toEqual([]);

  isDown = false;
  expect(await run('replay events')).toBe('Replayed 1 objects.\n');
  await eventually(() => receiver.received.some(({ headers }) => headers['x-service-event-id'] === id));
  expect(bucket().size).toBe(0);
});

it('keeps a retry that its schedule could not queue, and queues it when it is replayed', async () => {
  const { stack } = service;
  const project = await service.project();
  const live = await project.client('live');
  const receiver = await startReceiver();
  const webhook = await createWebhook(live, receiver.url, { events: ['sync.conflict'] });
  const { id } = (await live('POST', '/v1/events', { body: changed() })).body;
  const message = { webhookId: webhook.id, eventId: id, projectId: project.id, environment: 'live', run: 0 };
  const [quick] = [...stack.queues.values()].filter(({ settings: { name } }) => name === 'Deliveries');
  if (!quick) throw new Error('There is no queue');
  stack.queues.delete(quick.settings.name);
  stack.scheduler.fire({
    Input: JSON.stringify({
      QueueUrl: quick.settings.name,
      MessageBody: JSON.stringify({ ...message, attempt: 4, trigger: 'schedule' }),
    }),
    DeadLetterConfig: { Arn: 'FailedSchedules' },
  });
  stack.queues.set(quick.settings.name, quick);
  expect(await run('replay schedules')).toBe('Sent 1 messages.\n');
  await receiver.until(1);
  expect(await run('replay schedules')).toBe('Sent 0 messages.\n');
});

it('delivers events that the stream dropped, and repeats no recorded attempt', async () => {
  const live = await (await service.project()).client('live');
  const receiver = await startReceiver();
  await createWebhook(live, receiver.url);
  const first = (await publish(live)).body.id;
  await receiver.until(1);
  const fanOut = [...service.stack.functions.values()].find(({ id }) => id.startsWith('DeliveryFanOut'));
  if (!fanOut) throw new Error('The template has no FanOut');
  const spy = vi.spyOn(fanOut, 'invoke').mockResolvedValue({ batchItemFailures: [] }); // never receives the event
  const dropped = (await publish(live)).body.id;
  await eventually(() => JSON.stringify(spy.mock.calls).includes(dropped));
  spy.mockRestore();
  const time = new Date(Date.now() - 3_600_000).toISOString();
  expect(await run('replay since', { time })).toMatch(/^Replayed \d+ events/);
  await receiver.until(2);
  const { queues } = service.stack;
  await eventually(() =>
    ['Deliveries', 'NewDeliveries', 'SlowDeliveries'].every((name) => {
      const { visible = 0, inFlight = 0 } = queues.get(name)?.counts() ?? {};
      return visible + inFlight === 0;
    }),
  );
  expect(receiver.received.map(({ headers }) => headers['x-service-event-id'])).toEqual([first, dropped]);
});

it('enables the webhooks that failed deliveries disabled, and delivers their events', async () => {
  const project = await service.project();
  const live = await project.client('live');
  const receiver = await startReceiver(500);
  const webhook = await createWebhook(live, receiver.url, { events: ['sync.conflict'] });
  const { id } = (await publish(live)).body;
  const ids = { webhookId: webhook.id, eventId: id, projectId: project.id, environment: 'live' };
  const lastAttempt = JSON.stringify({ ...ids, run: 0, attempt: 6, trigger: 'schedule' });
  service.stack.queues.get('Deliveries')?.send(lastAttempt);
  await settled(live, webhook.id, id);
  receiver.behave(200);
  await run('enable-webhooks', { time: new Date(service.stack.clock.now() - 3_600_000).toISOString() });
  expect((await live('GET', `/v1/webhooks/${webhook.id}`)).body.status).toBe('enabled');
  await eventually(async () => (await deliveryOf(live, webhook.id, id))?.status === 'succeeded');
});

it('suspends, resumes, exports and deletes a project, from the first to the last command', async () => {
  const project = await service.project('Leaving');
  const status = async () => code(await project.admin('GET', '/v1/keys'))[0];
  const file = join(temporaryDirectory(), 'lines');
  const values = { project: project.id, file, answer: 'Leaving' };
  expect(await run('projects list', values)).toContain(project.id);
  await run('projects suspend', values);
  expect(await status()).toBe(403);
  const created = JSON.parse(await run('projects create-key', values));
  await run('projects resume', values);
  expect([await status(), code(await service.as(created.key)('GET', '/v1/keys'))[0]]).toEqual([200, 200]);
  await run('projects export', values);
  expect(readFileSync(values.file, 'utf8')).toContain(project.email);
  const deletion = run('projects delete', values);
  await eventually(async () => (await status()) === 401);
  service.stack.clock.advance(SETTLE_MS);
  for (const printed of [await deletion, await run('projects show', values)])
    expect(printed).toContain('"state": "deleted"');
});

it('restores the table, and queues its deliveries', async () => {
  const { stack } = service;
  const time = new Date(await copyTable(stack)).toISOString();
  expect(await run('$STACK --at <time>', { time })).toContain('npx cdk deploy --parameters ConfirmTable=');
  // `test/stack/long/restore.test.ts` deploys the restored table first.
  await expect(run('--resume', { time })).rejects.toThrow('Deploy it with the restored table first.');
});

/** The filter of the first command of the runbook that contains a text. */
function filterWith(part: string, values: Record<string, string> = {}): string {
  const [, pattern = ''] = new RegExp(`--filter-pattern '([^']*${part}[^']*)'`).exec(runbook) ?? [];
  expect(pattern, part).not.toBe('');
  return pattern.replace(/<([^>]+)>/g, (_, name) => values[name] ?? '');
}

/** Returns the first log event that matches a pattern and is written during `work`. */
async function eventDuring(pattern: string, work: () => unknown) {
  const written: string[] = [];
  const spy = vi.spyOn(service.stack.cloudWatch, 'log').mockImplementation((_, text) => void written.push(text));
  await work();
  const found = await eventually(() => logEvents(written.join('\n')).find((each) => matchesPattern(pattern, each)));
  spy.mockRestore();
  return found;
}

it('sets aside an event that always fails, and delivers later events', async () => {
  const project = await service.project();
  const live = await project.client('live');
  const receiver = await startReceiver();
  await createWebhook(live, receiver.url);
  const { body: sample } = await publish(live);
  await receiver.until(1);
  const id = `${sample.id.slice(0, -4)}zzzz`;
  const space = { projectId: project.id, environment: 'live' } as const;
  const unreadable = { ...itemKey.event(space, id), type: 'document.changed', at: service.stack.clock.now() };
  await writeItems(databaseEndpoint(), service.stack.tableName, [marshall(unreadable)]);
  const later = await Promise.all(Array.from({ length: 20 }, () => publish(live)));

  const key = await eventually(() => [...bucket().keys()].find((each) => each.startsWith(SET_ASIDE_PREFIX)));
  expect(bucket().get(key)).toContain(id);
  await receiver.until(21);
  const received = receiver.received.map(({ headers }) => headers['x-service-event-id']);
  expect(new Set(received)).toEqual(new Set([sample.id, ...later.map(({ body }) => body.id)]));
  const printed = service.log.filter((line) => line.includes(id)).join('');
  expect(printed).toContain('event.set_aside');
  expect(printed).not.toContain('event.fan_out_failed');
  expect(service.log.join('')).toContain('EventsSetAside');

  await expect(run('replay events')).rejects.toThrow(`Not replayed: ${key}`);
  expect([...bucket().keys()]).toEqual([key]);
  bucket().delete(key);
});

it('finds a message that always fails in the log', async () => {
  const pattern = filterWith('delivery.handling_failed');
  const found = await eventDuring(pattern, () => service.stack.queues.get('Deliveries')?.send('{}'));
  expect(found).toMatchObject({ message_id: expect.any(String), error: expect.any(Object) });
});

it('finds the requests of a key in the access log', async () => {
  const project = await service.project();
  const { body: key } = await project.admin('POST', '/v1/keys', { body: { type: 'live' } });
  const found = await eventDuring(filterWith('<id of the key>', { 'id of the key': key.id }), async () =>
    expect(code(await service.as(key.key)('GET', '/v1/webhooks'))[0]).toBe(200),
  );
  expect(found).toMatchObject({ resource: '/v1/webhooks' });
});

afterAll(() => {
  expect(
    ours.filter((each) => !ranCommands.has(each)),
    'commands of the runbook without a test',
  ).toEqual([]);
});
