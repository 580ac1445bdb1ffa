import * as v from 'valibot';
import { DocumentKey } from '../documents/document.ts';
import { eventParameter } from '../events/event.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { KIB, listOf, operationsOf, pageQuery } from '../http/operation.ts';
import { idOf } from '../ids.ts';
import { alternatives, described, oneOf, resource, timestamp, timestampInput, wholeNumber } from '../schema.ts';
import { webhookParameter } from '../webhooks/webhook.ts';
import { LATENCY_BOUNDS_MS } from './latency.ts';
import { DeliveryResource } from './record.ts';
import { recoveryOperations } from './recovery-operations.ts';
import { DELIVERY_STATUSES } from './retry-schedule.ts';
import { deliveryRoutes, eventDeliveryRoutes } from './routes.ts';
import { type Counter, PERIODS } from './stats.ts';

const webhook = { parameters: { id: webhookParameter }, maxBodyBytes: 64 * KIB } as const;
const delivery = { ...webhook, parameters: { id: webhookParameter, event_id: eventParameter } } as const;

const count = (meaning: string) => described(wholeNumber(), meaning);
const counters = {
  delivered: count('Deliveries that succeeded in this period, including recovered ones that were undelivered before.'),
  attempts_failed: count('Attempts that failed.'),
  failed: count(
    'Deliveries that became `failed` in this period, because the last attempt failed or the event expired. Later successes do not change this count. The `undelivered` of a webhook counts what is undelivered now.',
  ),
  skipped: count('Deliveries that were skipped in this period. Their `reason` is the cause.'),
  canceled: count('Deliveries whose next attempt was canceled in this period. Their `reason` is the cause.'),
} satisfies Record<Counter, v.GenericSchema>;
const percentile = (rank: string) =>
  described(
    v.nullable(wholeNumber()),
    `The ${rank} percentile of the duration of successful attempts in milliseconds; \`null\` if no attempt succeeded.`,
  );

/** The member that groups the stats. */
const GROUPINGS = ['at', 'webhook_id'] as const;

/** The stats of one webhook, event type and hour or day, or a sum of them. */
const StatsResource = resource('Stats', {
  at: described(timestamp, 'The start of the hour or day (UTC). With `group_by=webhook_id`, the start of the range.'),
  webhook_id: described(v.nullable(v.string()), 'The webhook; `null` for the sum of all webhooks (`group_by=at`).'),
  type: described(
    v.nullable(v.picklist(EVENT_TYPES)),
    'The type of the events; `null` for the sum of all types (`group_by` without `type`).',
  ),
  ...counters,
  latency_ms: described(
    v.object({
      p50: percentile('50th'),
      p95: percentile('95th'),
      p99: percentile('99th'),
      histogram: described(
        v.nullable(v.array(v.object({ le: count('Milliseconds.'), count: count('Attempts.') }))),
        'Successful attempts that took at most `le` milliseconds and more than the previous bound. Empty buckets are omitted. You can add up histograms, but not percentiles. `null` without `group_by`.',
      ),
    }),
    `Percentiles and histogram of the duration. Each percentile is one of the bounds of the histogram: ${LATENCY_BOUNDS_MS.join(', ')}.`,
  ),
});

/** The operation of an event that shows its deliveries. */
export const eventDeliveryOperations = operationsOf(eventDeliveryRoutes, {
  listEventDeliveries: {
    parameters: { id: eventParameter },
    summary: 'List the deliveries of an event, one for each webhook',
    query: pageQuery,
    responses: { 200: listOf(DeliveryResource) },
  },
});

export const deliveryOperations = {
  ...recoveryOperations,
  ...operationsOf(deliveryRoutes, {
    listDeliveries: {
      ...webhook,
      summary: 'List the deliveries, newest first',
      query: {
        ...pageQuery,
        status: v.optional(
          described(
            alternatives(DELIVERY_STATUSES),
            'Only deliveries with this status. Repeat it for several statuses. A delivery appears after its first attempt. Before that, the deliveries of the event list it as `pending`.',
          ),
        ),
        type: v.optional(
          described(
            alternatives(EVENT_TYPES),
            'Only deliveries of events of this type. Repeat it for events of several types.',
          ),
        ),
        document_key: v.optional(
          described(DocumentKey, 'Only deliveries of events of this document. Test events have no document.'),
        ),
        since: v.optional(described(timestampInput, 'Only deliveries of events at this time or later.')),
        until: v.optional(described(timestampInput, 'Only deliveries of events before this time.')),
      },
      responses: { 200: listOf(DeliveryResource) },
    },
    getDelivery: {
      ...delivery,
      summary: 'Read a delivery with every attempt',
      responses: { 200: DeliveryResource },
    },
    redeliver: {
      ...delivery,
      summary: 'Redeliver an event with the full retry schedule',
      responses: { 202: DeliveryResource },
      problems: ['conflict'],
      idempotencyKey: true,
    },
    getStats: {
      summary: 'Get delivery stats by hour or day',
      query: {
        cursor: pageQuery.cursor,
        webhook_id: v.optional(
          described(
            idOf('whk'),
            'Only this webhook. The default is all webhooks. Deleting a webhook removes its deliveries from the stats, also from past ones.',
          ),
        ),
        type: v.optional(described(oneOf(EVENT_TYPES), 'Only events of this type.')),
        from: v.optional(
          described(
            timestampInput,
            'The start of the range, rounded down to the hour or day. The default is 24 hours or 30 days ago.',
          ),
        ),
        to: v.optional(described(timestampInput, 'The end of the range, exclusive. The default is now.')),
        by: v.optional(
          described(oneOf(PERIODS), '`hour` (default), kept for 30 days, or `day` (UTC), kept for 400 days.'),
        ),
        group_by: v.optional(
          described(
            oneOf(GROUPINGS),
            'Adds up the stats, including percentiles. `at` returns one entry for each hour or day. `webhook_id` returns one entry for each webhook, for the whole range. By default, each combination of webhook, type, and hour or day is an entry.',
          ),
        ),
      },
      responses: { 200: listOf(StatsResource) },
      problems: ['not_found'],
    },
  }),
};
