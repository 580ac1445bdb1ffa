import { describe, expect, it } from 'vitest';
import { put } from '../../../lib/aws/expressions.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import type { Turn } from '../../../lib/deliveries/rate-limit.ts';
import { rateLimits } from '../../../lib/deliveries/rate-limit-store.ts';
import { HOUR_MS, newId, now } from './builders.ts';
import { stores } from './stores.ts';

const fresh = { isTest: false };
const untilOf = (turn: Turn, at: number) => (turn === 'skip' ? 'skip' : turn && turn.untilMs - at);
const waitsIn = (turns: readonly Turn[]) => turns.flatMap((turn) => (turn && turn !== 'skip' ? turn : []));
const requests = (count: number) => Array.from({ length: count }, () => fresh);

describe.each(stores)('rate limits in $name', ({ table, lossy }) => {
  const own = rateLimits(table);
  const newMessage = () => ({ webhookId: newId('whk') });
  /** Returns the milliseconds until the slot of each request, `null` for a token, or `skip`. */
  const take = async (of: { webhookId: string }, limit: number, count: number, at = now, from = own) =>
    (await from.takeSlots(of, limit, requests(count), at)).map((turn) => untilOf(turn, at));

  it('gives tokens, then slots one interval apart, over several writes', async () => {
    const message = newMessage();
    expect(await take(message, 2, 2)).toEqual([null, null]);
    expect(await take(message, 2, 3)).toEqual([null, 500, 1000]);
    expect(await take(message, 2, 2)).toEqual([1500, 2000]);
    expect(await take(message, 2, 1, now + 10_000)).toEqual([null]);
  });

  it('gives the tokens and slots of concurrent writers once', async () => {
    const message = newMessage();
    const taken = (await Promise.all(Array.from({ length: 12 }, () => take(message, 4, 2)))).flat();
    expect(taken.filter((wait) => wait === null)).toHaveLength(5);
    const slots = taken.filter((wait) => typeof wait === 'number').sort((a, b) => a - b);
    expect(slots).toEqual(Array.from({ length: 19 }, (_, i) => 250 * (i + 1)));
  });

  it('gives a token to a message at the time of its slot', async () => {
    const message = newMessage();
    const turns = await own.takeSlots(message, 1, requests(4), now);
    const waiting = waitsIn(turns).map(({ slot }) => ({ slot, isTest: false }));
    expect(waiting.map(({ slot }) => slot.at - now)).toEqual([1000, 2000]);
    expect(await own.takeSlots(message, 1, waiting.slice(0, 1), now + 1000)).toEqual([null]);
    expect(await own.takeSlots(message, 1, waiting.slice(1), now + 1000)).toEqual([
      { slot: { at: now + 2000, maxPerSecond: 1 }, untilMs: now + 2000 },
    ]);
  });

  it('books at most an hour, also for concurrent writers, and more as the hour passes', async () => {
    const message = newMessage();
    expect((await take(message, 1, 3600)).at(-1)).toBe(3_598_000);
    const taken = (await Promise.all(Array.from({ length: 8 }, () => take(message, 1, 2)))).flat();
    expect(taken.filter((wait) => typeof wait === 'number').sort()).toEqual([3_599_000, 3_600_000]);
    expect(taken.filter((wait) => wait === 'skip')).toHaveLength(14);
    expect(await take(message, 1, 2, now + 1000)).toEqual([HOUR_MS, 'skip']);
  });

  it('books an hour more for a recovery', async () => {
    const message = newMessage();
    await take(message, 1, 5000);
    const recovered = requests(3601).map((request) => ({ ...request, isRecovery: true }));
    const turns = await own.takeSlots(message, 1, recovered, now);
    expect(turns.slice(-2).map((turn) => untilOf(turn, now))).toEqual([2 * HOUR_MS, 'skip']);
  });

  it('starts a new queue if an earlier release booked days ahead', async () => {
    const message = newMessage();
    const key = itemKey.slots(message.webhookId);
    await table.write([put({ ...key, maxPerSecond: 1, usedUntil: now, bookedUntil: now + 100 * HOUR_MS })]);
    const taken = (await Promise.all(Array.from({ length: 4 }, () => take(message, 1, 1)))).flat().sort();
    expect(taken).toEqual([1000, 2000, null, null]);
  });

  it('starts a new queue when the limit changes', async () => {
    const message = newMessage();
    await take(message, 1, 100);
    expect(await take(message, 10, 2)).toEqual([1000, 1100]);
    expect(await take(message, 10, 1)).toEqual([1200]);
  });

  it('takes other slots after a lost response, and never gives one twice', async () => {
    const message = newMessage();
    const from = rateLimits(lossy);
    const first = await take(message, 2, 2, now, from);
    const second = await take(message, 2, 2, now, from);
    const slots = [...first, ...second].filter((wait) => wait !== null);
    expect(new Set(slots).size).toBe(slots.length);
  });

  it('keeps its item until a day after the last slot', async () => {
    const message = newMessage();
    await take(message, 1, 12);
    expect((await table.get(itemKey.slots(message.webhookId)))?.expires).toBe(now / 1000 + 10 + 1 + 86_400);
  });
});
