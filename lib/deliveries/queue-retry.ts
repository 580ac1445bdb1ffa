import type { Due } from './decide.ts';
import { attemptName, type DeliveryMessage } from './messages.ts';

/** Seconds that a queue can delay a message (SQS quotas). */
export const MAX_QUEUE_DELAY_SECONDS = 900;

/** The delay of a message until a time. After the maximum delay, the message waits again. */
export const queueDelay = ({ delaySeconds }: Due): number => Math.min(delaySeconds, MAX_QUEUE_DELAY_SECONDS);

export interface RetryDeps {
  /** At least once, after the delay. */
  enqueue(message: DeliveryMessage, delaySeconds: number): Promise<void>;
  /** Sends at least once, within a minute after the time. A repeated call with the same name has no effect. */
  schedule(name: string, message: DeliveryMessage, atMs: number): Promise<void>;
}

/** Queues the next attempt for the time when it is due: with a queue delay if it is short enough, and otherwise with a schedule. */
export const retryBy =
  ({ enqueue, schedule }: RetryDeps) =>
  (message: DeliveryMessage, { delaySeconds, dueAt }: Due): Promise<void> =>
    delaySeconds <= MAX_QUEUE_DELAY_SECONDS
      ? enqueue(message, delaySeconds)
      : schedule(attemptName(message), message, dueAt);
