import * as v from 'valibot';
import { EVENT_TYPES, type EventType } from '../events/types.ts';
import { described, iso, isoOrNull, timestamp } from '../schema.ts';
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

/** Which deliveries of a webhook: of events in a window, with certain statuses. */
export interface DeliveryFilter {
  /** Of events at this time or later, and before `until`. */
  since?: number | undefined;
  until?: number | undefined;
  statuses?: readonly DeliveryStatus[] | undefined;
  /** With `statuses`: those too whose next attempt was due before. */
  stuckBefore?: number | undefined;
}

export const DeliveryResource = v.strictObject({
  webhook_id: described(v.string(), 'The webhook.'),
  event_id: described(v.string(), 'The event.'),
  event_type: described(v.picklist(EVENT_TYPES), 'The type of the event.'),
  status: described(
    v.picklist(DELIVERY_STATUSES),
    '`retrying`: the last attempt failed and another is due. `failed`: all attempts failed. `canceled`: the webhook was disabled in between. `skipped`: it was disabled when the event happened. The last three can be recovered.',
  ),
  attempts: described(
    v.array(
      v.strictObject({
        number: described(v.pipe(v.number(), v.integer()), 'From 1 to 6.'),
        trigger: described(
          v.picklist(TRIGGERS),
          'Why the attempt was made: on the `schedule`, because of a `redelivery` or `recovery`, or as a `test`.',
        ),
        at: described(timestamp, 'When the attempt started.'),
        status_code: described(
          v.nullable(v.pipe(v.number(), v.integer())),
          'The status code of the response; `null` if there was none.',
        ),
        error: described(
          v.nullable(v.string()),
          'What went wrong: one of the codes under [delivery failures](docs/errors#delivery-failures).',
        ),
        duration_ms: described(v.number(), 'Milliseconds until the response or the failure.'),
        response_excerpt: described(v.nullable(v.string()), 'At most the first KiB of the response body.'),
      }),
    ),
    'All attempts, oldest first, those of redeliveries included.',
  ),
  next_attempt_at: described(v.nullable(timestamp), 'When the next attempt is due.'),
  created_at: described(timestamp, 'When the first attempt started.'),
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
