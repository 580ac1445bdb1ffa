import { expect, it } from 'vitest';
import { batchIn, replayEvents, replaySchedules } from '../../../infra/commands/replay.ts';
import { UserError } from '../../../infra/user-error.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import { SET_ASIDE_PREFIX, sendMessageTarget } from '../../../lib/deployment.ts';
import { changed } from '../../support/changed.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { writeItems } from '../../support/items.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publish } from '../../support/requests.ts';
import { eventually, useService } from '../../support/service.ts';

const service = useService({ speed: 1000, visibilitySpeed: 1000 });
const HALF_A_DAY_MS = 12 * 60 * 60 * 1000;

/** The access of `npm run replay -- events`, for the local stack. */
function failedEvents() {
  const bucket = [...service.stack.buckets.values()][0] ?? new Map<string, string>();
  return {
    list: async () => [...bucket.keys()],
    read: async (key: string) => bucket.get(key) ?? '',
    remove: async (key: string) => void bucket.delete(key),
    invoke: (payload: string) => service.stack.invoke('DeliveryFanOut', JSON.parse(payload)),
  };
}

function failedSchedules() {
  const { queues, queueAt } = service.stack;
  const name = 'FailedSchedules';
  const queue = queues.get(name);
  const sendTo = ({ QueueUrl, MessageBody, MessageGroupId: group }: Record<string, string>) =>
    queueAt(QueueUrl ?? '')?.send(MessageBody ?? '', { group });
  return {
    url: name,
    receive: async () => queue?.receive(10) ?? [],
    remove: async (receiptHandle: string) => queue?.delete(receiptHandle),
    send: async (input: string) => void sendTo(JSON.parse(input)),
  };
}

it('keeps an event that the fan-out discarded, and delivers it when it is replayed', async () => {
  const { stack } = service;
  const live = await (await service.project()).client('live');
  const receiver = await startReceiver();
  await createWebhook(live, receiver.url, { events: ['document.changed'] });
  let isDown = true;
  stack.endpoints.intercept = ({ principal }) =>
    isDown && principal.startsWith('DeliveryFanOut') ? 'error before' : undefined;
  const { id } = (await live('POST', '/v1/events', { body: changed() })).body;
  await eventually(() => service.log.some((line) => line.includes('event.fan_out_failed') && line.includes(id)));
  stack.clock.advance(HALF_A_DAY_MS);
  const access = failedEvents();
  await eventually(async () => (await access.list()).length > 0);

  const still = await replayEvents(access);
  expect([still.replayed.length, still.left.length]).toEqual([0, 1]);
  expect(receiver.received).toEqual([]);

  isDown = false;
  expect(await replayEvents(access)).toEqual({ replayed: still.left, left: [] });
  await eventually(() => receiver.received.some(({ headers }) => headers['x-service-event-id'] === id));
  expect(await access.list()).toEqual([]);
});

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
  await writeItems(service.stack, databaseEndpoint(), [unreadable]);
  const later = await Promise.all(Array.from({ length: 20 }, () => publish(live)));

  const access = failedEvents();
  const key = await eventually(async () => (await access.list()).find((each) => each.startsWith(SET_ASIDE_PREFIX)));
  expect(await access.read(key)).toContain(id);
  await receiver.until(21);
  const received = receiver.received.map(({ headers }) => headers['x-service-event-id']);
  expect(new Set(received)).toEqual(new Set([sample.id, ...later.map(({ body }) => body.id)]));
  const printed = service.log.filter((line) => line.includes(id)).join('');
  expect(printed).toContain('event.set_aside');
  expect(printed).not.toContain('event.fan_out_failed');
  expect(service.log.join('')).toContain('EventsSetAside');

  expect(await replayEvents(access)).toEqual({ replayed: [], left: [key] });
  expect(await access.list()).toEqual([key]);
  await access.remove(key);
});

it('keeps a retry that its schedule could not queue, and queues it when it is replayed', async () => {
  const { stack } = service;
  const project = await service.project();
  const live = await project.client('live');
  const receiver = await startReceiver();
  const webhook = await createWebhook(live, receiver.url, { events: ['sync.conflict'] });
  const { id } = (await live('POST', '/v1/events', { body: changed() })).body;
  const access = failedSchedules();
  const message = { webhookId: webhook.id, eventId: id, projectId: project.id, environment: 'live', run: 0 };
  const role = stack.iam.grants().find(({ role }) => role.startsWith('DeliverySchedulesRole'))?.role;
  const [quick] = [...stack.queues.values()].filter(({ settings: { name } }) => name === 'Deliveries');
  if (!quick) throw new Error('There is no queue');
  stack.queues.delete(quick.settings.name);
  stack.scheduler.fire({
    Arn: sendMessageTarget('aws'),
    RoleArn: `role/${role}`,
    Input: JSON.stringify({
      QueueUrl: quick.settings.name,
      MessageBody: JSON.stringify({ ...message, attempt: 4, trigger: 'schedule' }),
    }),
    DeadLetterConfig: { Arn: access.url },
  });
  stack.queues.set(quick.settings.name, quick);
  expect(await replaySchedules(access)).toBe(1);
  await eventually(() => receiver.received.length === 1);
  expect(await replaySchedules(access)).toBe(0);
});

it('does not replay an object without a batch', () => {
  for (const text of ['text', '{}', '{"payload":"text"}', '{"payload":"{}"}', '{"payload":{"Records":[]}}'])
    expect(() => batchIn('a/b', text)).toThrow(
      new UserError('a/b contains no failed events, because it has no payload with Records.'),
    );
});
