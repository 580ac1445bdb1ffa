import { expect, it } from 'vitest';
import { ops } from '../../../infra/commands/ops.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import { SET_ASIDE_PREFIX, sendMessageTarget } from '../../../lib/deployment.ts';
import { changed } from '../../support/changed.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { writeItems } from '../../support/items.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publish } from '../../support/requests.ts';
import { eventually, useService } from '../../support/service.ts';
import { ran } from '../../support/shell.ts';
import { stackPerformers } from '../../support/stack-performers.ts';

const service = useService({ speed: 1000, visibilitySpeed: 1000 });
const HALF_A_DAY_MS = 12 * 60 * 60 * 1000;

const replay = (kind: string) => ran(ops, ['replay', kind, '--stack', 'Service'], stackPerformers(service.stack));
const bucket = () => [...service.stack.buckets.values()][0] ?? new Map<string, string>();

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
  const key = await eventually(() => [...bucket().keys()][0]);

  const stderr = `Not replayed: ${key}. See the log of the function.\n`;
  expect(await replay('events')).toEqual({ status: 1, stdout: 'Replayed 0 objects.\n', stderr });
  expect(receiver.received).toEqual([]);

  isDown = false;
  expect(await replay('events')).toEqual({ status: 0, stdout: 'Replayed 1 objects.\n', stderr: '' });
  await eventually(() => receiver.received.some(({ headers }) => headers['x-service-event-id'] === id));
  expect(bucket().size).toBe(0);
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

  const key = await eventually(() => [...bucket().keys()].find((each) => each.startsWith(SET_ASIDE_PREFIX)));
  expect(bucket().get(key)).toContain(id);
  await receiver.until(21);
  const received = receiver.received.map(({ headers }) => headers['x-service-event-id']);
  expect(new Set(received)).toEqual(new Set([sample.id, ...later.map(({ body }) => body.id)]));
  const printed = service.log.filter((line) => line.includes(id)).join('');
  expect(printed).toContain('event.set_aside');
  expect(printed).not.toContain('event.fan_out_failed');
  expect(service.log.join('')).toContain('EventsSetAside');

  expect(await replay('events')).toMatchObject({ status: 1, stderr: expect.stringContaining(key) });
  expect([...bucket().keys()]).toEqual([key]);
  bucket().delete(key);
});

it('keeps a retry that its schedule could not queue, and queues it when it is replayed', async () => {
  const { stack } = service;
  const project = await service.project();
  const live = await project.client('live');
  const receiver = await startReceiver();
  const webhook = await createWebhook(live, receiver.url, { events: ['sync.conflict'] });
  const { id } = (await live('POST', '/v1/events', { body: changed() })).body;
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
    DeadLetterConfig: { Arn: 'FailedSchedules' },
  });
  stack.queues.set(quick.settings.name, quick);
  expect(await replay('schedules')).toMatchObject({ status: 0, stdout: 'Sent 1 messages.\n' });
  await eventually(() => receiver.received.length === 1);
  expect((await replay('schedules')).stdout).toBe('Sent 0 messages.\n');
});
