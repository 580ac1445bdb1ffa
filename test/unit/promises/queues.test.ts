import { expect, it } from 'vitest';
import { VARIABLES } from '../../support/runtime.ts';
import { type Changing, newScene, perform } from './scene.ts';

const { DELIVERIES_QUEUE_URL, CHECKS_QUEUE_URL } = VARIABLES;

it.each<[Changing, string]>([
  ['redeliver', DELIVERIES_QUEUE_URL],
  ['recover', DELIVERIES_QUEUE_URL],
  ['renewConnection', CHECKS_QUEUE_URL],
])('enqueues the work of %s in its queue', async (id, queueUrl) => {
  const scene = await newScene();
  if (id === 'renewConnection') await scene.admin('DELETE', '/v1/connections/phone');
  const urls: string[] = [];
  scene.service.faults.around = ({ name, input }, act) => {
    if (name === 'SendMessageBatch') urls.push(input.QueueUrl);
    return act();
  };
  expect((await perform(scene, id)).status).toBeLessThan(300);
  expect([...new Set(urls)]).toEqual([queueUrl]);
});
