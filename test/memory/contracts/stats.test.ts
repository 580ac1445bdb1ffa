import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { PERIOD_MS, STATS_KEPT_MS, type Tally } from '../../../lib/deliveries/stats.ts';
import { stats } from '../../../lib/deliveries/stats-store.ts';
import { DAY_MS, HOUR_MS, newId, now } from './builders.ts';
import { newStore } from './stores.ts';

const { table, short } = newStore();

describe('stats', () => {
  const store = stats(table);
  const entry = (sequence: number, counts: Record<string, number> = { document_changed_delivered: 1 }) => ({
    sequence: String(sequence),
    counts,
  });
  const ofHour = (webhookId: string, ...sequences: number[]): Tally => ({
    webhookId,
    period: 'hour',
    start: now,
    entries: sequences.map((sequence) => entry(sequence)),
  });
  const delivered = async (webhookId: string) =>
    (await store.list(webhookId, { by: 'hour', from: now, to: now + 1 })).map(
      ({ counts }) => counts.document_changed_delivered,
    );

  it.each([
    ['the same batch', [1, 2, 3], [1, 2, 3], 3],
    ['a shorter one', [1, 2, 3], [1, 2], 3],
    ['a longer one', [1, 2, 3], [1, 2, 3, 4, 5], 5],
    ['one that begins later', [1, 2, 3], [3, 4], 4],
    ['one with longer numbers', [8, 9], [9, 10, 11], 4],
    ['nothing', [1, 2], [], 2],
  ])('do not change if %s is repeated', async (_, first, again, sum) => {
    const id = newId('whk');
    await store.add(ofHour(id, ...first), 'shard-1');
    await store.add(ofHour(id, ...again), 'shard-1');
    await store.add(ofHour(id, ...first), 'shard-1');
    expect(await delivered(id)).toEqual([sum]);
  });

  it.each(['hour', 'day'] as const)('of each %s are listed, oldest first, as long as they are kept', async (period) => {
    const id = newId('whk');
    const first = now - (now % DAY_MS);
    const starts = [0, 1, 2, 3].map((i) => first + i * PERIOD_MS[period]);
    for (const start of starts) await store.add({ ...ofHour(id, 1), period, start }, 'shard-1');
    for (const from of [stats(table), stats(short)]) {
      const found = await from.list(id, { by: period, from: starts[1] ?? 0, to: starts[3] ?? 0 });
      expect(found.map(({ start }) => start)).toEqual(starts.slice(1, 3));
    }
    expect((await table.get(itemKey.stats(id, period, first)))?.expires).toBe(
      (first + PERIOD_MS[period] + STATS_KEPT_MS[period]) / 1000,
    );
    const other = period === 'hour' ? 'day' : 'hour';
    expect(await store.list(id, { by: other, from: first - HOUR_MS, to: now + DAY_MS })).toEqual([]);
  });
});
