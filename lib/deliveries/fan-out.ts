import { matchesAny } from '../documents/patterns.ts';
import { EVENT_RETENTION_MS, isTest, type StoredEvent } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { type Lane, laneOf } from './lanes.ts';
import { carrying, type DeliveryMessage, firstMessage } from './messages.ts';
import type { DeliveryRecord } from './record.ts';

/**
 * Concurrent batches of one shard of the stream. Two are enough for the thousand events per second of a shard. With more, smaller
 * batches would read the webhooks of a busy project more often.
 */
export const FAN_OUTS_OF_SHARD = 2;

export interface FanOut {
  /** To be sent, by lane. */
  lanes: Map<Lane, DeliveryMessage[]>;
  /** Records deliveries of disabled webhooks, so that `recover` finds them. */
  skipped: DeliveryMessage[];
}

/** The webhooks of an event: those of its space that are subscribed to its type, or the one webhook of a test event. */
export function fanOut(event: StoredEvent, webhooks: readonly WebhookRecord[], nowMs: number): FanOut {
  if (event.webhookId !== undefined) {
    const test = carrying(firstMessage(event, event.webhookId, event.id, { trigger: 'test' }), event);
    return { lanes: new Map([['new', [test]]]), skipped: [] }; // most are of new webhooks
  }
  const message = ({ id }: WebhookRecord) => firstMessage(event, id, event.id);
  const subscribed = webhooks.filter((webhook) => isFor(event, webhook));
  const lanes = new Map<Lane, DeliveryMessage[]>();
  for (const webhook of subscribed.filter(({ status }) => status === 'enabled')) {
    const lane = laneOf(webhook, nowMs);
    lanes.set(lane, [...(lanes.get(lane) ?? []), carrying(message(webhook), event)]);
  }
  return { lanes, skipped: subscribed.filter(({ status }) => status === 'disabled').map(message) };
}

/**
 * Whether an event goes to a webhook. Webhooks that were created later do not get it.
 * The clocks of functions differ by less than the duration of a request.
 */
function isFor(event: StoredEvent, { id, events, documents = [], createdAt }: WebhookRecord): boolean {
  if (event.webhookId !== undefined) return event.webhookId === id;
  if (!events.includes(event.type) || createdAt > event.at) return false;
  return documents.length === 0 || (event.documentKey !== undefined && matchesAny(documents, event.documentKey));
}

/**
 * A delivery without a recorded attempt, if one is pending. It is derived from the event and the webhook and not stored, because a
 * write would cost as much as the record of the first attempt. For an event before the last change of the subscription, it is
 * unknown whether the webhook was subscribed.
 */
export function pendingDelivery(event: StoredEvent, webhook: WebhookRecord, nowMs: number): DeliveryRecord | undefined {
  const { subscribedAt = 0 } = isTest(event) ? {} : webhook;
  const isExpired = nowMs >= event.at + EVENT_RETENTION_MS;
  if (!isFor(event, webhook) || event.at < subscribedAt || isExpired) return undefined;
  return {
    webhookId: webhook.id,
    eventId: event.id,
    eventType: event.type,
    documentKey: event.documentKey,
    ...(isTest(event) && { test: true }),
    status: 'pending',
    run: 0,
    attempt: 0,
    attempts: [],
    createdAt: event.at,
    nextAttemptAt: event.at,
  };
}
