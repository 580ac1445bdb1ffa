import type { WebhookRecord } from '../webhooks/webhooks.ts';

/**
 * The lanes of deliveries. Each lane has its own queue and function, so that slow endpoints delay only each other. An endpoint is
 * `new` until a quick response moves it to the `quick` lane. While an attempt takes long, the next messages go to the `slow`
 * lane, before they occupy all functions of the lane. The endpoint stays there for some seconds, or for minutes if the attempt is
 * slow. Then it needs a quick response to return to the quick lane.
 */
export const LANES = ['quick', 'new', 'slow'] as const;
export type Lane = (typeof LANES)[number];

/** The part of a webhook's record that determines its lane. */
export type Pace = Pick<WebhookRecord, 'quickSince' | 'slowUntil'>;

/** A longer attempt moves the next ones to the slow lane for a while. A shorter one moves the endpoint to the quick lane. */
export const SUSPECT_AFTER_MS = 1000;
/** Longer than any attempt, so that its result is known by then. */
export const SUSPECT_FOR_MS = 6000;
/** An attempt that takes longer is slow. */
export const SLOW_AFTER_MS = 2000;
export const SLOW_FOR_MS = 10 * 60 * 1000;

export function laneOf({ quickSince, slowUntil = 0 }: Pace, nowMs: number): Lane {
  if (nowMs < slowUntil) return 'slow';
  return quickSince === undefined ? 'new' : 'quick';
}

/** Whether messages of one lane would delay those of another. */
export const isSlower = (lane: Lane, other: Lane): boolean => LANES.indexOf(lane) > LANES.indexOf(other);

/** The note for an attempt that has taken `SUSPECT_AFTER_MS`, or `null` if the endpoint is in the slow lane. */
export function paceOfSuspect({ quickSince, slowUntil }: Pace, nowMs: number): Pace | null {
  const isSlow = laneOf({ quickSince, slowUntil }, nowMs) === 'slow';
  return isSlow ? null : { quickSince, slowUntil: nowMs + SUSPECT_FOR_MS };
}

/** The note after an attempt, or `null` if nothing changes. */
export function paceAfter(pace: Pace, waitedMs: number, nowMs: number): Pace | null {
  const { quickSince, slowUntil = 0 } = pace;
  if (waitedMs > SLOW_AFTER_MS) {
    const isNoted = quickSince === undefined && slowUntil > nowMs + SLOW_FOR_MS / 2;
    return isNoted ? null : { slowUntil: nowMs + SLOW_FOR_MS };
  }
  const earns = quickSince === undefined && waitedMs <= SUSPECT_AFTER_MS && nowMs >= slowUntil;
  return earns ? { quickSince: nowMs } : null;
}
