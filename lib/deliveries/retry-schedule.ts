// The browser imports this file too, so it must stay small.

/** Seconds from a failure to the next attempt (interface §6.4): after the 1st, 2nd, … 5th. */
export const RETRY_DELAYS_SECONDS = [60, 300, 1800, 7200, 43200] as const;
export const MAX_ATTEMPTS = RETRY_DELAYS_SECONDS.length + 1;

/** The time when an attempt is due, and the seconds until then. */
export interface Due {
  delaySeconds: number;
  dueAt: number;
}

export const dueAfter = (dueAt: number, nowMs: number): Due => ({
  dueAt,
  delaySeconds: Math.max(0, Math.ceil((dueAt - nowMs) / 1000)),
});

/** When the retry after a failed attempt is due; `undefined` after the last attempt. */
export function retryAfter(attempt: number, failedAtMs: number): Due | undefined {
  const delaySeconds = RETRY_DELAYS_SECONDS[attempt - 1];
  return delaySeconds === undefined ? undefined : { delaySeconds, dueAt: failedAtMs + delaySeconds * 1000 };
}

/** Seconds that a queue can delay a message (SQS quotas). Later attempts have a schedule. */
export const MAX_QUEUE_DELAY_SECONDS = 900;

export const DELIVERY_STATUSES = ['pending', 'retrying', 'succeeded', 'failed', 'canceled', 'skipped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Whether the run has another attempt. */
export const UNDER_WAY = ['pending', 'retrying'] as const satisfies DeliveryStatus[];

/** The run ended without success. */
export const UNDELIVERED = ['failed', 'canceled', 'skipped'] as const satisfies DeliveryStatus[];

export const isUnderWay = (status: DeliveryStatus): boolean => status === 'pending' || status === 'retrying';

/**
 * Why a run was canceled or skipped: failures had disabled the webhook, a request had paused it, it was deleted, the project was
 * suspended, or the attempt would have waited too long for the rate limit.
 */
export const DELIVERY_REASONS = ['disabled', 'paused', 'deleted', 'suspended', 'rate_limited'] as const;
export type DeliveryReason = (typeof DELIVERY_REASONS)[number];

/** The cause of an attempt: the schedule, a redelivery, a recovery or a test. */
export const TRIGGERS = ['schedule', 'redelivery', 'recovery', 'test'] as const;
export type Trigger = (typeof TRIGGERS)[number];
