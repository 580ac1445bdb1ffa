import { all, any, type Condition, is, isBelow, isNew, isOneOf } from '../aws/conditions.ts';
import { appended, initially, update } from '../aws/expressions.ts';
import { itemKey, statusIndexEntry, timeToLive } from '../aws/items.ts';
import type { Write } from '../aws/writes.ts';
import { EVENT_RETENTION_MS, isTest } from '../events/event.ts';
import type { Attempt } from './attempt.ts';
import type { Verdict } from './decide.ts';
import type { DeliveryMessage } from './messages.ts';
import type { DeliveredEvent } from './record.ts';
import { type DeliveryStatus, UNDER_WAY } from './statuses.ts';

/*
 * A delivery in time. It only ever moves to the right:
 *
 *   (nothing) ── run 0 ─────────────────────────────────────►── run 1 ──────────────────►── run 2 …
 *                │ retrying, attempt 1 … 6 │ succeeded,      │  pending, then retrying, attempt 1 …
 *                                          │ failed,         startRun
 *                                          │ canceled,
 *                                          │ skipped
 *
 * The first run is `pending` until an attempt is recorded, which costs no write (`pendingDelivery` in delivery/fan-out.ts).
 */
const isEarlierRun = ({ run }: DeliveryMessage): Condition => isBelow('run', run);
const isThisRunGoingOn = ({ run }: DeliveryMessage): Condition => all(is('run', run), isOneOf('status', UNDER_WAY));

/** The attempt of this message is still to be recorded. */
const isBeforeAttempt = (message: DeliveryMessage): Condition =>
  any(isNew, isEarlierRun(message), all(isThisRunGoingOn(message), isBelow('attempt', message.attempt)));

/** The last recorded attempt is that of this message. */
export const isAtAttempt = ({ run, attempt }: DeliveryMessage): Condition =>
  all(is('run', run), is('attempt', attempt));

/** Records an attempt and what follows from it. */
export function recordAttempt(
  message: DeliveryMessage,
  event: DeliveredEvent,
  attempt: Attempt,
  verdict: Verdict,
): Write {
  const isRetried = verdict.status === 'retrying';
  const change = {
    status: verdict.status,
    attempt: message.attempt,
    nextAttemptAt: isRetried ? verdict.dueAt : undefined,
    retryPending: isRetried ? true : undefined,
    endedAt: verdict.status === 'failed' ? attempt.at + attempt.durationMs : undefined,
  };
  return upsert(message, event, change, [attempt], attempt.at);
}

/** Ends a run without an attempt. */
export function endRun(message: DeliveryMessage, event: DeliveredEvent, status: DeliveryStatus, nowMs: number): Write {
  const change = {
    status,
    attempt: message.attempt - 1,
    nextAttemptAt: undefined,
    retryPending: undefined,
    endedAt: nowMs,
  };
  return upsert(message, event, change, [], nowMs);
}

interface Change {
  status: DeliveryStatus;
  attempt: number;
  nextAttemptAt: number | undefined;
  retryPending: boolean | undefined;
  endedAt: number | undefined;
}

function upsert(
  message: DeliveryMessage,
  event: DeliveredEvent,
  change: Change,
  attempts: readonly Attempt[],
  createdAt: number,
): Write {
  const { webhookId, eventId, run } = message;
  const values = {
    ...change,
    eventType: event.type,
    documentKey: event.documentKey,
    test: isTest(event) || undefined,
    run,
    ...statusIndexEntry(webhookId, eventId, change.status),
    createdAt: initially(createdAt),
    attempts: appended(attempts),
    expires: timeToLive(createdAt + EVENT_RETENTION_MS),
  };
  return update(itemKey.delivery(webhookId, eventId), values, isBeforeAttempt(message));
}
