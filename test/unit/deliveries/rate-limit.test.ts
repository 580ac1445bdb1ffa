import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allot,
  BURST_MS,
  earlyTurn,
  MAX_WAIT_MS,
  type RateState,
  type SlotRequest,
} from '../../../lib/deliveries/rate-limit.ts';
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

/** Returns the milliseconds until the slot of each request, `null` for a token, or `skip`. */
function waits(requests: readonly SlotRequest[], before?: RateState, limit = 2): (number | 'skip' | null)[] {
  const allotted = allot(before, limit, requests, now);
  const first = allotted.next.bookedUntil - allotted.slots * allotted.intervalMs;
  return allotted.turnsFrom(first).map((turn) => (turn === 'skip' ? turn : turn && turn.untilMs - now));
}

describe('a rate limit', () => {
  it('gives the tokens of one second immediately after a pause, then one slot per interval', () => {
    expect(waits(Array(6).fill(fresh))).toEqual([null, null, null, 500, 1000, 1500]);
    expect(waits([fresh], state())).toEqual([null]); // the last slot is now
    expect(allot(undefined, 2, [fresh], now).next).toEqual(state({ usedUntil: now + 500, bookedUntil: 0 }));
  });

  it('makes new messages wait behind those that have slots, even if tokens are left', () => {
    expect(waits([fresh, fresh], state({ bookedUntil: now + 3000 }))).toEqual([3000, 3500]);
  });

  it('returns a message without a token soon, or after the others if it is late', () => {
    const empty = state({ usedUntil: now + BURST_MS + 1, bookedUntil: now + 3000 });
    expect(waits([held(now - 5000), held(now - 5001)], empty)).toEqual([1000, 3000]);
  });

  it('does not make test events wait behind others', () => {
    const queued = state({ usedUntil: now + BURST_MS, bookedUntil: now + 3000 });
    const soon = { slot: { at: now, maxPerSecond: 2 }, untilMs: now + 1000 };
    expect(allot(queued, 2, [testEvent, testEvent], now).turnsFrom(now)).toEqual([null, soon]);
    const waiting = { ...held(now - 60_000), isTest: true };
    expect(waits([waiting], state({ usedUntil: now + BURST_MS + 1 }))).toEqual([1000]);
  });

  it('starts a new queue when the limit changes, with the tokens that are left', () => {
    const queued = state({ usedUntil: now + BURST_MS, bookedUntil: now + 60_000 });
    expect(waits([held(now + 30_000), fresh], queued, 10)).toEqual([null, 100]);
    const full = state({ maxPerSecond: 10, usedUntil: now + BURST_MS + 1, bookedUntil: now + 3000 });
    expect(waits([held(now - 1000)], full, 10)).toEqual([3000]); // behind the others, as a new message
    expect(earlyTurn(held(now + 1), 2, now)).toEqual({ slot: held(now + 1).slot, untilMs: now + 1 });
    expect(earlyTurn(held(now), 2, now)).toBeUndefined();
    expect(earlyTurn(held(now + 1), 10, now)).toBeUndefined();
  });

  describe('that is exceeded for longer than an hour', () => {
    const full = state({ usedUntil: now + BURST_MS, bookedUntil: now + MAX_WAIT_MS });
    const recovered: SlotRequest = { isTest: false, isRecovery: true };

    it('skips messages that would wait for longer', () => {
      expect(waits([fresh, fresh], full)).toEqual([MAX_WAIT_MS, 'skip']);
      const empty = state({ maxPerSecond: 1, usedUntil: now + BURST_MS + 1 });
      expect(waits(Array(3602).fill(fresh), empty, 1).slice(-3)).toEqual([MAX_WAIT_MS - 999, 'skip', 'skip']);
      expect(waits([fresh, held(now - 5001)], { ...full, bookedUntil: now + MAX_WAIT_MS + 1 })).toEqual(['skip', null]);
    });

    it('makes messages of a recovery wait for up to two hours', () => {
      expect(waits([fresh, fresh, recovered, fresh], full)).toEqual([MAX_WAIT_MS, 'skip', MAX_WAIT_MS + 500, 'skip']);
      expect(waits([recovered], { ...full, bookedUntil: now + 2 * MAX_WAIT_MS + 1 })).toEqual(['skip']);
    });

    it('never skips a recovery that sends as many as the limit, while new messages keep the first hour full', () => {
      let current: RateState | undefined = full;
      let lastWaitMs = 0;
      for (let at = now; at < now + 24 * MAX_WAIT_MS; at += 1000) {
        const allotted = allot(current, 2, [fresh, fresh, fresh, recovered, recovered], at);
        const turns = allotted.turnsFrom(allotted.next.bookedUntil - allotted.slots * allotted.intervalMs).slice(3);
        for (const turn of turns) lastWaitMs = turn && turn !== 'skip' ? turn.untilMs - at : Number.NaN;
        current = { ...allotted.next, usedUntil: at + BURST_MS };
      }
      expect(lastWaitMs).toBeLessThan(MAX_WAIT_MS + 2000);
    });

    it('lets a test event try for a minute', () => {
      const busy = state({ usedUntil: now + BURST_MS + 1 });
      expect(waits([{ ...held(now - 60_001), isTest: true }], busy)).toEqual(['skip']);
      const { slots, turnsFrom } = allot({ ...busy, bookedUntil: now + MAX_WAIT_MS + 1 }, 2, [testEvent], now);
      expect([slots, turnsFrom(now)]).toEqual([0, [{ slot: { at: now, maxPerSecond: 2 }, untilMs: now + 1000 }]]);
    });

    it('skips messages whose slots an earlier release booked days ahead', () => {
      expect(earlyTurn(held(now + MAX_WAIT_MS), 2, now)).toMatchObject({ untilMs: now + MAX_WAIT_MS });
      expect(earlyTurn(held(now + MAX_WAIT_MS + 1), 2, now)).toBe('skip');
      expect(earlyTurn({ ...held(now + 2 * MAX_WAIT_MS), isRecovery: true }, 2, now)).not.toBe('skip');
    });
  });

  const step = fc.record({
    passedMs: fc.integer({ min: 0, max: 3000 }),
    skewMs: fc.integer({ min: -2500, max: 2500 }),
    fresh: fc.integer({ min: 0, max: 12 }),
    tests: fc.integer({ min: 0, max: 2 }),
  });

  it('has at most twice the limit in any second by the clocks of the functions, and gives every message a token except late tests', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.array(step, { maxLength: 20 }), (limit, steps) => {
        const tokens: number[] = [];
        let current: RateState | undefined;
        let waiting: SlotRequest[] = [];
        let [at, asked, skipped] = [now, 0, 0];
        const ask = (clock: number, requests: SlotRequest[]) => {
          const isEarly = (request: SlotRequest) => earlyTurn(request, limit, clock) !== undefined;
          const due = requests.filter((request) => !isEarly(request));
          const allotted = allot(current, limit, due, clock);
          const turns = allotted.turnsFrom(allotted.next.bookedUntil - allotted.slots * allotted.intervalMs);
          current = allotted.next;
          tokens.push(...turns.filter((turn) => turn === null).map(() => clock));
          waiting = requests.filter(isEarly);
          for (const [i, turn] of turns.entries()) {
            const isTest = due[i]?.isTest ?? false;
            if (turn === 'skip') expect(isTest).toBe(true);
            if (turn === 'skip') skipped++;
            else if (turn) waiting.push({ slot: turn.slot, isTest });
          }
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
        expect(tokens).toHaveLength(asked - skipped);
        for (const start of tokens)
          expect(tokens.filter((each) => each >= start && each < start + 1000).length).toBeLessThanOrEqual(2 * limit);
      }),
    );
  });
});
