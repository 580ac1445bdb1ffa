import * as v from 'valibot';
import { EVENT_TYPES, type EventType } from '../events/types.ts';
import { iso, isoOrNull, timestamp } from '../schema.ts';
import { ENVIRONMENTS, type Space } from '../space.ts';
import type { WebhookRecord } from '../webhooks/webhooks.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  MAX_ATTEMPTS,
  RETRY_DELAYS_SECONDS,
  TRIGGERS,
  type Trigger,
} from './schedule.ts';

/** For the answer: connection, TLS and headers included. */
export const ATTEMPT_TIMEOUT_MS = 5000;

/** What goes through the queue and the schedules: references only. `round` counts redeliveries. */
export const DeliveryMessage = v.strictObject({
  webhookId: v.string(),
  eventId: v.string(),
  projectId: v.string(),
  environment: v.picklist(ENVIRONMENTS),
  round: v.pipe(v.number(), v.integer(), v.minValue(0)),
  attempt: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_ATTEMPTS)),
  trigger: v.picklist(TRIGGERS),
});
export type DeliveryMessage = v.InferOutput<typeof DeliveryMessage>;

/** Names one attempt, for its schedule: at most 64 of `A-Za-z0-9._-`. */
export function attemptName({ webhookId, eventId, round, attempt }: DeliveryMessage): string {
  return `${[webhookId, eventId].map((id) => id.slice(id.indexOf('_') + 1)).join('-')}-${round}-${attempt}`;
}

/** How one POST ended. */
export interface Outcome {
  /** `null` if no answer came. */
  statusCode: number | null;
  /** A stable code if anything went wrong (failures.ts lists them), else `null`. */
  error: string | null;
  durationMs: number;
  /** At most 1 KiB of the answer's text. */
  excerpt: string | null;
}

/** With the time that the endpoint kept us waiting: less than the duration if we were kept from running. */
export interface TimedOutcome extends Outcome {
  waitedMs: number;
}

export interface Attempt extends Outcome {
  number: number;
  trigger: Trigger;
  at: number;
}

/** What is stored of a delivery. Times in milliseconds since 1970. */
export interface DeliveryRecord {
  webhookId: string;
  eventId: string;
  eventType: EventType;
  status: DeliveryStatus;
  round: number;
  /** Number of the last recorded attempt of this round. */
  attempt: number;
  attempts: Attempt[];
  createdAt: number;
  nextAttemptAt?: number | undefined;
  /** The last attempt is recorded, but the next one may not be queued yet. */
  retryPending?: boolean | undefined;
}

export const DeliveryResource = v.strictObject({
  webhook_id: v.string(),
  event_id: v.string(),
  event_type: v.picklist(EVENT_TYPES),
  status: v.picklist(DELIVERY_STATUSES),
  attempts: v.array(
    v.strictObject({
      number: v.pipe(v.number(), v.integer()),
      trigger: v.picklist(TRIGGERS),
      at: timestamp,
      status_code: v.nullable(v.pipe(v.number(), v.integer())),
      error: v.nullable(v.string()),
      duration_ms: v.number(),
      response_excerpt: v.nullable(v.string()),
    }),
  ),
  next_attempt_at: v.nullable(timestamp),
  created_at: timestamp,
});

export function deliveryResource(record: DeliveryRecord): v.InferOutput<typeof DeliveryResource> {
  return {
    webhook_id: record.webhookId,
    event_id: record.eventId,
    event_type: record.eventType,
    status: record.status,
    attempts: record.attempts.map((attempt) => ({
      number: attempt.number,
      trigger: attempt.trigger,
      at: iso(attempt.at),
      status_code: attempt.statusCode,
      error: attempt.error,
      duration_ms: attempt.durationMs,
      response_excerpt: attempt.excerpt,
    })),
    next_attempt_at: isoOrNull(record.nextAttemptAt),
    created_at: iso(record.createdAt),
  };
}

/** Identifies one run through the schedule of one delivery. */
export const roundOf = ({ eventId, round }: Pick<DeliveryMessage, 'eventId' | 'round'>): string =>
  `${eventId}#${round}`;

/**
 * What a message is for, from what is stored now:
 * `drop`, it has been dealt with; `requeue`, it was sent but its retry is still owed; `cancel`, its webhook is disabled;
 * `notify`, it disabled the webhook but its email is still to be sent; `defer`, its endpoint belongs in a slower lane;
 * `send`.
 */
export type Task = 'drop' | 'requeue' | 'cancel' | 'notify' | 'defer' | 'send';

export function taskOf(
  message: DeliveryMessage,
  webhook: WebhookRecord,
  delivery: DeliveryRecord | undefined,
  isTest: boolean,
  isDeferred: boolean,
): Task {
  if (delivery && isRecorded(message, delivery)) {
    if (isRetryPending(message, delivery)) return 'requeue';
    return isLastOf(message, delivery) && isEmailOwed(message, webhook) ? 'notify' : 'drop';
  }
  if (webhook.status === 'disabled' && !isTest) return 'cancel';
  return isDeferred ? 'defer' : 'send';
}

const isLastOf = (message: DeliveryMessage, { round, attempt }: DeliveryRecord): boolean =>
  round === message.round && attempt === message.attempt;

/** The attempt of this message is recorded, but its retry may not be queued. */
export const isRetryPending = (message: DeliveryMessage, delivery: DeliveryRecord): boolean =>
  isLastOf(message, delivery) && delivery.retryPending === true;

/** The delivery of this message disabled the webhook, and the email about it may not be sent. */
export const isEmailOwed = (message: DeliveryMessage, { disabledBy, emailedAt }: WebhookRecord): boolean =>
  disabledBy === roundOf(message) && emailedAt === undefined;

function isRecorded(message: DeliveryMessage, delivery: DeliveryRecord): boolean {
  if (delivery.round !== message.round) return delivery.round > message.round;
  // `skipped` and `canceled` end a round without an attempt of that number.
  return delivery.attempt >= message.attempt || delivery.status !== 'retrying';
}

/** When an attempt is due: the time, and the seconds until then. */
export interface Due {
  delaySeconds: number;
  dueAt: number;
}

export const dueAfter = (dueAt: number, nowMs: number): Due => ({
  dueAt,
  delaySeconds: Math.max(0, Math.ceil((dueAt - nowMs) / 1000)),
});

/** What follows an attempt. */
export type Verdict = { status: 'succeeded' } | ({ status: 'retrying' } & Due) | { status: 'failed' };

/** 2xx is success; every other outcome is retried on schedule, until the sixth. A test event has one attempt. */
export function verdictOn(attempt: Attempt, isTest: boolean): Verdict {
  if (isSuccess(attempt)) return { status: 'succeeded' };
  const delaySeconds = RETRY_DELAYS_SECONDS[attempt.number - 1];
  if (isTest || delaySeconds === undefined) return { status: 'failed' };
  return { status: 'retrying', delaySeconds, dueAt: attempt.at + attempt.durationMs + delaySeconds * 1000 };
}

export const isSuccess = ({ statusCode }: Pick<Outcome, 'statusCode'>): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

/** The first message of a delivery, or of a run that somebody asked for. */
export function firstMessage(
  { projectId, environment }: Space,
  webhookId: string,
  eventId: string,
  { round = 0, trigger = 'schedule' }: { round?: number; trigger?: Trigger } = {},
): DeliveryMessage {
  return { webhookId, eventId, projectId, environment, round, attempt: 1, trigger };
}
