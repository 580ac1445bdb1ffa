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

/** What is stored about a webhook with a limit. Times are in milliseconds since 1970. */
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
  /** The slot of each request, or `null` for a token. The first booked slot is at `firstMs`. */
  slotsFrom(firstMs: number): (Slot | null)[];
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
  let tokens = 0;
  const outcomes = requests.map(({ slot, isTest }): 'token' | 'soon' | 'booked' => {
    const isNext = isTest || slot?.maxPerSecond === maxPerSecond;
    if ((isNext || !isQueued) && usedUntil <= nowMs + BURST_MS) {
      usedUntil += intervalMs;
      tokens++;
      return 'token';
    }
    return isTest || (isNext && slot && nowMs <= slot.at + LATE_AFTER_MS) ? 'soon' : 'booked';
  });
  const slots = requests.length - tokens;
  const firstMs = Math.max(booked, usedUntil - BURST_MS, nowMs);
  return {
    tokens,
    slots,
    intervalMs,
    isQueued,
    next: { maxPerSecond, usedUntil, bookedUntil: slots > 0 ? firstMs + slots * intervalMs : booked },
    slotsFrom(firstMs) {
      let index = 0;
      return outcomes.map((outcome) => {
        if (outcome === 'token') return null;
        const at = firstMs + index++ * intervalMs;
        return { at: outcome === 'soon' ? nowMs + SOON_MS : at, maxPerSecond };
      });
    },
  };
}
