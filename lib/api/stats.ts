import * as v from 'valibot';
import { LATENCY_BOUNDS_MS } from '../deliveries/latency.ts';
import { COUNTERS, PERIODS } from '../deliveries/stats.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { idOf } from '../ids.ts';
import { described, oneOf, timestamp, timestampInput } from '../schema.ts';
import { listOf, operation, page, WRITERS } from './operation.ts';

const count = (meaning: string) => described(v.pipe(v.number(), v.integer()), meaning);
const MEANINGS: Record<(typeof COUNTERS)[number], string> = {
  delivered: 'Deliveries that succeeded.',
  attempts_failed: 'Attempts that failed.',
  failed: 'Deliveries of which all attempts failed.',
  skipped: 'Deliveries that were not attempted, as the webhook was disabled when the event happened.',
  canceled: 'Deliveries whose next attempt was canceled, because the webhook was disabled.',
};
const counters = Object.fromEntries(COUNTERS.map((name) => [name, count(MEANINGS[name])])) as Record<
  (typeof COUNTERS)[number],
  ReturnType<typeof count>
>;
const percentile = (share: string) =>
  described(
    v.nullable(v.pipe(v.number(), v.integer())),
    `${share} of the successful attempts took at most so many milliseconds; \`null\` if there was none.`,
  );

/** The member that groups the stats. */
export const GROUPINGS = ['at', 'webhook_id'] as const;

/** The stats of one webhook, event type and hour or day, or a sum of them. */
export const StatsResource = v.strictObject({
  at: described(timestamp, 'The start of the hour or day (UTC). With `group_by=webhook_id`, the start of the range.'),
  webhook_id: described(v.nullable(v.string()), 'The webhook; `null` is the sum of all of them (`group_by=at`).'),
  type: described(
    v.nullable(v.picklist(EVENT_TYPES)),
    'The type of the events; `null` is the sum of all of them (`group_by` without `type`).',
  ),
  ...counters,
  latency_ms: described(
    v.strictObject({
      p50: percentile('50 %'),
      p95: percentile('95 %'),
      p99: percentile('99 %'),
      histogram: described(
        v.nullable(v.array(v.strictObject({ le: count('Milliseconds.'), count: count('Attempts.') }))),
        'The number of successful attempts that took at most `le` milliseconds and more than the previous bound. Empty buckets are omitted. You can add up histograms, but not percentiles. `null` without `group_by`.',
      ),
    }),
    `Percentiles of a histogram. They are one of its bounds: ${LATENCY_BOUNDS_MS.join(', ')}.`,
  ),
});

export const statOperations = {
  getStats: operation({
    function: 'webhooks',
    callers: WRITERS,
    method: 'GET',
    path: '/v1/stats',
    summary: 'Count what happened to deliveries, by hour or day',
    query: {
      cursor: page.cursor,
      webhook_id: v.optional(described(idOf('whk'), 'Only this webhook. The default is all webhooks.')),
      type: v.optional(described(oneOf(EVENT_TYPES), 'Only events of this type.')),
      from: v.optional(
        described(
          timestampInput,
          'Starts with the hour or day of this time. The default is the last 24 hours or 30 days.',
        ),
      ),
      to: v.optional(described(timestampInput, 'Ends before this time. The default is now.')),
      by: v.optional(
        described(oneOf(PERIODS), '`hour` (default), kept for 30 days, or `day` (UTC), kept for 400 days.'),
      ),
      group_by: v.optional(
        described(
          oneOf(GROUPINGS),
          'Adds up, percentiles included: `at` all webhooks and types in each hour or day, `webhook_id` the whole time and all types of each webhook. By default each webhook, type, and hour or day is an entry.',
        ),
      ),
    },
    responses: { 200: listOf(StatsResource) },
    problems: ['not_found'],
  }),
};
