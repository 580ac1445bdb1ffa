import { EVENT_RETENTION_MS } from '../events/event.ts';
import type { EventType } from '../events/types.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { DeliveryRecord } from './record.ts';
import { type DeliveryStatus, isUnderWay, UNDELIVERED, UNDER_WAY } from './retry-schedule.ts';

/** The deliveries of a recovery: those of events since `since` and before `until`. */
export interface RecoveryWindow {
  since: number;
  until: number;
  /** Only deliveries of events of these types. */
  types?: readonly EventType[] | undefined;
  /** Only deliveries that ended without success at this time or later. */
  endedSince?: number | undefined;
}

/** The statuses that a recovery reads: ended deliveries, and stuck ones in progress. */
export const RECOVERED_STATUSES: readonly DeliveryStatus[] = [...UNDELIVERED, ...UNDER_WAY];

/**
 * Whether a recovery redelivers it, because it ended without success, or its next attempt was due before `stuckBefore`. A recovery
 * starts one run of each delivery.
 */
export function isRecoverable(
  { status, test, recovery, nextAttemptAt = 0 }: DeliveryRecord,
  { stuckBefore, recoveryId }: { stuckBefore: number; recoveryId?: string | undefined },
): boolean {
  if (test || status === 'succeeded' || (recovery !== undefined && recovery === recoveryId)) return false;
  return !isUnderWay(status) || nextAttemptAt < stuckBefore;
}

/** A delivery is stuck if its attempt is overdue by this time, because no schedule, queue or outage lasts a day. */
export const STUCK_AFTER_MS = 24 * 60 * 60 * 1000;

/** The due time before which a delivery is stuck. */
export const stuckBefore = (nowMs: number): number => nowMs - STUCK_AFTER_MS;

/** A margin above the maximum difference between the clocks of functions. */
const SKEW_MS = 60_000;

/** What a request states about the deliveries of a recovery. */
export interface RequestedWindow extends Pick<RecoveryWindow, 'types'> {
  since?: number | undefined;
  until?: number | undefined;
}

/**
 * The window of a recovery. By default it contains the deliveries that ended without success since the first failed attempt or
 * pause after the last success. The times of the events do not count, because some of them had been retried for hours by then.
 */
export function windowOf(
  { undeliveredSince }: WebhookRecord,
  { since, until, types }: RequestedWindow,
  now: number,
): RecoveryWindow {
  const isDefault = since === undefined && undeliveredSince !== undefined;
  return {
    since: Math.max(since ?? 0, now - EVENT_RETENTION_MS),
    until: until ?? now + SKEW_MS,
    ...(types && { types }),
    ...(isDefault && { endedSince: undeliveredSince - SKEW_MS }),
  };
}

/** When the window starts: by the times of the events, or by default by the times at which the deliveries ended. */
export const windowStart = ({ since, endedSince }: RecoveryWindow): number => endedSince ?? since;

/** The default pace of a recovery in deliveries per second. */
export const DEFAULT_PER_SECOND = 50;
