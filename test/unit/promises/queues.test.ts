import { expect, it } from 'vitest';
import { isRead, VARIABLES } from '../../support/runtime.ts';
import { type Changing, newScene, perform } from './scene.ts';

const { DELIVERIES_QUEUE_URL, CHECKS_QUEUE_URL } = VARIABLES;

it.each<[Changing, string, string[]]>([
  ['redeliver', DELIVERIES_QUEUE_URL, ['SendMessageBatch', 'Update']],
  ['recover', DELIVERIES_QUEUE_URL, ['TransactWrite', 'SendMessageBatch']], // nothing is sent for a deleted webhook
  ['renewConnection', CHECKS_QUEUE_URL, ['SendMessageBatch', 'Put']],
])('enqueues the work of %s in its queue, in an order that loses nothing', async (id, queueUrl, order) => {
  const scene = await newScene();
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
