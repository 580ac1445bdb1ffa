// The browser imports this file too, so it must stay small.

import type { Slot } from './messages.ts';

/** The highest rate limit of a webhook, and the highest pace of a recovery. */
export const MAX_PER_SECOND = 500;

/*
 * The rate limit of a webhook (`max_per_second`), with the generic cell rate algorithm (ITU-T I.371). Each attempt takes a token:
 * `usedUntil` advances by one interval, and at most `BURST_MS` beyond the present. A message without a token books a slot in the
 * future: `bookedUntil` advances by one interval, and the message returns at that time. It then takes its token. Therefore copies
 * of a message, messages that return late and clocks that differ never exceed the limit. A message whose slot would be too far in
 * the future gets none, and its delivery is skipped. Otherwise the backlog of an overloaded webhook would grow without a limit.
 */

/** Tokens of one second can be used at the same time, so any second has at most twice the limit. */
export const BURST_MS = 1000;
/** A message that returns later than this books another slot if it finds no token. */
const LATE_AFTER_MS = 5000;
/** When a message returns that finds no token at the time of its slot. */
const SOON_MS = 1000;
/** How far in the future a slot can be. */
export const MAX_WAIT_MS = 60 * 60 * 1000;
/**
 * The same for a recovery. New events can occupy the first hour. A recovery sends no more per second than the limit, so it does
 * not skip its own deliveries.
 */
const MAX_RECOVERY_WAIT_MS = 2 * MAX_WAIT_MS;
/** How long a test event tries to get a token. It returns every second, so many of them would occupy the lane. */
const MAX_TEST_WAIT_MS = 60 * 1000;

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
  /** Whether a recovery started the run. */
  isRecovery?: boolean;
}

const maxWaitOf = ({ isRecovery }: SlotRequest): number => (isRecovery ? MAX_RECOVERY_WAIT_MS : MAX_WAIT_MS);

/** When a request without a token returns, and the slot with which it does. */
interface Wait {
  slot: Slot;
  untilMs: number;
}

/** The result of a request: a token (`null`), a wait, or `skip` if the wait would be too long. */
export type Turn = Wait | 'skip' | null;

/**
 * The turn of a message that came before its slot, because queues cannot delay it for longer. `undefined` if it is not early. A
 * slot that is too far in the future was booked by a release without `MAX_WAIT_MS`.
 */
export function earlyTurn(request: SlotRequest, maxPerSecond: number, nowMs: number): Turn | undefined {
  const { slot } = request;
  if (slot?.maxPerSecond !== maxPerSecond || slot.at <= nowMs) return undefined;
  return slot.at > nowMs + maxWaitOf(request) ? 'skip' : { slot, untilMs: slot.at };
}

/** The tokens and slots that requests get. */
export interface Allotment {
  tokens: number;
  slots: number;
  /** Milliseconds between two attempts. */
  intervalMs: number;
  /** Whether messages wait for their slots. New messages wait behind them. */
  isQueued: boolean;
  /** How much later than in `next` the booked slots can be. */
  leewayMs: number;
  /** The state after the allotment, unless it changes in between. */
  next: RateState;
  /** The turn of each request. The first booked slot is at `firstMs`. */
  turnsFrom(firstMs: number): Turn[];
}

/** Allots tokens and slots to requests, none of which is early. */
export function allot(
  state: RateState | undefined,
  maxPerSecond: number,
  requests: readonly SlotRequest[],
  nowMs: number,
): Allotment {
  const intervalMs = 1000 / maxPerSecond;
  const queue = state?.maxPerSecond === maxPerSecond ? state.bookedUntil : 0; // a new limit starts a new queue
  const booked = queue > nowMs + 2 * MAX_RECOVERY_WAIT_MS ? 0 : queue; // and so does one of a release without `MAX_WAIT_MS`
  const isQueued = booked > nowMs;
  let usedUntil = Math.max(state?.usedUntil ?? 0, nowMs);
  let slots = 0;
  let leewayMs = Number.POSITIVE_INFINITY;
  const takeToken = (): boolean => {
    if (usedUntil > nowMs + BURST_MS) return false;
    usedUntil += intervalMs;
    return true;
  };
  const book = (request: SlotRequest): boolean => {
    const waitMs = Math.max(booked, usedUntil - BURST_MS, nowMs) + slots * intervalMs - nowMs;
    if (waitMs > maxWaitOf(request)) return false;
    leewayMs = Math.min(leewayMs, maxWaitOf(request) - waitMs);
    slots++;
    return true;
  };
  const outcomes = requests.map((request) => {
    const { slot, isTest } = request;
    const own = slot?.maxPerSecond === maxPerSecond ? slot : undefined;
    if ((own || isTest || !isQueued) && takeToken()) return 'token';
    if (own && isTest) return nowMs > own.at + MAX_TEST_WAIT_MS ? 'skip' : own;
    if (own && nowMs <= own.at + LATE_AFTER_MS) return own;
    if (book(request)) return isTest ? 'soon' : 'booked';
    return isTest ? { at: nowMs, maxPerSecond } : 'skip';
  });
  const tokens = outcomes.filter((outcome) => outcome === 'token').length;
  const bookedFrom = Math.max(booked, usedUntil - BURST_MS, nowMs);
  return {
    tokens,
    slots,
    intervalMs,
    isQueued,
    leewayMs,
    next: { maxPerSecond, usedUntil, bookedUntil: slots > 0 ? bookedFrom + slots * intervalMs : booked },
    turnsFrom(firstMs) {
      let index = 0;
      return outcomes.map((outcome) => {
        if (outcome === 'token') return null;
        if (outcome === 'skip') return 'skip';
        if (typeof outcome === 'object') return { slot: outcome, untilMs: nowMs + SOON_MS };
        const at = firstMs + index++ * intervalMs;
        // The slot that a test event books makes up for the token that it takes early.
        if (outcome === 'soon') return { slot: { at: nowMs, maxPerSecond }, untilMs: nowMs + SOON_MS };
        return { slot: { at, maxPerSecond }, untilMs: at };
      });
    },
  };
}
