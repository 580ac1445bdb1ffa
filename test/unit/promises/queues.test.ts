import { describe, expect, it } from 'vitest';
import { isRead, VARIABLES } from '../../support/runtime.ts';
import { type Changing, changing, newScene, perform, type Scene } from './scene.ts';

const { DELIVERIES_QUEUE_URL, CHECKS_QUEUE_URL } = VARIABLES;

it.each<[Changing, string, string[]]>([
  ['redeliver', DELIVERIES_QUEUE_URL, ['SendMessageBatch', 'Update']],
  ['recover', DELIVERIES_QUEUE_URL, ['SendMessageBatch', 'TransactWrite']],
  ['renewConnection', CHECKS_QUEUE_URL, ['SendMessageBatch', 'Put']],
  ['renewEngine', CHECKS_QUEUE_URL, ['SendMessageBatch', 'Put', 'Update', 'TransactWrite', 'Update']],
  ['closeEngine', CHECKS_QUEUE_URL, ['Put', ...Array(4).fill('SendMessageBatch'), 'Put']],
])('enqueues the work of %s in its queue, in an order that loses nothing', async (id, queueUrl, order) => {
  const scene = await newScene(id);
  await scene.admin('DELETE', '/v1/connections/phone');
  if (id === 'recover')
    await scene.admin('PATCH', `/v1/webhooks/${scene.webhook.id}`, { body: { status: 'disabled' } });
  const urls: string[] = [];
  const effects: string[] = [];
  scene.service.faults.around = ({ name, input }, act) => {
    if (name === 'SendMessageBatch') urls.push(input.QueueUrl);
    if (!isRead(name)) effects.push(name);
    return act();
  };
  expect((await perform(scene, id)).status).toBeLessThan(300);
  expect([...new Set(urls)]).toEqual([queueUrl]);
  expect(effects).toEqual(order);
});

it.each(
  changing,
)('sends each message in a group of its project, so that it delays no other project: %s', async (id) => {
  const scene = await newScene(id);
  const groups = new Set<string>();
  scene.service.faults.aroundAll = ({ name, input }, act) => {
    if (name === 'SendMessageBatch') for (const { MessageGroupId } of input.Entries) groups.add(MessageGroupId);
    if (name === 'CreateSchedule') groups.add(JSON.parse(input.Target.Input).MessageGroupId);
    return act();
  };
  for (let n = 0; n < 8; n++) await perform(scene, id, { n }); // also emails for a summary
  await scene.service.settle();
  for (const group of groups) expect(group?.split('#')[0]).toBe(scene.projectId);
});

/** The messages that all queues and schedules receive while requests are performed and until all work has ended, and the attempts. */
async function workOf({ service }: Scene, send: () => Promise<unknown>) {
  const posts = () => service.log.filter((line) => line.includes('delivery.attempted')).length;
  const before = posts();
  let messages = 0;
  service.faults.aroundAll = ({ name, input }, act) => {
    if (name === 'SendMessageBatch') messages += input.Entries.length;
    if (name === 'CreateSchedule') messages++;
    return act();
  };
  await send();
  await service.settle();
  return { messages, attempts: posts() - before };
}

describe('ten requests', () => {
  const REQUESTS = 10;

  it.each<[Changing, Record<string, string>]>([
    ['recover', {}],
    ['recover', { 'Idempotency-Key': 'same' }],
    ['redeliver', { 'Idempotency-Key': 'same' }],
    ['testWebhook', { 'Idempotency-Key': 'same' }],
    ['publishEvents', { 'Idempotency-Key': 'same' }],
    ['renewConnection', {}],
    ['renewEngine', {}],
    ['closeEngine', {}],
    ['changeWebhook', {}],
    ['changeProject', {}],
    ['sync', {}],
  ])('cause the work of one: %s %j', async (id, headers) => {
    const times = async (count: number) => {
      const scene = await newScene();
      return workOf(scene, async () => {
        for (let i = 0; i < count; i++) await perform(scene, id, { headers });
      });
    };
    const [all, one] = [await times(REQUESTS), await times(1)];
    expect(all.attempts).toBe(one.attempts);
    expect(all.messages).toBeLessThanOrEqual(one.messages + 1); // the check of a lease that was renewed
  });

  it('that redeliver a failing delivery cause the retries of one', async () => {
    const times = async (count: number) => {
      const scene = await newScene();
      await perform(scene, 'changeWebhook', { members: { url: scene.service.endpoint(500).url } });
      return workOf(scene, async () => {
        for (let i = 0; i < count; i++) expect((await perform(scene, 'redeliver')).status).toBe(202);
      });
    };
    const [all, one] = [await times(REQUESTS), await times(1)];
    expect(one.attempts).toBeGreaterThanOrEqual(6);
    expect(all).toEqual({ attempts: one.attempts, messages: one.messages + REQUESTS - 1 });
  });
});
