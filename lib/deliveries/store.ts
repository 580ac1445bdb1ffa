import { requireRead } from '../aws/batch-get.ts';
import {
  all,
  any,
  appended,
  type Condition,
  exists,
  initially,
  is,
  isAbsent,
  isAtMost,
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
import type { Space } from '../space.ts';
import { toWebhook } from '../webhooks/store.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { Attempt } from './attempt.ts';
import type { Verdict } from './decide.ts';
import type { DeliveryContext } from './deliver.ts';
import type { Pace } from './lanes.ts';
import { toDelivery } from './log-store.ts';
import { carriedEvent, type DeliveryMessage } from './messages.ts';
import type { DeliveredEvent } from './record.ts';
import { type DeliveryStatus, UNDER_WAY } from './retry-schedule.ts';

/** Reads and records what the delivery of events needs. */
export function deliveries(table: Table) {
  return {
    /**
     * Loads the data of many messages with one batched read, in order. Does not read events that messages contain. A throttled
     * partition causes errors only for the messages that need it.
     */
    async loadContexts(messages: readonly DeliveryMessage[]): Promise<(DeliveryContext | UnavailableError)[]> {
      const referring = messages.filter(({ event }) => event === undefined);
      const items = await table.batchGetEach([
        ...messages.map((message) => itemKey.webhook(message, message.webhookId)),
        ...messages.map(({ webhookId, eventId }) => itemKey.delivery(webhookId, eventId)),
        ...messages.map(({ projectId }) => itemKey.project(projectId)),
        ...referring.map((message) => itemKey.event(message, message.eventId)),
      ]);
      const { length } = messages;
      const read = new Map(referring.map((message, i) => [message, items[3 * length + i]]));
      return messages.map((message, i) => {
        const found = [items[i], items[length + i], read.get(message), items[2 * length + i]];
        const unread = found.find((item) => item instanceof UnavailableError);
        if (unread) return unread;
        const [webhook, delivery, event, project] = found.map(requireRead);
        return {
          webhook: webhook && toWebhook(webhook),
          event: carriedEvent(message) ?? (event && toStoredEvent(event)),
          delivery: delivery && toDelivery(delivery),
          isSuspended: project?.suspendedAt !== undefined,
        };
      });
    },

    /** Reads a webhook as a batch, because the functions that deliver have no permission for single reads. */
    async webhook(space: Space, webhookId: string): Promise<WebhookRecord | undefined> {
      const [item] = await table.batchGet([itemKey.webhook(space, webhookId)]);
      return item && toWebhook(item);
    },

    /** Records an attempt and what follows from it. `false` if it is recorded already, or a newer run has started. */
    async record(message: DeliveryMessage, event: StoredEvent, attempt: Attempt, verdict: Verdict): Promise<boolean> {
      return (await table.write([recordAttempt(message, event, attempt, verdict)])).length === 0;
    },

    async markRetried(message: DeliveryMessage): Promise<void> {
      const key = itemKey.delivery(message.webhookId, message.eventId);
      await table.write([update(key, { retryPending: undefined }, isAtAttempt(message))]);
    },

    /** Ends a run without an attempt, unless it has moved on. */
    async end(
      message: DeliveryMessage,
      event: DeliveredEvent,
      status: 'skipped' | 'canceled' | 'failed',
      nowMs: number,
    ): Promise<void> {
      await table.write([endRun(message, event, status, nowMs)]);
    },

    /** Sends the next messages of an endpoint to the slow lane, unless they already go there. */
    async suspect(message: DeliveryMessage, slowUntil: number, nowMs: number): Promise<boolean> {
      const isNotSlow = any(isAbsent('slowUntil'), isAtMost('slowUntil', nowMs));
      const key = itemKey.webhook(message, message.webhookId);
      return (await table.write([update(key, { slowUntil }, all(exists, isNotSlow))])).length === 0;
    },

    /** Stores the pace of an endpoint, which determines its lane. */
    async setPace(message: DeliveryMessage, { quickSince, slowUntil }: Pace): Promise<void> {
      await table.write([update(itemKey.webhook(message, message.webhookId), { quickSince, slowUntil }, exists)]);
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
 * The first run is `pending` until an attempt is recorded, which costs no write (`pendingDelivery` in fan-out.ts).
 */
const isEarlierRun = ({ run }: DeliveryMessage): Condition => isBelow('run', run);
const isThisRunGoingOn = ({ run }: DeliveryMessage): Condition => all(is('run', run), isOneOf('status', UNDER_WAY));

/** The attempt of this message is still to be recorded. */
const isBeforeAttempt = (message: DeliveryMessage): Condition =>
  any(isNew, isEarlierRun(message), all(isThisRunGoingOn(message), isBelow('attempt', message.attempt)));

/** The last recorded attempt is that of this message. */
const isAtAttempt = ({ run, attempt }: DeliveryMessage): Condition => all(is('run', run), is('attempt', attempt));

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
function endRun(message: DeliveryMessage, event: DeliveredEvent, status: DeliveryStatus, nowMs: number): Write {
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
