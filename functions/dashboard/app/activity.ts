import { all, type Call, type EntryOf, type Result, type Webhook } from './api.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Pages of figures that are read at most: 30 days of 100 webhooks and all types are fewer. */
const MAX_PAGES = 200;

type Figure = EntryOf<'GET /v1/stats'>;

/** Deliveries that ended in a span of time, by outcome. */
export interface Counts {
  delivered: number;
  failed: number;
  /** Canceled or skipped: the webhook was disabled. */
  unsent: number;
}
export const KINDS = ['delivered', 'failed', 'unsent'] as const;

/** What happened to the deliveries of one webhook, or of all of them. */
export interface Summary {
  counts: Counts;
  attemptsFailed: number;
  /** Milliseconds of the slowest hour or day; `null` without a success. */
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

export interface Activity {
  webhooks: Webhook[];
  /** Oldest first; each starts at `from`. */
  spans: { from: number; counts: Counts }[];
  total: Summary;
  byWebhook: ReadonlyMap<string, Summary>;
}

const SPAN_MS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const;
const startOf = ({ by, spans }: Period): number => (Math.floor(Date.now() / SPAN_MS[by]) - spans + 1) * SPAN_MS[by];

/** What happened to the deliveries of one webhook in a period that ends now. */
export async function readSummary(call: Call, webhookId: string, period: Period): Promise<Result<Summary>> {
  const from = new Date(startOf(period)).toISOString();
  const { value, problem } = await readFigures(call, { by: period.by, from, webhook_id: webhookId });
  if (problem) return { problem };
  const summary = nothing();
  for (const figure of value) addTo(summary, figure);
  return { value: summary };
}

/** The figures of an environment for a period that ends now. */
export async function readActivity(call: Call, { by, spans }: Period): Promise<Result<Activity>> {
  const spanMs = SPAN_MS[by];
  const first = startOf({ by, spans });
  const [webhooks, figures] = await Promise.all([
    all(call, 'GET /v1/webhooks'),
    readFigures(call, { by, from: new Date(first).toISOString() }),
  ]);
  const problem = webhooks.problem ?? figures.problem;
  if (problem) return { problem };
  const activity = {
    webhooks: webhooks.value ?? [],
    spans: Array.from({ length: spans }, (_, i) => ({ from: first + i * spanMs, counts: noCounts() })),
    total: nothing(),
    byWebhook: new Map<string, Summary>(),
  };
  for (const figure of figures.value ?? []) {
    const own = activity.byWebhook.get(figure.webhook_id) ?? nothing();
    activity.byWebhook.set(figure.webhook_id, own);
    addTo(own, figure);
    addTo(activity.total, figure);
    const span = activity.spans[Math.floor((Date.parse(figure.at) - first) / spanMs)];
    if (span) count(span.counts, figure);
  }
  return { value: activity };
}

const noCounts = (): Counts => ({ delivered: 0, failed: 0, unsent: 0 });
const nothing = (): Summary => ({ counts: noCounts(), attemptsFailed: 0, p95: null });

function count(counts: Counts, { delivered, failed, skipped, canceled }: Figure): void {
  counts.delivered += delivered;
  counts.failed += failed;
  counts.unsent += skipped + canceled;
}

function addTo(summary: Summary, figure: Figure): void {
  count(summary.counts, figure);
  summary.attemptsFailed += figure.attempts_failed;
  const { p95 } = figure.latency_ms;
  if (p95 !== null) summary.p95 = Math.max(summary.p95 ?? 0, p95);
}

/** The share of the deliveries that ended which succeeded, from 0 to 1; `null` if none ended. */
export function shareDelivered({ counts }: Summary): number | null {
  const all = KINDS.reduce((sum, kind) => sum + counts[kind], 0);
  return all === 0 ? null : counts.delivered / all;
}

/** That share, such as `99.5 %`; `–` without any. */
export function successRate(summary: Summary): string {
  const share = shareDelivered(summary);
  // Never rounded up to 100.
  return share === null ? '–' : `${(Math.floor(share * 1000) / 10).toLocaleString()} %`;
}

type FiguresOf = { by: Period['by']; from: string; webhook_id?: string };

async function readFigures(call: Call, query: FiguresOf): Promise<Result<Figure[]>> {
  const figures: Figure[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { value, problem } = await call('GET /v1/stats', { query: { ...query, cursor } });
    if (problem) return { problem };
    figures.push(...value.data);
    if (value.next_cursor === null) break;
    cursor = value.next_cursor;
  }
  return { value: figures };
}
