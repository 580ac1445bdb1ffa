import * as v from 'valibot';
import type { StoredEvent } from '../events/event.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { ENVIRONMENTS, fairGroupOf, type Space } from '../space.ts';
import { LANES } from './lanes.ts';
import { type DeliveryReason, MAX_ATTEMPTS, TRIGGERS, type Trigger } from './retry-schedule.ts';

/** The maximum body size of an event in its message. Ten of them stay within 64 KB, which SQS bills as one request. */
const MAX_CARRIED_BYTES = 2048;

/** The members of a small event that its message does not contain otherwise, so that the first attempt does not read it. */
const CarriedEvent = v.strictObject({
  type: v.picklist(EVENT_TYPES),
  at: v.number(),
  body: v.string(),
  documentKey: v.optional(v.string()),
  webhookId: v.optional(v.string()),
});
type CarriedEvent = v.InferOutput<typeof CarriedEvent>;

/** When the rate limit of the webhook allows the attempt of a message, and the limit for which the slot was booked. */
const Slot = v.strictObject({ at: v.number(), maxPerSecond: v.number() });
export type Slot = v.InferOutput<typeof Slot>;

/**
 * A message of the queues and schedules: references, plus a small event in its first attempt. `run` counts redeliveries.
 */
export const DeliveryMessage = v.strictObject({
  webhookId: v.string(),
  eventId: v.string(),
  projectId: v.string(),
  environment: v.picklist(ENVIRONMENTS),
  run: v.pipe(v.number(), v.integer(), v.minValue(0)),
  attempt: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_ATTEMPTS)),
  trigger: v.picklist(TRIGGERS),
  /** The recovery that the run belongs to. */
  recovery: v.optional(v.string()),
  event: v.optional(CarriedEvent),
  slot: v.optional(Slot),
  /** The requests that the quick lane already made for this attempt. */
  requests: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});
export type DeliveryMessage = v.InferOutput<typeof DeliveryMessage>;

/** Names one attempt, for its schedule: at most 64 of `A-Za-z0-9._-`. */
export function attemptName({ webhookId, eventId, run, attempt }: DeliveryMessage): string {
  return `${[webhookId, eventId].map((id) => id.slice(id.indexOf('_') + 1)).join('-')}-${run}-${attempt}`;
}

/** The first message of a delivery or of another run. */
export function firstMessage(
  { projectId, environment }: Space,
  webhookId: string,
  eventId: string,
  {
    run = 0,
    trigger = 'schedule',
    ...more
  }: { run?: number; trigger?: Trigger; event?: CarriedEvent | undefined; recovery?: string | undefined } = {},
): DeliveryMessage {
  return { webhookId, eventId, projectId, environment, run, attempt: 1, trigger, ...more };
}

/** An event as its messages carry it, or `undefined` if it is too large. */
export function toCarry({ type, at, body, documentKey, webhookId }: StoredEvent): CarriedEvent | undefined {
  return Buffer.byteLength(body) > MAX_CARRIED_BYTES ? undefined : { type, at, body, documentKey, webhookId };
}

/** The event in a message. Events are immutable, so it equals the stored one. */
export function carriedEvent({ event, eventId, projectId, environment }: DeliveryMessage): StoredEvent | undefined {
  return event && { ...event, id: eventId, projectId, environment };
}

/** The message of the next attempt, which reads the event again and has no slot and no requests yet. */
export function nextMessage({ event: _, slot: __, requests: ___, ...message }: DeliveryMessage): DeliveryMessage {
  return { ...message, attempt: message.attempt + 1 };
}

/** One page of a recovery: the next one is a message again, so no request or function runs for long. */
export const RecoverMessage = v.strictObject({
  recover: v.strictObject({
    webhookId: v.string(),
    projectId: v.string(),
    environment: v.picklist(ENVIRONMENTS),
    recoveryId: v.string(),
    /** The number of the page. The record of the recovery contains its position. */
    page: v.pipe(v.number(), v.integer(), v.minValue(0)),
  }),
});
export type RecoverMessage = v.InferOutput<typeof RecoverMessage>;

/** Why the fan-out skips the delivery to a disabled webhook. */
const SKIP_REASONS = ['disabled', 'paused'] as const satisfies DeliveryReason[];
export type SkipReason = (typeof SKIP_REASONS)[number];

/** The first deliveries of an event to a part of its webhooks: those of one lane, or those that are skipped for one reason. */
export const SpreadMessage = v.strictObject({
  spread: v.strictObject({
    eventId: v.string(),
    projectId: v.string(),
    environment: v.picklist(ENVIRONMENTS),
    to: v.picklist([...LANES, ...SKIP_REASONS]),
    webhookIds: v.pipe(v.array(v.string()), v.minLength(1)),
    event: v.optional(CarriedEvent),
  }),
});
export type SpreadMessage = v.InferOutput<typeof SpreadMessage>;

/** Every kind of message in the deliveries queue. */
export type QueueMessage = DeliveryMessage | RecoverMessage | SpreadMessage;
const QueueMessage = v.union([DeliveryMessage, RecoverMessage, SpreadMessage]);

export const isDelivery = (message: QueueMessage): message is DeliveryMessage => 'webhookId' in message;

/** Parses a message of the queue. `null` if it has another format. */
export function parseMessage(text: string): QueueMessage | null {
  try {
    return v.parse(QueueMessage, JSON.parse(text));
  } catch {
    return null;
  }
}

/** The fair-queue group of a message: that of its space. */
export function groupOf(message: QueueMessage): string {
  if (isDelivery(message)) return fairGroupOf(message);
  return fairGroupOf('recover' in message ? message.recover : message.spread);
}
