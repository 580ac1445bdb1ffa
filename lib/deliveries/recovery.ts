import { EVENT_RETENTION_MS } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { RecoverMessage } from './messages.ts';
import type { DeliveryRecord } from './record.ts';
import { type DeliveryStatus, isUnderWay, UNDELIVERED, UNDER_WAY } from './retry-schedule.ts';

/** The deliveries of a recovery: those of events since `since` and before `until`. */
export interface RecoveryWindow {
  since: number;
  until: number;
  /** Only deliveries that ended without success at this time or later. */
  endedSince?: number | undefined;
  /** Deliveries in progress whose next attempt was due before this time are stuck, and redelivered too. */
  stuckBefore: number;
}

/** The statuses that a recovery reads: ended deliveries, and stuck ones in progress. */
export const RECOVERED_STATUSES: readonly DeliveryStatus[] = [...UNDELIVERED, ...UNDER_WAY];

/** Whether a recovery redelivers it, because it ended without success, or its next attempt was due before `stuckBefore`. */
export function isRecoverable({ status, test, nextAttemptAt = 0 }: DeliveryRecord, stuckBefore: number): boolean {
  if (test || status === 'succeeded') return false;
  return !isUnderWay(status) || nextAttemptAt < stuckBefore;
}

/** A delivery is stuck if its attempt is overdue by this time, because no schedule, queue or outage lasts a day. */
export const STUCK_AFTER_MS = 24 * 60 * 60 * 1000;

/** The due time before which a delivery is stuck. */
export const stuckBefore = (nowMs: number): number => nowMs - STUCK_AFTER_MS;

export type Window = Omit<RecoveryWindow, 'stuckBefore'>;

/** A margin above the maximum difference between the clocks of functions. */
const SKEW_MS = 60_000;

/**
 * The window of a recovery. By default it contains the deliveries that ended without success since the first failed attempt or
 * pause after the last success. The times of the events do not count, because some of them had been retried for hours by then.
 */
export function windowOf(
  { undeliveredSince }: WebhookRecord,
  { since, until }: { since?: number | undefined; until?: number | undefined },
  now: number,
): Window {
  const isDefault = since === undefined && undeliveredSince !== undefined;
  return {
    since: Math.max(since ?? 0, now - EVENT_RETENTION_MS),
    until: until ?? now + SKEW_MS,
    ...(isDefault && { endedSince: undeliveredSince - SKEW_MS }),
  };
}

/** The default pace of a recovery in deliveries per second. */
export const DEFAULT_PER_SECOND = 50;

/** The index by status follows the table within a second. A recovery starts after a safe margin. */
export const RECOVERY_DELAY_SECONDS = 10;

/** The message that starts a recovery. 0.1.0 follows only `perSecond`, so it contains the limit of the webhook until a later release. */
export function recoveryOf(webhook: WebhookRecord, window: Window, perSecond = DEFAULT_PER_SECOND): RecoverMessage {
  const { id: webhookId, projectId, environment } = webhook;
  const paced = Math.min(perSecond, webhook.maxPerSecond ?? perSecond);
  return { recover: { webhookId, projectId, environment, ...window, perSecond: paced } };
}
