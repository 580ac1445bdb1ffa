import { histogramOfBars, latencyPercentile } from '../../../../lib/deliveries/latency.ts';
import {
  type Call,
  type EntryOf,
  type QueryOf,
  type Result,
  readPages,
  serverNow,
  type Webhook,
} from '../state/api.ts';

const HOUR_MS = 60 * 60 * 1000;

type Entry = EntryOf<'GET /v1/stats'>;

/** Deliveries that ended in a span of time, by outcome. */
export interface Counts {
  delivered: number;
  failed: number;
  /** Canceled or skipped deliveries, because the webhook was disabled or overloaded. */
  unsent: number;
  /** Canceled or skipped deliveries of a webhook that a person has paused. */
  paused: number;
}
export const KINDS = ['delivered', 'failed', 'unsent', 'paused'] as const;

/** Counts of deliveries in a period. */
export interface Summary {
  counts: Counts;
  attemptsFailed: number;
  /** Milliseconds, or `null` without a success. */
  p50: number | null;
  p95: number | null;
}

export interface Period {
  by: 'hour' | 'day';
  spans: number;
}
export const PERIODS = {
  '24 hours': { by: 'hour', spans: 24 },
  '7 days': { by: 'day', spans: 7 },
  '30 days': { by: 'day', spans: 30 },
} as const satisfies Record<string, Period>;

export type PeriodName = keyof typeof PERIODS;

/** Counts of deliveries over time. */
export interface Stats {
  /** Oldest first. Each span starts at `from`, and lasts until the next one. */
  spans: { from: number; until: number; summary: Summary }[];
  total: Summary;
}

const SPAN_MS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const;
const startOf = ({ by, spans }: Period): number => (Math.floor(serverNow() / SPAN_MS[by]) - spans + 1) * SPAN_MS[by];

/** At most this many paused webhooks are read. */
const MAX_PAUSED = 10;

/** The webhooks whose stats are read: all of them or one, and those that a person has paused. */
interface Scope {
  webhookId?: string;
  pausedIds: readonly string[];
}

export const isPaused = ({ disabled_reason }: Pick<Webhook, 'disabled_reason'>): boolean =>
  disabled_reason === 'paused';

/** Reads the counts of an environment, or of one webhook, in a period that ends now. */
export async function readStats(call: Call, period: Period, { webhookId, pausedIds }: Scope): Promise<Result<Stats>> {
  const read = (id?: string) => readEntries(call, period, { group_by: 'at', webhook_id: id } as const);
  const ofPaused = webhookId ? [] : pausedIds.slice(0, MAX_PAUSED);
  const [all, ...others] = await Promise.all([read(webhookId), ...ofPaused.map(read)]);
  if (all?.problem) return { problem: all.problem };
  const { start, entries } = all?.value ?? NO_ENTRIES;
  const paused =
    webhookId && pausedIds.includes(webhookId) ? entries : others.flatMap(({ value }) => value?.entries ?? []);
  const spans = Array.from({ length: period.spans }, (_, i) => {
    const from = start + i * SPAN_MS[period.by];
    const isIn = ({ at }: Entry) => Date.parse(at) === from;
    return { from, until: from + SPAN_MS[period.by], summary: summaryOf(entries.filter(isIn), paused.filter(isIn)) };
  });
  return { value: { spans, total: summaryOf(entries, paused) } };
}

/** Reads the counts of each webhook in a period that ends now. Webhooks without deliveries are missing. */
export async function readSummaries(call: Call, period: Period): Promise<Result<ReadonlyMap<string, Summary>>> {
  const { value, problem } = await readEntries(call, period, { group_by: 'webhook_id' });
  if (problem) return { problem };
  return { value: new Map(value.entries.map((entry) => [entry.webhook_id ?? '', summaryOf([entry])])) };
}

/** `paused` has the entries of webhooks that a person has paused, which `entries` contains too. */
function summaryOf(entries: readonly Entry[], paused: readonly Entry[] = []): Summary {
  const sum = (countOf: (entry: Entry) => number) => entries.reduce((total, entry) => total + countOf(entry), 0);
  const unsentOf = ({ skipped, canceled }: Entry) => skipped + canceled;
  const unsentInPause = paused.reduce((total, entry) => total + unsentOf(entry), 0);
  const histogram = histogramOfBars(entries.flatMap(({ latency_ms }) => latency_ms.histogram ?? []));
  return {
    counts: {
      delivered: sum(({ delivered }) => delivered),
      failed: sum(({ failed }) => failed),
      unsent: Math.max(0, sum(unsentOf) - unsentInPause), // the responses are not of one moment
      paused: unsentInPause,
    },
    attemptsFailed: sum(({ attempts_failed }) => attempts_failed),
    p50: latencyPercentile(histogram, 0.5),
    p95: latencyPercentile(histogram, 0.95),
  };
}

/** The share of successful attempts, from 0 to 1. `null` without attempts. Each success ends a delivery. */
export function successShare({ counts: { delivered }, attemptsFailed }: Summary): number | null {
  const attempts = delivered + attemptsFailed;
  return attempts === 0 ? null : delivered / attempts;
}

const UNSTABLE_BELOW = 0.95;
const UNSTABLE_ATTEMPTS = 20;

/**
 * Whether enough attempts of the last 24 hours failed to look into it, although each success ends an outage. A webhook whose endpoint has
 * received everything is repaired.
 */
export function isUnstable(
  { undelivered, retrying }: Pick<Webhook, 'undelivered' | 'retrying'>,
  summary: Summary | undefined,
): boolean {
  if (undelivered + retrying === 0 || !summary || summary.counts.delivered + summary.attemptsFailed < UNSTABLE_ATTEMPTS)
    return false;
  return (successShare(summary) ?? 1) < UNSTABLE_BELOW;
}

/** Formats the share, such as `99.5 %`, or `–` without attempts. */
export function successRate(summary: Summary): string {
  const share = successShare(summary);
  // Never rounded up to 100.
  return share === null ? '–' : `${(Math.floor(share * 1000) / 10).toLocaleString()} %`;
}

/** Formats a percentile. It is the upper bound of a bar of the histogram, so the value is at most this. */
export function latencyText(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 1000 ? `≤ ${ms} ms` : `≤ ${(ms / 1000).toLocaleString()} s`;
}

type Grouping = Pick<QueryOf<'GET /v1/stats'>, 'group_by' | 'webhook_id'>;

interface Entries {
  /** The start of the period. */
  start: number;
  entries: Entry[];
}
const NO_ENTRIES: Entries = { start: 0, entries: [] };

/** Reads again if the period has moved, because the first response of a page corrects the clock of the user. */
async function readEntries(call: Call, period: Period, grouping: Grouping): Promise<Result<Entries>> {
  const start = startOf(period);
  const query = { ...grouping, by: period.by, from: new Date(start).toISOString() };
  const read = (cursor: string | undefined) => call('GET /v1/stats', { query: { ...query, cursor } });
  const { value: entries, problem } = await readPages(read);
  if (startOf(period) !== start) return readEntries(call, period, grouping);
  return problem ? { problem } : { value: { start, entries } };
}
