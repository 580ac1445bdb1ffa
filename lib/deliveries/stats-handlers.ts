import type { Backend } from '../aws/backend.ts';
import { EVENT_TYPES, type EventType } from '../events/types.ts';
import { page } from '../http/page.ts';
import { invalid, notFound, type Problem } from '../http/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { cursorsOf } from '../projects/cursors.ts';
import { iso } from '../schema.ts';
import { allWebhooks, webhooks as webhooksIn } from '../webhooks/store.ts';
import { type Bar, barsOf, latencyPercentile } from './latency.ts';
import type { deliveryOperations } from './operations.ts';
import {
  countersOf,
  histogramOf,
  PERIOD_MS,
  type Period,
  type PeriodCounts,
  periodStart,
  STATS_KEPT_MS,
  type StatsRange,
  sumOf,
} from './stats.ts';
import { stats as statsIn } from './stats-store.ts';

const DEFAULT_PERIODS: Readonly<Record<Period, number>> = { hour: 24, day: 30 };

/** The maximum items per response, for 31 days of 100 webhooks. With 250 bytes for each type, the response has 4.7 MB. */
const MAX_ITEMS = 3100;

/** The stats of webhooks. A page contains all stats of some webhooks. A page of sums over webhooks contains a part of the time. */
export function statsHandlers({
  table,
  clock,
  random,
}: Backend): Pick<Handlers<typeof deliveryOperations>, 'getStats'> {
  const webhooks = webhooksIn(table);
  const stats = statsIn(table);
  const cursors = cursorsOf(table, random);
  return {
    async getStats(request) {
      const { space, query } = request;
      const { webhook_id: webhookId, type, by = 'hour', group_by: groupBy, to = clock() } = query;
      const from = periodStart(by, query.from ?? to - DEFAULT_PERIODS[by] * PERIOD_MS[by]);
      const problem = violationOf(by, from, to);
      if (problem) return problem;
      const only = webhookId === undefined ? undefined : await webhooks.get(space, webhookId);
      if (webhookId !== undefined && !only) return notFound('webhook');
      const types = type ? [type] : EVENT_TYPES;
      const groups = groupBy ? [types] : types.map((each) => [each]);
      return page(request, cursors, async (_limit, after) => {
        const ids = (only ? [only] : await allWebhooks(table, space)).map(({ id }) => id);
        if (groupBy === 'at') {
          const window = partOf({ by, from, to }, ids.length, after);
          const periods = await Promise.all(ids.map((id) => stats.list(id, window)));
          const data = sumsByStart(periods.flat()).flatMap((sum) => entriesOf(sum, webhookId ?? null, groups, barsOf));
          return { data, next: window.to < to ? String(window.to) : undefined };
        }
        const rest = ids.filter((id) => after === undefined || id > after);
        const some = rest.slice(0, Math.max(1, Math.floor(MAX_ITEMS / periodsIn({ by, from, to }))));
        const data = some.map(async (id) => {
          const periods = await stats.list(id, { by, from, to });
          if (groupBy) return entriesOf({ start: from, counts: sumOf(periods) }, id, groups, barsOf);
          return periods.flatMap((counted) => entriesOf(counted, id, groups, () => null));
        });
        return { data: (await Promise.all(data)).flat(), next: some.length < rest.length ? some.at(-1) : undefined };
      });
    },
  };
}

function violationOf(by: Period, from: number, to: number): Problem | undefined {
  if (from >= to) return invalid([{ field: 'from', detail: 'must be before to' }]);
  const periodsMax = STATS_KEPT_MS[by] / PERIOD_MS[by];
  if (to - from <= STATS_KEPT_MS[by] + PERIOD_MS[by]) return undefined;
  return invalid([{ field: 'from', detail: `must be at most ${periodsMax} ${by}s before to` }]);
}

const periodsIn = ({ by, from, to }: StatsRange): number => Math.ceil((to - from) / PERIOD_MS[by]);

/** The part of a window that one request can read for a number of webhooks, from a position. */
function partOf({ by, from, to }: StatsRange, webhooks: number, after: string | undefined): StatsRange {
  const start = after === undefined ? from : Number(after);
  const periods = Math.floor(MAX_ITEMS / Math.max(1, webhooks));
  return { by, from: start, to: Math.min(to, start + periods * PERIOD_MS[by]) };
}

/** The sum of each hour or day, oldest first. */
const sumsByStart = (periods: readonly PeriodCounts[]): PeriodCounts[] =>
  [...Map.groupBy(periods, ({ start }) => start)]
    .map(([start, counts]) => ({ start, counts: sumOf(counts) }))
    .sort((a, b) => a.start - b.start);

/** Returns an entry for each group of types with counts. */
function entriesOf(
  { start, counts }: PeriodCounts,
  webhookId: string | null,
  groups: readonly (readonly EventType[])[],
  bars: (histogram: readonly number[]) => Bar[] | null,
) {
  return groups.flatMap((types) => {
    const counters = countersOf(counts, types);
    if (Object.values(counters).every((count) => count === 0)) return [];
    const [type = null, ...others] = types;
    const histogram = histogramOf(counts, types);
    return {
      at: iso(start),
      webhook_id: webhookId,
      type: others.length > 0 ? null : type,
      ...counters,
      latency_ms: {
        p50: latencyPercentile(histogram, 0.5),
        p95: latencyPercentile(histogram, 0.95),
        p99: latencyPercentile(histogram, 0.99),
        histogram: bars(histogram),
      },
    };
  });
}
