import type { StoredEvent } from '../events/event.ts';
import { isSubscribed } from '../webhooks/subscription.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { skipReasonOf } from './decide.ts';
import { type Lane, laneOf } from './lanes.ts';
import {
  type DeliveryMessage,
  firstMessage,
  type QueueMessage,
  type SkipReason,
  type SpreadMessage,
  toCarry,
} from './messages.ts';

/**
 * Concurrent batches of one shard of the stream. Two are enough for the thousand events per second of a shard. With more, smaller
 * batches would read the webhooks of a busy project more often.
 */
export const FAN_OUTS_OF_SHARD = 2;

/**
 * Webhooks of an event that the fan-out serves itself, and of one part of an event with more webhooks. The events of other projects
 * wait behind its work in the stream, but not behind that of the quick lane, whose queue is fair.
 */
const MAX_WEBHOOKS_OF_PART = 10;

export interface FanOut {
  /** To be sent, by lane. */
  lanes: Map<Lane, QueueMessage[]>;
  /** The deliveries of disabled webhooks are recorded, so that `recover` finds them. */
  skipped: { message: DeliveryMessage; reason: SkipReason }[];
  /** The enabled and the disabled webhooks of the event. */
  counts: { deliveries: number; skipped: number };
}

/** The webhooks of an event: those of its space that are subscribed to its type, or the one webhook of a test event. */
export function fanOut(event: StoredEvent, webhooks: readonly WebhookRecord[], nowMs: number): FanOut {
  const carried = toCarry(event);
  if (event.webhookId !== undefined) {
    const test = firstMessage(event, event.webhookId, event.id, { trigger: 'test', event: carried });
    return { lanes: new Map([['new', [test]]]), skipped: [], counts: { deliveries: 1, skipped: 0 } }; // most are of new webhooks
  }
  const subscribed = webhooks.filter((webhook) => isSubscribed(webhook, event));
  const isEnabled = ({ status }: WebhookRecord) => status === 'enabled';
  const byLane = Map.groupBy(subscribed.filter(isEnabled), (webhook) => laneOf(webhook, nowMs));
  const disabled = subscribed.filter((webhook) => !isEnabled(webhook));
  const counts = { deliveries: subscribed.length - disabled.length, skipped: disabled.length };
  if (subscribed.length > MAX_WEBHOOKS_OF_PART) {
    const parts = [...byLane, ...Map.groupBy(disabled, skipReasonOf)].flatMap(([to, webhooks]) =>
      partsOf(webhooks).map((webhookIds): SpreadMessage => {
        const { id: eventId, projectId, environment } = event;
        return { spread: { eventId, projectId, environment, to, webhookIds, ...(carried && { event: carried }) } };
      }),
    );
    return { lanes: new Map([['quick', parts]]), skipped: [], counts };
  }
  const message = ({ id }: WebhookRecord) => firstMessage(event, id, event.id, { event: carried });
  return {
    lanes: new Map([...byLane].map(([lane, webhooks]) => [lane, webhooks.map(message)])),
    skipped: disabled.map((webhook) => ({
      message: firstMessage(event, webhook.id, event.id),
      reason: skipReasonOf(webhook),
    })),
    counts,
  };
}

function partsOf(webhooks: readonly WebhookRecord[]): string[][] {
  return Array.from({ length: Math.ceil(webhooks.length / MAX_WEBHOOKS_OF_PART) }, (_, i) =>
    webhooks.slice(i * MAX_WEBHOOKS_OF_PART, (i + 1) * MAX_WEBHOOKS_OF_PART).map(({ id }) => id),
  );
}
