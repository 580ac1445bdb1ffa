import { queue } from '../aws/queue.ts';
import type { Runtime } from '../aws/runtime.ts';
import { schedules } from '../aws/schedules.ts';
import { allDone } from '../concurrency.ts';
import { LANE_QUEUES } from '../deployment.ts';
import type { Lane } from './lanes.ts';
import { attemptName, type DeliveryMessage, groupOf, type QueueMessage } from './messages.ts';
import { type Due, MAX_QUEUE_DELAY_SECONDS } from './retry-schedule.ts';

export type SendToLane = (lane: Lane, messages: readonly QueueMessage[], delaySeconds?: number) => Promise<void>;

/** Sends messages to the queues of lanes, each at least once and in the fair-queue group of its project. */
export function laneQueues(runtime: Runtime): SendToLane {
  const queues: { [Name in Lane]?: ReturnType<typeof queue> } = {};
  return async (lane, messages, delaySeconds) => {
    queues[lane] ??= queue(runtime, LANE_QUEUES[lane]); // a function has only the variables that it needs
    const { send } = queues[lane];
    await allDone(messages.map((body) => send({ body, group: groupOf(body), delaySeconds })));
  };
}

export type Retry = ReturnType<typeof retries>;

/**
 * Queues the next attempt for the time when it is due: in the queue of the lane if the delay is short enough, and otherwise with a
 * schedule, which sends its message to the quick queue. A schedule is created once for each attempt.
 */
export function retries(runtime: Runtime, lane: Lane, send: SendToLane) {
  const { sendAt } = schedules(runtime);
  return (message: DeliveryMessage, { delaySeconds, dueAt }: Due): Promise<void> =>
    delaySeconds <= MAX_QUEUE_DELAY_SECONDS
      ? send(lane, [message], delaySeconds)
      : sendAt(dueAt, attemptName(message), { body: message, group: groupOf(message) });
}
