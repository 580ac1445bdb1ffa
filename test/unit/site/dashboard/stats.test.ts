import { expect, it } from 'vitest';
import type { Call } from '../../../../functions/site/dashboard/state/api.ts';
import { PERIODS, readStats } from '../../../../functions/site/dashboard/webhooks/stats.ts';

/** The API with the skipped deliveries of each webhook in the current hour. */
function serving(skipped: Record<string, number>): Call {
  const call = async (_: string, { query }: { query: { webhook_id?: string } }) => {
    const counted = Object.entries(skipped).filter(([id]) => query.webhook_id === undefined || query.webhook_id === id);
    const counts = { delivered: 0, failed: 0, canceled: 1, attempts_failed: 0, latency_ms: {} };
    const at = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000).toISOString();
    return { value: { data: counted.map(([, count]) => ({ at, ...counts, skipped: count })), next_cursor: null } };
  };
  return call as unknown as Call;
}

it.each([
  ['of an environment without a pause', { pausedIds: [] }, { unsent: 9, paused: 0 }],
  ['of an environment', { pausedIds: ['b'] }, { unsent: 4, paused: 5 }],
  ['of a webhook', { webhookId: 'a', pausedIds: [] }, { unsent: 4, paused: 0 }],
  ['of a paused webhook', { webhookId: 'b', pausedIds: ['b'] }, { unsent: 0, paused: 5 }],
])('counts what a webhook misses because a person paused it apart from losses: %s', async (_, scope, counts) => {
  const { value } = await readStats(serving({ a: 3, b: 4 }), PERIODS['24 hours'], scope);
  expect(value?.total.counts).toMatchObject(counts);
  expect(value?.spans.at(-1)?.summary.counts).toMatchObject(counts);
});
