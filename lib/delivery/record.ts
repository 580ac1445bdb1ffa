import * as v from 'valibot';
import { EVENT_TYPES, type EventType } from '../events/types.ts';
import { iso, isoOrNull, timestamp } from '../schema.ts';
import type { Outcome } from './post.ts';
import { DELIVERY_STATUSES, type DeliveryStatus, TRIGGERS, type Trigger } from './schedule.ts';

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
  run: number;
  /** Number of the last recorded attempt of this run. */
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
