import * as v from 'valibot';
import { EVENT_RETENTION_MS, isTest, type StoredEvent } from '../events/event.ts';
import { EVENT_TYPES, type EventType } from '../events/types.ts';
import { described, iso, isoOrNull, resource, timestamp, wholeNumber } from '../schema.ts';
import { isSubscribed } from '../webhooks/subscription.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { type Attempt, derivedHeaders, withOrdinary } from './attempt.ts';
import {
  DELIVERY_REASONS,
  DELIVERY_STATUSES,
  type DeliveryReason,
  type DeliveryStatus,
  isUnderWay,
  TRIGGERS,
} from './retry-schedule.ts';

/** A stored delivery. Times are in milliseconds since 1970. */
export interface DeliveryRecord {
  webhookId: string;
  eventId: string;
  eventType: EventType;
  documentKey?: string | undefined;
  /** Whether the event is a sample. Recoveries and stats exclude it. */
  test?: boolean | undefined;
  status: DeliveryStatus;
  /** Why the run was canceled or skipped. */
  reason?: DeliveryReason | undefined;
  run: number;
  /** The recovery that counts this run. */
  recovery?: string | undefined;
  /** Number of the last recorded attempt of this run. */
  attempt: number;
  attempts: Attempt[];
  createdAt: number;
  nextAttemptAt?: number | undefined;
  /** When the run ended without success. */
  endedAt?: number | undefined;
  /** The last attempt is recorded, but the next one may not be queued yet. */
  retryPending?: boolean | undefined;
}

/** The attempts of earlier runs that remain in the record after a new run. */
const KEPT_ATTEMPTS = 24;

/** How many of its first attempts a record loses with a new run. */
export const surplusOf = ({ attempts }: Pick<DeliveryRecord, 'attempts'>): number =>
  Math.max(0, attempts.length - KEPT_ATTEMPTS);

/** Names one run through the schedule of one delivery. */
export type RunId = Pick<DeliveryRecord, 'webhookId' | 'eventId' | 'run' | 'recovery'>;

/** Identifies a run among the deliveries of its webhook. */
export const runKey = ({ eventId, run }: Pick<RunId, 'eventId' | 'run'>): string => `${eventId}#${run}`;

/**
 * A delivery without a recorded attempt, if one is pending. It is derived from the event and the webhook and not stored, because a
 * write would cost as much as the record of the first attempt. For an event before the last change of the subscription, it is
 * unknown whether the webhook was subscribed.
 */
