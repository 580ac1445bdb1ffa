/**
 * The lanes of deliveries. Each lane has its own queue and function, so that endpoints delay only endpoints of their lane. An
 * endpoint that responds within `QUICK_WITHIN_MS` gets the `quick` lane. A longer attempt moves it to the `new` lane for ten
 * minutes, and an attempt longer than `SLOW_AFTER_MS` to the `slow` lane. While an attempt is overdue, the next messages of the
 * endpoint go to the slow lane. The length of an attempt is the time for which the function waited (wait-meter.ts), so a starved
 * function moves no quick endpoint.
 *
 * The first overdue attempt to an endpoint stays in the quick lane for at most `SUSPECT_AFTER_MS`. Further overdue attempts leave
 * immediately. Whatever its rate, an endpoint occupies one environment of the quick lane for longer than `QUICK_WITHIN_MS`.
 */
export const LANES = ['quick', 'new', 'slow'] as const;
export type Lane = (typeof LANES)[number];

/** The part of a webhook's record that determines its lane. Times are in milliseconds since 1970. */
export interface Pace {
  /** Since when the endpoint has the quick lane, possibly in the future. Absent before its first quick attempt, and after a slow one. */
  quickSince?: number | undefined;
  /** Until then it takes the slow lane. */
  slowUntil?: number | undefined;
}

/** A longer attempt does not belong in the quick lane. */
export const QUICK_WITHIN_MS = 300;
/** How long an endpoint stays out of the quick lane after a longer attempt. */
export const QUICK_AGAIN_AFTER_MS = 10 * 60 * 1000;
/** When an attempt in another lane is overdue, and when the first overdue attempt leaves the quick lane. */
export const SUSPECT_AFTER_MS = 1000;
/** How long messages go to the slow lane while an attempt is overdue: longer than any attempt takes. */
export const SUSPECT_FOR_MS = 6000;
/** An attempt that takes longer is slow. */
export const SLOW_AFTER_MS = 2000;
export const SLOW_FOR_MS = 10 * 60 * 1000;

export function laneOf({ quickSince, slowUntil = 0 }: Pace, nowMs: number): Lane {
  if (nowMs < slowUntil) return 'slow';
  return quickSince !== undefined && quickSince <= nowMs ? 'quick' : 'new';
}

/** Whether messages of one lane would delay those of another. */
export const isSlower = (lane: Lane, other: Lane): boolean => LANES.indexOf(lane) > LANES.indexOf(other);

/** When an attempt in a lane is overdue, in milliseconds. */
export const overdueAfterMs = (lane: Lane): number => (lane === 'quick' ? QUICK_WITHIN_MS : SUSPECT_AFTER_MS);

/** The note after an attempt, or `null` if nothing changes. */
export function paceAfter(pace: Pace, waitedMs: number, nowMs: number): Pace | null {
  const { quickSince, slowUntil = 0 } = pace;
  if (waitedMs > SLOW_AFTER_MS) {
    const isNoted = quickSince === undefined && slowUntil > nowMs + SLOW_FOR_MS / 2;
    return isNoted ? null : { slowUntil: nowMs + SLOW_FOR_MS };
  }
  if (waitedMs > QUICK_WITHIN_MS) {
    const isQuick = quickSince !== undefined && quickSince <= nowMs;
    return isQuick ? { quickSince: nowMs + QUICK_AGAIN_AFTER_MS } : null;
  }
  return quickSince === undefined && nowMs >= slowUntil ? { quickSince: nowMs } : null;
}
