import { EVENT_TYPES, type EventType } from '../events/types.ts';
import { type Attempt, isSuccess } from './attempt.ts';
import { LATENCY_BOUNDS_MS } from './latency.ts';
import type { DeliveryRecord } from './record.ts';

/** The periods of stats. */
export const PERIODS = ['hour', 'day'] as const;
export type Period = (typeof PERIODS)[number];

export const PERIOD_MS: Readonly<Record<Period, number>> = { hour: 60 * 60 * 1000, day: 24 * 60 * 60 * 1000 };
/** For how long stats are kept. */
export const STATS_KEPT_MS: Readonly<Record<Period, number>> = {
  hour: 30 * PERIOD_MS.day,
  day: 400 * PERIOD_MS.day,
};

/** Deliveries and attempts that are counted. */
const COUNTERS = ['delivered', 'attempts_failed', 'failed', 'skipped', 'canceled'] as const;
export type Counter = (typeof COUNTERS)[number];

/** A counter or a bucket of the histogram. */
type CountId = Counter | `le_${(typeof LATENCY_BOUNDS_MS)[number]}`;

/** The increments of each counter and each histogram bucket of a type, by `countName`. */
export type Counts = Readonly<Record<string, number>>;

/** The name of a count, with letters, digits and underscores. */
export const countName = (type: EventType, id: CountId): string => `${type.replace('.', '_')}_${id}`;

/** A range of time, exclusive of its end. */
export interface StatsRange {
  by: Period;
  from: number;
  to: number;
}

/** The counts of the hour or day that starts at a time. */
export interface PeriodCounts {
  start: number;
  counts: Counts;
}

/** A change of a delivery in the stream of the table. */
export interface DeliveryChange {
  before: DeliveryRecord | undefined;
  after: DeliveryRecord;
  /** Greater than those of all earlier changes in the same shard of the stream, as text. */
  sequence: string;
}

/** The stats of one webhook in one period, with the counts of each change in the order of the changes. */
export interface Tally {
  webhookId: string;
  period: Period;
  /** When the period begins. */
  start: number;
  entries: { sequence: string; counts: Counts }[];
}

export const periodStart = (period: Period, atMs: number): number => atMs - (atMs % PERIOD_MS[period]);

/** Adds up changes, so that one write covers all changes of a period. Test events do not count. */
export function tally(changes: readonly DeliveryChange[]): Tally[] {
  const tallies = new Map<string, Tally>();
  for (const change of changes) {
    const counted = countsOf(change);
    if (!counted) continue;
    const { sequence, after } = change;
    const { webhookId } = after;
    for (const period of PERIODS) {
      const start = periodStart(period, counted.at);
      const id = `${webhookId} ${period} ${start}`;
      const own = tallies.get(id) ?? { webhookId, period, start, entries: [] };
      own.entries.push({ sequence, counts: counted.counts });
      tallies.set(id, own);
    }
  }
  return [...tallies.values()];
}

/** A change records an attempt, or ends a run without one, or neither. */
function countsOf({ before, after }: DeliveryChange): { at: number; counts: Counts } | null {
  const { attempts, eventType, status, run, test, endedAt } = after;
  if (test) return null;
  const attempt = attempts.at(-1);
  if (attempt && !isSame(attempt, before?.attempts.at(-1))) {
    const counted: CountId[] = isSuccess(attempt) ? ['delivered', latencyBar(attempt.durationMs)] : ['attempts_failed'];
    if (status === 'failed') counted.push('failed');
    return { at: attempt.at, counts: Object.fromEntries(counted.map((name) => [countName(eventType, name), 1])) };
  }
  const isEnded = before?.status !== status || before.run !== run;
  if (!isEnded || (status !== 'skipped' && status !== 'canceled' && status !== 'failed')) return null;
  return { at: endedAt ?? after.createdAt, counts: { [countName(eventType, status)]: 1 } };
}

// Attempts of one run have different numbers, and attempts of different runs have different times.
const isSame = (a: Attempt, b: Attempt | undefined): boolean => a.number === b?.number && a.at === b.at;

const latencyBar = (durationMs: number) =>
  `le_${LATENCY_BOUNDS_MS.find((bound) => durationMs <= bound) ?? LATENCY_BOUNDS_MS.at(-1)}` as CountId;

/** The sum of counts. */
export function sumOf(entries: readonly { counts: Counts }[]): Counts {
  const sum: Record<string, number> = {};
  for (const { counts } of entries)
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

const COUNT_IDS: readonly CountId[] = [...COUNTERS, ...LATENCY_BOUNDS_MS.map((bound): CountId => `le_${bound}`)];

/** Created once, because the stats of many webhooks use them thousands of times. */
const NAMES = Object.fromEntries(
  EVENT_TYPES.map((type) => [type, Object.fromEntries(COUNT_IDS.map((id) => [id, countName(type, id)]))]),
) as Record<EventType, Record<CountId, string>>;

/** The names of all numbers that are counted. */
export const COUNT_NAMES: ReadonlySet<string> = new Set(Object.values(NAMES).flatMap(Object.values<string>));

/** Adds up each counter for events of these types. */
export const countersOf = (counts: Counts, types: readonly EventType[]) =>
  Object.fromEntries(COUNTERS.map((counter) => [counter, sumOver(types, counts, counter)])) as Record<Counter, number>;

/** Adds up the histogram of successful attempts for events of these types. */
export const histogramOf = (counts: Counts, types: readonly EventType[]): number[] =>
  LATENCY_BOUNDS_MS.map((bound) => sumOver(types, counts, `le_${bound}`));

const sumOver = (types: readonly EventType[], counts: Counts, id: CountId): number =>
  types.reduce((sum, type) => sum + (counts[NAMES[type][id]] ?? 0), 0);
