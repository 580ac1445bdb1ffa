import { requireRead } from '../aws/batch-get.ts';
import {
  all,
  any,
  appended,
  type Condition,
  initially,
  is,
  isBelow,
  isNew,
  isOneOf,
  update,
} from '../aws/expressions.ts';
import { itemKey, statusIndexEntry, timeToLive } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { UnavailableError } from '../errors.ts';
import { EVENT_RETENTION_MS, isTest, type StoredEvent } from '../events/event.ts';
import { toStoredEvent } from '../events/store.ts';
import { toWebhook } from '../webhooks/store.ts';
import type { Attempt } from './attempt.ts';
import type { DeliveryContext, RunEnd, Verdict } from './decide.ts';
import { toDelivery } from './log-store.ts';
import { carriedEvent, type DeliveryMessage } from './messages.ts';
import type { DeliveryRecord, RunId } from './record.ts';
import { type DeliveryStatus, UNDER_WAY } from './retry-schedule.ts';

/** Names an attempt of a delivery. */
type AttemptId = RunId & Pick<DeliveryRecord, 'attempt'>;

export type Deliveries = ReturnType<typeof deliveries>;

/** Reads and records what the delivery of events needs. */
export function deliveries(table: Table) {
  return {
    /**
     * Loads the data of many messages with one batched read, in order. Does not read events that messages contain. A throttled
     * partition causes errors only for the messages that need it.
     */
    async loadContexts(messages: readonly DeliveryMessage[]): Promise<(DeliveryContext | UnavailableError)[]> {
      const keysOf = (message: DeliveryMessage) => [
        itemKey.webhook(message, message.webhookId),
        itemKey.delivery(message.webhookId, message.eventId),
        itemKey.project(message.projectId),
        ...(message.event ? [] : [itemKey.event(message, message.eventId)]),
      ];
      const items = await table.batchGetEach(messages.flatMap(keysOf));
      return messages.map((message) => {
        const found = items.splice(0, keysOf(message).length);
        const unread = found.find((item) => item instanceof UnavailableError);
        if (unread) return unread;
        const [webhook, delivery, project, event] = found.map(requireRead);
        return {
          webhook: webhook && toWebhook(webhook),
          event: carriedEvent(message) ?? (event && toStoredEvent(event)),
          delivery: delivery && toDelivery(delivery),
          isSuspended: project?.suspendedAt !== undefined,
        };
      });
    },

    /** Records an attempt and what follows from it. `false` if it is recorded already, or a newer run has started. */
    async record(run: RunId, event: StoredEvent, attempt: Attempt, verdict: Verdict): Promise<boolean> {
      return (await table.write([recordAttempt(run, event, attempt, verdict)])).length === 0;
    },

    /** Records that the retry of the last attempt is queued. */
    async markRetried({ webhookId, eventId, run, attempt }: AttemptId): Promise<void> {
      const isLastAttempt = all(is('run', run), is('attempt', attempt));
      await table.write([update(itemKey.delivery(webhookId, eventId), { retryPending: undefined }, isLastAttempt)]);
    },

    /** Ends a run before an attempt, unless it has moved on. The event can have expired if the delivery is recorded. */
    async endRun(
      before: AttemptId,
      event: StoredEvent | undefined,
      { status, reason }: RunEnd,
      nowMs: number,
    ): Promise<void> {
      const last = { attempt: before.attempt - 1, nextAttemptAt: undefined, retryPending: undefined };
      await table.write([upsert(before, event, { status, reason, ...last, endedAt: nowMs }, [], nowMs)]);
    },
  };
}

/*
 * A delivery in time. It only ever moves to the right:
 *
 *   (nothing) ── run 0 ─────────────────────────────────────►── run 1 ──────────────────►── run 2 …
 *                │ retrying, attempt 1 … 6 │ succeeded,      │  pending, then retrying, attempt 1 …
 *                                          │ failed,         startRun
 *                                          │ canceled,
 *                                          │ skipped
 *
 * The first run is `pending` until an attempt is recorded, which costs no write (`pendingDelivery` in record.ts).
 */
const isEarlierRun = ({ run }: RunId): Condition => isBelow('run', run);
const isThisRunGoingOn = ({ run }: RunId): Condition => all(is('run', run), isOneOf('status', UNDER_WAY));

/** The attempt is still to be recorded. */
const isBeforeAttempt = (next: AttemptId): Condition =>
  any(isNew, isEarlierRun(next), all(isThisRunGoingOn(next), isBelow('attempt', next.attempt)));

/** Records an attempt and what follows from it. */
export function recordAttempt(run: RunId, event: StoredEvent, attempt: Attempt, verdict: Verdict): Write {
  const isRetried = verdict.status === 'retrying';
  const change = {
    status: verdict.status,
    reason: undefined,
    attempt: attempt.number,
    nextAttemptAt: isRetried ? verdict.dueAt : undefined,
    retryPending: isRetried ? true : undefined,
    endedAt: verdict.status === 'failed' ? attempt.at + attempt.durationMs : undefined,
  };
  return upsert({ ...run, attempt: attempt.number }, event, change, [attempt], attempt.at);
}

/** The members of a delivery that each attempt and each end of a run set. */
type Change = Record<'status' | 'reason' | 'attempt' | 'nextAttemptAt' | 'retryPending' | 'endedAt', unknown> & {
  status: DeliveryStatus;
};

function upsert(
  next: AttemptId,
  event: StoredEvent | undefined,
  change: Change,
  attempts: readonly Attempt[],
  createdAt: number,
): Write {
  const { webhookId, eventId, run, recovery } = next;
  const values = {
    ...change,
    ...(event && { eventType: event.type, documentKey: event.documentKey, test: isTest(event) || undefined }),
    run,
    recovery,
    ...statusIndexEntry(webhookId, eventId, change.status),
    createdAt: initially(createdAt),
    attempts: appended(attempts),
    expires: timeToLive(createdAt + EVENT_RETENTION_MS),
  };
  return update(itemKey.delivery(webhookId, eventId), values, isBeforeAttempt(next));
}
