import { all, type Call, type Delivery, type Result, type Webhook } from './api.ts';

/** At most this many pages of 100 deliveries are read per webhook. */
const MAX_PAGES = 5;
const HOUR_MS = 60 * 60 * 1000;

/** Deliveries created in a span of time, by outcome. */
export interface Counts {
  succeeded: number;
  retrying: number;
  failed: number;
  /** Canceled or skipped: the webhook was disabled. */
  unsent: number;
}
export const KINDS = ['succeeded', 'retrying', 'failed', 'unsent'] as const;

const KIND_OF: Record<Delivery['status'], keyof Counts> = {
  pending: 'retrying',
  retrying: 'retrying',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'unsent',
  skipped: 'unsent',
};

export interface Activity {
  webhooks: Webhook[];
  /** Oldest first; each starts at `from`. */
  spans: { from: number; counts: Counts }[];
  total: Counts;
  /** Number of deliveries waiting for another attempt, by webhook id. */
  retrying: Map<string, number>;
  /** At least one log was too long to read in full. */
  isPartial: boolean;
}

/** Counts the deliveries of the last `hours` to all webhooks of an environment, in 24 spans. */
export async function readActivity(
  call: Call,
  hours: number,
  onProgress: (done: number, of: number) => void,
): Promise<Result<Activity>> {
  const { value: webhooks, problem } = await all(call, 'GET /v1/webhooks');
  if (problem) return { problem };
  const spanMs = (hours / 24) * HOUR_MS;
  const end = Math.ceil(Date.now() / spanMs) * spanMs;
  const since = end - 24 * spanMs;
  const activity: Activity = {
    webhooks,
    spans: Array.from({ length: 24 }, (_, i) => ({ from: since + i * spanMs, counts: noCounts() })),
    total: noCounts(),
    retrying: new Map(),
    isPartial: false,
  };
  const count = ({ webhook_id, status, test, created_at }: Delivery) => {
    if (test) return;
    const kind = KIND_OF[status];
    const span = activity.spans[Math.floor((Date.parse(created_at) - since) / spanMs)];
    if (!span) return;
    span.counts[kind]++;
    activity.total[kind]++;
    if (kind === 'retrying') activity.retrying.set(webhook_id, (activity.retrying.get(webhook_id) ?? 0) + 1);
  };
  let done = 0;
  const logs = webhooks.map(async ({ id }) => {
    const log = await readLog(call, id, new Date(since).toISOString());
    for (const delivery of log.value?.deliveries ?? []) count(delivery);
    activity.isPartial ||= log.value?.isPartial ?? false;
    onProgress(++done, webhooks.length);
    return log.problem;
  });
  const failed = (await Promise.all(logs)).find(Boolean);
  return failed ? { problem: failed } : { value: activity };
}

const noCounts = (): Counts => ({ succeeded: 0, retrying: 0, failed: 0, unsent: 0 });

async function readLog(
  call: Call,
  id: string,
  since: string,
): Promise<Result<{ deliveries: Delivery[]; isPartial: boolean }>> {
  const deliveries: Delivery[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { limit: '100', since, cursor };
    const { value, problem } = await call('GET /v1/webhooks/{id}/deliveries', { path: { id }, query });
    if (problem) return { problem };
    deliveries.push(...value.data);
    if (value.next_cursor === null) return { value: { deliveries, isPartial: false } };
    cursor = value.next_cursor;
  }
  return { value: { deliveries, isPartial: true } };
}
