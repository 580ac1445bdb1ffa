import { queue } from '../aws/queue.ts';
import type { Runtime } from '../aws/runtime.ts';
import { schedules } from '../aws/schedules.ts';
import { allDone } from '../concurrency.ts';
import { LANE_QUEUES } from '../deployment.ts';
import type { Lane } from './lanes.ts';
import { attemptName, type DeliveryMessage, groupOf, type QueueMessage } from './messages.ts';
import type { Due } from './retry-schedule.ts';
import { MAX_QUEUE_DELAY_SECONDS } from './retry-schedule.ts';

export type DeliveryQueue = ReturnType<typeof deliveryQueue>;

/** The queue of a lane. Every message has the fair-queue group of its webhook, and is sent at least once. */
export function deliveryQueue(runtime: Runtime, lane: Lane) {
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

/** The queues of all lanes. */
export const laneQueues = (runtime: Runtime): Record<Lane, DeliveryQueue> => ({
  quick: deliveryQueue(runtime, 'quick'),
  new: deliveryQueue(runtime, 'new'),
  slow: deliveryQueue(runtime, 'slow'),
});

/** Where the function of a lane sends messages. */
export function forwarding(runtime: Runtime, lane: Lane) {
  const queues = laneQueues(runtime);
  const { sendAt } = schedules(runtime);
  return {
    /** Sends pages of a recovery and the first messages of its runs. */
    sendAll: queues.quick.sendAll,

    /** Forwards a message to a slower lane. */
    defer: (message: DeliveryMessage, slower: Lane): Promise<void> => queues[slower].send(message),

    /** Returns a message to its queue. After the maximum delay of a queue, the message waits again. */
    delay: (message: DeliveryMessage, { delaySeconds }: Due): Promise<void> =>
      queues[lane].send(message, Math.min(delaySeconds, MAX_QUEUE_DELAY_SECONDS)),

    /**
     * Queues the next attempt for the time when it is due: with a queue delay if it is short enough, and otherwise with a
     * schedule, which sends its message to the quick queue. A schedule is created once for each attempt.
     */
    retry: (message: DeliveryMessage, { delaySeconds, dueAt }: Due): Promise<void> =>
      delaySeconds <= MAX_QUEUE_DELAY_SECONDS
        ? queues[lane].send(message, delaySeconds)
        : sendAt(dueAt, attemptName(message), { body: message, group: groupOf(message) }),
  };
}
