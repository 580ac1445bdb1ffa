import type { Referred } from '../deliver.ts';
import { type Attempt, type DeliveryMessage, type DeliveryRecord, roundOf, type Verdict } from '../delivery.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../events.ts';
import type { DeliveryStatus } from '../schedule.ts';
import { type ListOptions, logQuery, recordAttempt, upsert } from './delivery-expressions.ts';
import { toStoredEvent } from './events.ts';
import { type Item, type ItemKey, itemKey, setting, type Table, timeToLive, type Write } from './table.ts';
import { toWebhook } from './webhooks.ts';

export const toDelivery = (item: Item): DeliveryRecord => item as unknown as DeliveryRecord;

export type Deliveries = ReturnType<typeof deliveries>;

export function deliveries(table: Table) {
  return {
    /** Of many messages with one batched read, in their order. */
    async referred(messages: readonly DeliveryMessage[]): Promise<Referred[]> {
      const keys = messages.map((message) => [
        itemKey.webhook(message, message.webhookId),
        itemKey.event(message.eventId),
        itemKey.delivery(message.webhookId, message.eventId),
      ]);
      const distinct = new Map(keys.flat().map((key) => [idOf(key), key]));
      const items = new Map(
        (await table.batchGet([...distinct.values()])).map((item) => [idOf(item as unknown as ItemKey), item]),
      );
      return keys.map((three) => {
        const [webhook, event, delivery] = three.map((key) => items.get(idOf(key)));
        return {
          webhook: webhook && toWebhook(webhook),
          event: event && toStoredEvent(event),
          delivery: delivery && toDelivery(delivery),
        };
      });
    },

    /** Records an attempt and what follows from it. Does nothing if it is recorded already or a newer round has begun. */
    async record(message: DeliveryMessage, event: StoredEvent, attempt: Attempt, verdict: Verdict): Promise<boolean> {
      return (await table.write([recordAttempt(message, event, attempt, verdict)])).length === 0;
    },

    async markRetried(message: DeliveryMessage): Promise<void> {
      const update = setting({ owesRetry: undefined });
      const ExpressionAttributeNames = { ...update.ExpressionAttributeNames, '#round': 'round', '#attempt': 'attempt' };
      const ExpressionAttributeValues = { ':round': message.round, ':attempt': message.attempt };
      const ConditionExpression = '#round = :round AND #attempt = :attempt';
      const Key = itemKey.delivery(message.webhookId, message.eventId);
      await table.write([
        { Update: { Key, ...update, ExpressionAttributeNames, ExpressionAttributeValues, ConditionExpression } },
      ]);
    },

    /**
     * Records the attempt that exhausts the schedule and, if the webhook is still enabled, disables it in the same
     * transaction: of all deliveries that get here, one disables.
     */
    async exhaust(
      message: DeliveryMessage,
      event: StoredEvent,
      attempt: Attempt,
      nowMs: number,
    ): Promise<'disabled' | 'recorded'> {
      const recorded = recordAttempt(message, event, attempt, { status: 'failed' });
      const update = setting({
        status: 'disabled',
        disabledAt: nowMs,
        updatedAt: nowMs,
        disabledReason: 'deliveries_failed',
        disabledBy: roundOf(message),
        mailedAt: undefined,
      });
      const disable: Write = {
        Update: {
          Key: itemKey.webhook(message, message.webhookId),
          ...update,
          ConditionExpression: '#status = :enabled',
          ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':enabled': 'enabled' },
        },
      };
      const failed = await table.write([recorded, disable]);
      if (failed.length === 0) return 'disabled';
      if (!failed.includes(0)) await table.write([recorded]); // disabled by another one, paused, or deleted
      return 'recorded';
    },

    /** Notes that the mail about the disabling is sent. */
    async markMailed(message: DeliveryMessage, mailedAt: number): Promise<void> {
      const update = setting({ mailedAt });
      const Key = itemKey.webhook(message, message.webhookId);
      const ExpressionAttributeValues = { ...update.ExpressionAttributeValues, ':round': roundOf(message) };
      await table.write([
        { Update: { Key, ...update, ExpressionAttributeValues, ConditionExpression: 'disabledBy = :round' } },
      ]);
    },

    /** Ends a round without an attempt: `skipped` before it began, `canceled` later. Not if it has moved on. */
    async end(
      message: DeliveryMessage,
      event: StoredEvent,
      status: DeliveryStatus & ('skipped' | 'canceled'),
      nowMs: number,
    ): Promise<void> {
      await table.write([
        upsert(message, event, { status, createdAt: nowMs, nextAttemptAt: undefined, attempt: message.attempt - 1 }),
      ]);
    },

    async get(webhookId: string, eventId: string): Promise<DeliveryRecord | undefined> {
      const item = await table.get(itemKey.delivery(webhookId, eventId));
      return item && toDelivery(item);
    },

    /** Newest first, of events since a time; `status` filters what was read, so a page may be short before the end. */
    async list(
      webhookId: string,
      options: ListOptions,
    ): Promise<{ deliveries: DeliveryRecord[]; next: string | undefined }> {
      const { items, next } = await table.query({ ...logQuery(webhookId, options), Limit: options.limit });
      return { deliveries: items.map(toDelivery), next: next?.sk };
    },

    /** How many there are; exact until it has read 32 MB of the log, then at least. */
    async count(webhookId: string, options: Omit<ListOptions, 'limit'>): Promise<number> {
      let count = 0;
      let after: string | undefined;
      for (let pages = 0; pages < COUNTED_PAGES; pages++) {
        const page = await table.query({ ...logQuery(webhookId, { ...options, after }), Select: 'COUNT' });
        count += page.count;
        after = page.next?.sk;
        if (after === undefined) break;
      }
      return count;
    },

    /** Keeps a receiver in the slow lane until then, or takes it back. Nothing depends on it. */
    async setSlow(message: DeliveryMessage, slowUntil: number | undefined): Promise<void> {
      const Key = itemKey.webhook(message, message.webhookId);
      await table.write([{ Update: { Key, ...setting({ slowUntil }), ConditionExpression: 'attribute_exists(pk)' } }]);
    },

    /** Shows that a new round is under way; its attempts may have come first. Keeps the latest attempts only. */
    async beginRound(record: DeliveryRecord, round: number, nowMs: number): Promise<void> {
      const update = setting({
        round,
        attempt: 0,
        status: 'retrying',
        nextAttemptAt: nowMs,
        owesRetry: undefined,
        attempts: record.attempts.slice(-KEPT_ATTEMPTS),
        expires: timeToLive(nowMs + EVENT_RETENTION_MS),
      });
      const Key = itemKey.delivery(record.webhookId, record.eventId);
      await table.write([{ Update: { Key, ...update, ConditionExpression: '#round < :round' } }]);
    },
  };
}

/** Attempts of earlier rounds that a new round leaves in the record. */
const KEPT_ATTEMPTS = 24;

/** Pages of 1 MB that are read to count. */
const COUNTED_PAGES = 32;

const idOf = ({ pk, sk }: ItemKey): string => `${pk} ${sk}`;
