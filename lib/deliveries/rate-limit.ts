import type { Slot } from './messages.ts';

/*
 * The rate limit of a webhook (`max_per_second`), with the generic cell rate algorithm (ITU-T I.371). Each attempt takes a token:
 * `usedUntil` advances by one interval, and at most `BURST_MS` beyond the present. A message without a token books a slot in the
 * future: `bookedUntil` advances by one interval, and the message returns at that time. It then takes its token. Therefore copies
 * of a message, messages that return late and clocks that differ never exceed the limit.
 */

/** Tokens of one second can be used at the same time, so any second has at most twice the limit. */
export const BURST_MS = 1000;
/** A message that returns later than this books another slot if it finds no token. */
const LATE_AFTER_MS = 5000;
/** When a message returns that finds no token at the time of its slot. */
const SOON_MS = 1000;

/** The stored state of a webhook with a limit. Times are in milliseconds since 1970. */
export interface RateState {
  /** The limit for which the slots are booked. */
  maxPerSecond: number;
  usedUntil: number;
  bookedUntil: number;
}

/** An attempt that needs a token. */
export interface SlotRequest {
  slot?: Slot | undefined;
  /** Test events do not wait behind others. */
  isTest: boolean;
}

/** Whether a message came before its slot, because queues cannot delay it for longer. */
export const isEarly = ({ slot }: SlotRequest, maxPerSecond: number, nowMs: number): boolean =>
  slot?.maxPerSecond === maxPerSecond && slot.at > nowMs;

/** When a request without a token returns, and the slot with which it does. */
export interface Wait {
  slot: Slot;
  untilMs: number;
}

/** The tokens and slots that requests get. */
export interface Allotment {
  tokens: number;
  slots: number;
  /** Milliseconds between two attempts. */
  intervalMs: number;
  /** Whether messages wait for their slots. New messages wait behind them. */
  isQueued: boolean;
  /** The state after the allotment, unless it changes in between. */
  next: RateState;
  /** The wait of each request, or `null` for a token. The first booked slot is at `firstMs`. */
  waitsFrom(firstMs: number): (Wait | null)[];
}

/** Allots tokens and slots to requests, none of which is early. */
export function allot(
  state: RateState | undefined,
  maxPerSecond: number,
  requests: readonly SlotRequest[],
  nowMs: number,
): Allotment {
  const intervalMs = 1000 / maxPerSecond;
  const booked = state?.maxPerSecond === maxPerSecond ? state.bookedUntil : 0; // a new limit starts a new queue
  const isQueued = booked > nowMs;
  let usedUntil = Math.max(state?.usedUntil ?? 0, nowMs);
  const takeToken = (): boolean => {
    if (usedUntil > nowMs + BURST_MS) return false;
    usedUntil += intervalMs;
    return true;
  };
  const outcomes = requests.map(({ slot, isTest }) => {
    const own = slot?.maxPerSecond === maxPerSecond ? slot : undefined;
    if ((own || isTest || !isQueued) && takeToken()) return 'token';
    if (own && (isTest || nowMs <= own.at + LATE_AFTER_MS)) return own;
    return isTest ? 'soon' : 'booked';
  });
  const tokens = outcomes.filter((outcome) => outcome === 'token').length;
  const slots = outcomes.filter((outcome) => outcome === 'soon' || outcome === 'booked').length;
  const bookedFrom = Math.max(booked, usedUntil - BURST_MS, nowMs);
  return {
    tokens,
    slots,
    intervalMs,
    isQueued,
    next: { maxPerSecond, usedUntil, bookedUntil: slots > 0 ? bookedFrom + slots * intervalMs : booked },
    waitsFrom(firstMs) {
      let index = 0;
      return outcomes.map((outcome) => {
        if (outcome === 'token') return null;
        if (typeof outcome === 'object') return { slot: outcome, untilMs: nowMs + SOON_MS };
        const at = firstMs + index++ * intervalMs;
        // The slot that a test event books makes up for the token that it takes early.
        if (outcome === 'soon') return { slot: { at: nowMs, maxPerSecond }, untilMs: nowMs + SOON_MS };
        return { slot: { at, maxPerSecond }, untilMs: at };
      });
    },
  };
}