export function pendingDelivery(event: StoredEvent, webhook: WebhookRecord, nowMs: number): DeliveryRecord | undefined {
  const { subscribedAt = 0 } = isTest(event) ? {} : webhook;
  const isExpired = nowMs >= event.at + EVENT_RETENTION_MS;
  if (!isSubscribed(webhook, event) || event.at < subscribedAt || isExpired) return undefined;
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

/** A delivery of a deleted webhook. Its messages are dropped, so what was under way never ends. */
export const ofDeletedWebhook = (record: DeliveryRecord): DeliveryRecord =>
  isUnderWay(record.status) ? { ...record, status: 'canceled', reason: 'deleted', nextAttemptAt: undefined } : record;

const headers = v.record(v.string(), v.string());

/** An attempt of a delivery in responses. */
const AttemptResource = resource('Attempt', {
  number: described(wholeNumber(), 'From 1 to 6.'),
  trigger: described(
    v.picklist(TRIGGERS),
    'Why the attempt was made: on the `schedule`, because of a `redelivery` or `recovery`, or as a `test`.',
  ),
  at: described(timestamp, 'When the attempt started.'),
  requests: described(
    v.nullable(wholeNumber()),
    'The number of `POST` requests of the attempt, including those that did not reach the endpoint. `2` if the endpoint usually responds quickly, did not this time, and the service sent the request [again]({base_url}/docs/delivery#lanes). `null` for attempts of earlier releases.',
  ),
  url: described(v.nullable(v.string()), 'The URL of the attempt; `null` in lists.'),
  status_code: described(v.nullable(wholeNumber()), 'The status code of the response; `null` if there was none.'),
  error: described(
    v.nullable(v.string()),
    'The cause of a failure: one of the codes under [delivery failures]({base_url}/docs/errors#delivery-failures). A successful attempt has one if the body of its 2xx response was too long, incomplete or late.',
  ),
  error_reason: described(
    v.nullable(v.string()),
    'The cause of the failure as the network library names it, such as `ECONNREFUSED`, `CERT_HAS_EXPIRED` or `ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED`; `null` if it has no name. A name can change with the version of the library.',
  ),
  duration_ms: described(wholeNumber(), 'Milliseconds until the response or the failure.'),
  request_headers: described(
    v.nullable(headers),
    'The request headers, at most 1 KiB. The values of custom headers are masked. `null` in lists.',
  ),
  response_headers: described(
    v.nullable(headers),
    'The response headers, at most the first KiB; `null` in lists and without a response.',
  ),
  response_excerpt: described(
    v.nullable(v.string()),
    'The response body, at most the first KiB; `null` in lists and without a response.',
  ),
});

export const DeliveryResource = resource('Delivery', {
  webhook_id: described(v.string(), 'The webhook.'),
  event_id: described(v.string(), 'The event.'),
  event_type: described(v.picklist(EVENT_TYPES), 'The type of the event.'),
  test: described(v.boolean(), 'Whether this is a test with a sample event. Recoveries exclude tests.'),
  document_key: described(v.nullable(v.string()), 'The document of the event, if any.'),
  url: described(v.nullable(v.string()), 'The URL of the last attempt; `null` before the first attempt.'),
  status: described(
    v.picklist(DELIVERY_STATUSES),
    '`pending`: no attempt has been made yet. `retrying`: the last attempt failed, and another is scheduled. `failed`: all attempts failed, or the event expired before the next attempt. `canceled`: the webhook was disabled, or the project suspended, when the next attempt was due. `skipped`: the webhook was disabled when the event occurred, the project was suspended before the first attempt, or the attempt would have waited too long because of `max_per_second`. For both, `reason` is the cause. You can recover `failed`, `canceled` and `skipped` deliveries.',
  ),
  reason: described(
    v.nullable(v.picklist(DELIVERY_REASONS)),
    'Why the delivery is `canceled` or `skipped`; `null` otherwise, and for deliveries of earlier releases. `disabled`: all six attempts of a delivery had failed, which disabled the webhook. `paused`: a request had paused the webhook. `deleted`: the webhook was deleted, which only the export of a project shows. `suspended`: the project was suspended. `rate_limited`: the attempt would have waited for more than an hour because of `max_per_second`.',
  ),
  attempts: described(v.array(AttemptResource), 'All attempts, oldest first, including those of redeliveries.'),
  next_attempt_at: described(v.nullable(timestamp), 'When the next attempt is due.'),
  last_attempt_at: described(
    v.nullable(timestamp),
    'When the last attempt started, also of an earlier run; `null` before the first attempt.',
  ),
  created_at: described(
    timestamp,
    'When the first attempt started. Before the first attempt, when the event occurred.',
  ),
});

type DeliveryOutput = v.InferOutput<typeof DeliveryResource>;

/** A delivery without the content of its requests and responses, which would add megabytes to a list of a hundred. */
export function deliveryEntry(record: DeliveryRecord): DeliveryOutput {
  const omitted = { url: null, request_headers: null, response_headers: null, response_excerpt: null };
  const { attempts, ...delivery } = deliveryResource(record);
  return { ...delivery, attempts: attempts.map((attempt) => ({ ...attempt, ...omitted })) };
}

export function deliveryResource(record: DeliveryRecord): DeliveryOutput {
  const last = record.attempts.at(-1);
  return {
    webhook_id: record.webhookId,
    event_id: record.eventId,
    event_type: record.eventType,
    document_key: record.documentKey ?? null,
    url: last?.url ?? null,
    test: record.test ?? false,
    status: record.status,
    reason: record.reason ?? null,
    attempts: record.attempts.map((attempt) => ({
      number: attempt.number,
      trigger: attempt.trigger,
      at: iso(attempt.at),
      requests: attempt.requests ?? null,
      url: attempt.url,
      status_code: attempt.statusCode,
      error: attempt.error,
      error_reason: attempt.reason ?? null,
      duration_ms: attempt.durationMs,
      request_headers: withOrdinary({ ...derivedHeaders(record, attempt), ...Object.fromEntries(attempt.sent) }),
      response_headers: attempt.headers ? Object.fromEntries(attempt.headers) : null,
      response_excerpt: attempt.excerpt,
    })),
    next_attempt_at: isoOrNull(record.nextAttemptAt),
    last_attempt_at: isoOrNull(last?.at),
    created_at: iso(record.createdAt),
  };
}
