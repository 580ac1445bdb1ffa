import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allot, BURST_MS, isEarly, type RateState, type SlotRequest } from '../../../lib/deliveries/rate-limit.ts';
import { now } from './builders.ts';

const fresh: SlotRequest = { isTest: false };
const testEvent: SlotRequest = { isTest: true };
const held = (at: number, maxPerSecond = 2): SlotRequest => ({ slot: { at, maxPerSecond }, isTest: false });
const state = (overrides: Partial<RateState> = {}): RateState => ({
  maxPerSecond: 2,
  usedUntil: now,
  bookedUntil: now,
  ...overrides,
});

/** Returns the milliseconds until the slot of each request, or `null` for a token. */
function waits(requests: readonly SlotRequest[], before?: RateState, limit = 2): (number | null)[] {
  const allotted = allot(before, limit, requests, now);
  const first = allotted.next.bookedUntil - allotted.slots * allotted.intervalMs;
  return allotted.waitsFrom(first).map((wait) => wait && wait.untilMs - now);
}

describe('a rate limit', () => {
  it('gives the tokens of one second immediately after a pause, then one slot per interval', () => {
    expect(waits(Array(6).fill(fresh))).toEqual([null, null, null, 500, 1000, 1500]);
  });

  it('makes new messages wait behind those that have slots, even if tokens are left', () => {
    expect(waits([fresh, fresh], state({ bookedUntil: now + 3000 }))).toEqual([3000, 3500]);
  });

  it('gives a message a token at the time of its slot', () => {
    const queued = state({ usedUntil: now + BURST_MS, bookedUntil: now + 3000 });
    expect(waits([held(now), held(now)], queued)).toEqual([null, 1000]);
  });

  it('returns a message without a token soon, or after the others if it is late', () => {
    const empty = state({ usedUntil: now + BURST_MS + 1, bookedUntil: now + 3000 });
    expect(waits([held(now - 5000), held(now - 5001)], empty)).toEqual([1000, 3000]);
  });

  it('does not make test events wait behind others', () => {
    const queued = state({ usedUntil: now + BURST_MS, bookedUntil: now + 3000 });
    expect(waits([testEvent, testEvent], queued)).toEqual([null, 1000]);
    const waiting = { ...held(now - 60_000), isTest: true };
    expect(waits([waiting], state({ usedUntil: now + BURST_MS + 1 }))).toEqual([1000]);
  });

  it('starts a new queue when the limit changes, with the tokens that are left', () => {
    const queued = state({ usedUntil: now + BURST_MS, bookedUntil: now + 60_000 });
    expect(waits([held(now + 30_000), fresh], queued, 10)).toEqual([null, 100]);
    expect(isEarly(held(now + 1), 2, now)).toBe(true);
    expect(isEarly(held(now), 2, now)).toBe(false);
    expect(isEarly(held(now + 1), 10, now)).toBe(false);
  });

  const step = fc.record({
    passedMs: fc.integer({ min: 0, max: 3000 }),
    skewMs: fc.integer({ min: -2500, max: 2500 }),
    fresh: fc.integer({ min: 0, max: 12 }),
    tests: fc.integer({ min: 0, max: 2 }),
  });

  it('has at most twice the limit in any second by the clocks of the functions, and gives every message a token', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.array(step, { maxLength: 20 }), (limit, steps) => {
        const tokens: number[] = [];
        let [at, current, waiting, asked] = [now, undefined as RateState | undefined, [] as SlotRequest[], 0];
        const ask = (clock: number, requests: SlotRequest[]) => {
          const due = requests.filter((request) => !isEarly(request, limit, clock));
          const allotted = allot(current, limit, due, clock);
          const waits = allotted.waitsFrom(allotted.next.bookedUntil - allotted.slots * allotted.intervalMs);
          current = allotted.next;
          tokens.push(...waits.filter((wait) => wait === null).map(() => clock));
          waiting = [
            ...requests.filter((request) => isEarly(request, limit, clock)),
            ...waits.flatMap((wait, i) => (wait ? { slot: wait.slot, isTest: due[i]?.isTest ?? false } : [])),
          ];
        };
        for (const { passedMs, skewMs, fresh: count, tests } of steps) {
          at += passedMs;
          asked += count + tests;
          ask(at + skewMs, [...waiting, ...Array(count).fill(fresh), ...Array(tests).fill(testEvent)]);
        }
        for (let seconds = 0; waiting.length > 0; seconds++) {
          expect(seconds).toBeLessThan(3 * asked + 20);
          at += 1000;
          ask(at, waiting);
        }
        expect(tokens).toHaveLength(asked);
        for (const start of tokens)
          expect(tokens.filter((each) => each >= start && each < start + 1000).length).toBeLessThanOrEqual(2 * limit);
      }),
    );
  });
});
