import type { Lane } from '../delivery/lanes.ts';
import { groupOf, type QueueMessage } from '../delivery/messages.ts';
import { environment, type Variable } from './environment.ts';
import { queue } from './queue.ts';

/** A queue of deliveries: every message travels in the fair-queue group of its webhook. */
export function deliveryQueue(url: string) {
  const { send } = queue(url);
  const sendOne = (message: QueueMessage, delaySeconds?: number): Promise<void> =>
    send({ body: message, group: groupOf(message), ...(delaySeconds !== undefined && { delaySeconds }) });

  return {
    send: sendOne,
    async sendAll(messages: readonly QueueMessage[]): Promise<void> {
      await Promise.all(messages.map((message) => sendOne(message)));
    },
  };
}

/** The variables that name the queues of the lanes. */
export const LANE_QUEUES = {
  quick: 'DELIVERIES_QUEUE_URL',
  new: 'NEW_QUEUE_URL',
  slow: 'SLOW_QUEUE_URL',
} as const satisfies Record<Lane, Variable>;

export function laneQueues(): Record<Lane, ReturnType<typeof deliveryQueue>> {
  const of = (lane: Lane) => deliveryQueue(environment(LANE_QUEUES[lane]));
  return { quick: of('quick'), new: of('new'), slow: of('slow') };
}
