import { describe, expect, it } from 'vitest';
import { put } from '../../../lib/aws/expressions.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import type { Turn } from '../../../lib/deliveries/rate-limit.ts';
import { takeSlots } from '../../../lib/deliveries/rate-limit-store.ts';
import { HOUR_MS, newId, now } from './builders.ts';
import { newStore } from './stores.ts';

const fresh = { isTest: false };
const untilOf = (turn: Turn, at: number) => (turn === 'skip' ? 'skip' : turn && turn.untilMs - at);
const requests = (count: number) => Array.from({ length: count }, () => fresh);

const { table, lossy } = newStore();

describe('rate limits', () => {
  /** Returns the milliseconds until the slot of each request, `null` for a token, or `skip`. */
  const take = async (webhookId: string, limit: number, count: number, at = now, from = table) =>
    (await takeSlots(from, webhookId, limit, requests(count), at)).map((turn) => untilOf(turn, at));

  it.each([
    ['a new webhook', false],
    ['a webhook after a pause', true],
  ])('gives the tokens and slots of concurrent writers once: %s', async (_, isUsed) => {
    const id = newId('whk');
    if (isUsed) await take(id, 4, 1, now - HOUR_MS);
    const taken = (await Promise.all(Array.from({ length: 12 }, () => take(id, 4, 2)))).flat();
    expect(taken.filter((wait) => wait === null)).toHaveLength(5);
    const slots = taken.filter((wait) => typeof wait === 'number').sort((a, b) => a - b);
    expect(slots).toEqual(Array.from({ length: 19 }, (_, i) => 250 * (i + 1)));
  });

  it('keeps the tokens that a writer takes while another one books slots', async () => {
    const id = newId('whk');
    await take(id, 1, 20);
    const later = now + 5000;
    const due = { slot: { at: later, maxPerSecond: 1 }, isTest: false };
    const taken = [takeSlots(table, id, 1, [due, due], later), take(id, 1, 1, later)];
    expect((await Promise.all(taken))[0]).toEqual([null, null]);
    expect(await takeSlots(table, id, 1, [due], later)).not.toEqual([null]);
  });

  it('books at most an hour, also for concurrent writers, and more as the hour passes', async () => {
    const id = newId('whk');
    expect((await take(id, 1, 3600)).at(-1)).toBe(3_598_000);
    const taken = (await Promise.all(Array.from({ length: 8 }, () => take(id, 1, 2)))).flat();
    expect(taken.filter((wait) => typeof wait === 'number').sort()).toEqual([3_599_000, 3_600_000]);
    expect(taken.filter((wait) => wait === 'skip')).toHaveLength(14);
    expect(await take(id, 1, 2, now + 1000)).toEqual([HOUR_MS, 'skip']);
  });

  it('starts a new queue if an earlier release booked days ahead', async () => {
    const id = newId('whk');
    const key = itemKey.slots(id);
    await table.write([put({ ...key, maxPerSecond: 1, usedUntil: now, bookedUntil: now + 100 * HOUR_MS })]);
    const taken = (await Promise.all(Array.from({ length: 4 }, () => take(id, 1, 1)))).flat().sort();
    expect(taken).toEqual([1000, 2000, null, null]);
  });

  it('starts a new queue when the limit changes', async () => {
    const id = newId('whk');
    await take(id, 1, 100);
    expect(await take(id, 10, 2)).toEqual([1000, 1100]);
    expect(await take(id, 10, 1)).toEqual([1200]);
    expect(await Promise.all([take(id, 1, 1), take(id, 10, 2)])).toEqual([[1000], [1000, 1100]]);
  });

  it('takes other slots after a lost response, and never gives one twice', async () => {
    const id = newId('whk');
    const first = await take(id, 2, 2, now, lossy);
    const second = await take(id, 2, 2, now, lossy);
    const slots = [...first, ...second].filter((wait) => wait !== null);
    expect(new Set(slots).size).toBe(slots.length);
  });
});
