import type { Referred } from '../../delivery/deliver.ts';
import type { Pace } from '../../delivery/lanes.ts';
import {
  type Attempt,
  type DeliveryMessage,
  type DeliveryRecord,
  isEmailOwed,
  isRetryPending,
  roundOf,
  type Verdict,
} from '../../delivery/record.ts';
import type { DeliveryStatus } from '../../delivery/schedule.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../../events/events.ts';
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

    /** Records an attempt and what follows from it, unless it is recorded already or a newer round has begun. */
    async record(
      message: DeliveryMessage,
      event: StoredEvent,
      attempt: Attempt,
      verdict: Verdict,
    ): Promise<'recorded' | 'retry pending' | 'obsolete'> {
      const [rejected] = await table.write([recordAttempt(message, event, attempt, verdict)]);
      if (!rejected) return 'recorded';
      // Whoever recorded it may have died since, and this message be the only one left.
      return rejected.item && isRetryPending(message, toDelivery(rejected.item)) ? 'retry pending' : 'obsolete';
    },

    async markRetried(message: DeliveryMessage): Promise<void> {
      const update = setting({ retryPending: undefined });
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
        emailedAt: undefined,
        emailingUntil: undefined,
      });
      const disable: Write = {
        Update: {
          Key: itemKey.webhook(message, message.webhookId),
          ...update,
          ConditionExpression: '#status = :enabled',
          ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':enabled': 'enabled' },
        },
      };
      const rejected = await table.write([recorded, disable]);
      if (rejected.length === 0) return 'disabled';
      if (!rejected.some(({ index }) => index === 0)) await table.write([recorded]); // disabled by another one, or deleted
      // Recorded by another run of this message, which may have died before the email.
      const webhook = rejected.find(({ index }) => index === 1)?.item;
      return webhook && isEmailOwed(message, toWebhook(webhook)) ? 'disabled' : 'recorded';
    },

    /** Lets one run at a time send the email about the disabling. */
    async claimEmail(message: DeliveryMessage, nowMs: number): Promise<'claimed' | 'busy' | 'sent'> {
      const update = setting({ emailingUntil: nowMs + EMAIL_CLAIM_MS });
      const [rejected] = await table.write([
        {
          Update: {
            Key: itemKey.webhook(message, message.webhookId),
            ...update,
            ExpressionAttributeValues: {
              ...update.ExpressionAttributeValues,
              ':round': roundOf(message),
              ':now': nowMs,
            },
            ConditionExpression:
              'disabledBy = :round AND attribute_not_exists(emailedAt) AND (attribute_not_exists(emailingUntil) OR emailingUntil <= :now)',
          },
        },
      ]);
      if (!rejected) return 'claimed';
      return rejected.item && isEmailOwed(message, toWebhook(rejected.item)) ? 'busy' : 'sent';
    },

    releaseEmail: (message: DeliveryMessage) => changeOfDisabled(message, { emailingUntil: undefined }),

    /** Notes that the email about the disabling is sent. */
    markEmailed: (message: DeliveryMessage, emailedAt: number) =>
      changeOfDisabled(message, { emailedAt, emailingUntil: undefined }),

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

    /**
     * Newest first. Reads so much and no more: with a filter, a page may be short, or empty, before the end.
     */
    async list(
      webhookId: string,
      { limit, ...options }: ListOptions,
    ): Promise<{ deliveries: DeliveryRecord[]; next: string | undefined }> {
      const query = logQuery(webhookId, options);
      const Limit = options.statuses ? FILTERED_ITEMS : limit;
      const { items, next } = query
        ? await table.queryPages({ ...query, Limit }, limit)
        : { items: [], next: undefined };
      return { deliveries: items.map(toDelivery), next: next?.sk };
    },

    /** How many there are; exact until it has read 32 MB of the log, then at least. */
    async count(webhookId: string, options: Omit<ListOptions, 'limit'>): Promise<number> {
      const query = logQuery(webhookId, options);
      let count = 0;
      let after: object | undefined;
      for (let pages = 0; query && pages < COUNTED_PAGES; pages++) {
        const page = await table.query({ ...query, after, Select: 'COUNT' });
        count += page.count;
        after = page.next;
        if (after === undefined) break;
      }
      return count;
    },

    /** Notes how quick an endpoint is: decides its lane. */
    async setPace(message: DeliveryMessage, { quickSince, slowUntil }: Pace): Promise<void> {
      const update = setting({ quickSince, slowUntil });
      const Key = itemKey.webhook(message, message.webhookId);
      await table.write([{ Update: { Key, ...update, ConditionExpression: 'attribute_exists(pk)' } }]);
    },

    /**
     * Shows that a new round is under way; its attempts may have come first. Of the earlier ones the latest stay. `also` is
     * written with it.
     */
    async beginRound(record: DeliveryRecord, round: number, nowMs: number, also: Write[] = []): Promise<void> {
      const update = setting({
        round,
        attempt: 0,
        status: 'retrying',
        nextAttemptAt: nowMs,
        retryPending: undefined,
        expires: timeToLive(nowMs + EVENT_RETENTION_MS),
      });
      // By their place, so that an attempt that is recorded meanwhile stays.
      const surplus = Math.max(0, record.attempts.length - KEPT_ATTEMPTS);
      const removed = Array.from({ length: surplus }, (_, i) => `, #attempts[${i}]`).join('');
      const begin: Write = {
        Update: {
          Key: itemKey.delivery(record.webhookId, record.eventId),
          ...update,
          UpdateExpression: update.UpdateExpression + removed,
          ExpressionAttributeNames: {
            ...update.ExpressionAttributeNames,
            ...(surplus > 0 && { '#attempts': 'attempts' }),
          },
          ConditionExpression: '#round < :round',
        },
      };
      const rejected = await table.write([begin, ...also]);
      if (rejected.length > 0 && also.length > 0) await table.write(also); // begun by an earlier run of the request
    },
  };

  async function changeOfDisabled(message: DeliveryMessage, values: Item): Promise<void> {
    const update = setting(values);
    const Key = itemKey.webhook(message, message.webhookId);
    const ExpressionAttributeValues = { ...update.ExpressionAttributeValues, ':round': roundOf(message) };
    await table.write([
      { Update: { Key, ...update, ExpressionAttributeValues, ConditionExpression: 'disabledBy = :round' } },
    ]);
  }
}

/** For which an email is one run's to send: longer than a function may run, shorter than a message stays hidden. */
const EMAIL_CLAIM_MS = 60_000;

/** Attempts of earlier rounds that a new round leaves in the record. */
const KEPT_ATTEMPTS = 24;

/** Items that one query reads where a filter may leave out most of them. */
const FILTERED_ITEMS = 1000;

/** Pages of 1 MB that are read to count. */
const COUNTED_PAGES = 32;

const idOf = ({ pk, sk }: ItemKey): string => `${pk} ${sk}`;
