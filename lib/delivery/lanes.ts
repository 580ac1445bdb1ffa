import type { WebhookRecord } from '../webhooks/webhooks.ts';

/**
 * Deliveries have lanes, each a queue with functions of its own, so that endpoints that keep us waiting can hold up their like
 * only. An endpoint is `new` until a quick response earns it the `quick` lane. In the middle of an attempt that is getting
 * long the next ones go to the `slow` lane, while there are still functions that can deliver to the others: for some seconds,
 * or for minutes if that attempt turns out to be slow; then it has to earn the quick lane again.
 */
export const LANES = ['quick', 'new', 'slow'] as const;
export type Lane = (typeof LANES)[number];

/** What a webhook's record says about its lane. */
export type Pace = Pick<WebhookRecord, 'quickSince' | 'slowUntil'>;

/** An attempt that takes longer than this sends the next ones to the slow lane for a while; a shorter one earns the quick lane. */
export const SUSPECT_AFTER_MS = 1000;
/** Longer than any attempt takes: by then it has shown what it was. */
export const SUSPECT_FOR_MS = 6000;
/** An attempt that takes longer is slow. */
export const SLOW_AFTER_MS = 2000;
export const SLOW_FOR_MS = 10 * 60 * 1000;

export function laneOf({ quickSince, slowUntil = 0 }: Pace, nowMs: number): Lane {
  if (nowMs < slowUntil) return 'slow';
  return quickSince === undefined ? 'new' : 'quick';
}

/** Whether messages of one lane would hold up those of another. */
export const isSlower = (lane: Lane, other: Lane): boolean => LANES.indexOf(lane) > LANES.indexOf(other);

/** What to note in the middle of an attempt that has taken `SUSPECT_AFTER_MS`; `null` if it is in the slow lane anyway. */
export function paceOfSuspect({ quickSince, slowUntil }: Pace, nowMs: number): Pace | null {
  const isSlow = laneOf({ quickSince, slowUntil }, nowMs) === 'slow';
  return isSlow ? null : { quickSince, slowUntil: nowMs + SUSPECT_FOR_MS };
}

/** What to note after an attempt; `null` if nothing changes. */
export function paceAfter(pace: Pace, waitedMs: number, nowMs: number): Pace | null {
  const { quickSince, slowUntil = 0 } = pace;
  if (waitedMs > SLOW_AFTER_MS) {
    const isNoted = quickSince === undefined && slowUntil > nowMs + SLOW_FOR_MS / 2;
    return isNoted ? null : { slowUntil: nowMs + SLOW_FOR_MS };
  }
  const earns = quickSince === undefined && waitedMs <= SUSPECT_AFTER_MS && nowMs >= slowUntil;
  return earns ? { quickSince: nowMs } : null;
}
