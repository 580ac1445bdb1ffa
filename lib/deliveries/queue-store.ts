import { allDone } from '../all-done.ts';
import { queue } from '../aws/queue.ts';
import type { Runtime } from '../aws/runtime.ts';
import { LANE_QUEUES } from '../deployment.ts';
import type { Lane } from './lanes.ts';
import { groupOf, type QueueMessage } from './messages.ts';

/** A queue of deliveries. Every message has the fair-queue group of its webhook. */
export function deliveryQueue(runtime: Pick<Runtime, 'variables' | 'client'>, lane: Lane) {
  const { send } = queue(runtime, LANE_QUEUES[lane]);
  const sendOne = (message: QueueMessage, delaySeconds?: number): Promise<void> =>
    send({ body: message, group: groupOf(message), ...(delaySeconds !== undefined && { delaySeconds }) });

  return {
    send: sendOne,
    async sendAll(messages: readonly QueueMessage[], delaySeconds?: number): Promise<void> {
      await allDone(messages.map((message) => sendOne(message, delaySeconds)));
    },
  };
}

export type DeliveryQueue = ReturnType<typeof deliveryQueue>;

/** The queues of all lanes. */
export const laneQueues = (runtime: Pick<Runtime, 'variables' | 'client'>): Record<Lane, DeliveryQueue> => ({
  quick: deliveryQueue(runtime, 'quick'),
  new: deliveryQueue(runtime, 'new'),
  slow: deliveryQueue(runtime, 'slow'),
});
