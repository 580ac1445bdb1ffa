// The browser imports this file too, so it must stay small.

/** Upper bounds of the histogram of successful attempts, in milliseconds. No attempt takes longer than the last bound. */
export const LATENCY_BOUNDS_MS = [
  5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 4000, 5000,
] as const;

/** A bucket of a histogram, with the attempts that took at most `le` milliseconds and more than the previous bound. */
export interface Bar {
  le: number;
  count: number;
}

/** The bars of a histogram that have any. */
export const barsOf = (histogram: readonly number[]): Bar[] =>
  LATENCY_BOUNDS_MS.map((le, i) => ({ le, count: histogram[i] ?? 0 })).filter(({ count }) => count > 0);

/** Adds up the buckets of several histograms. */
export const histogramOfBars = (bars: readonly Bar[]): number[] =>
  LATENCY_BOUNDS_MS.map((bound) => bars.reduce((sum, { le, count }) => (le === bound ? sum + count : sum), 0));

/** The bound in milliseconds that this share of the attempts in a histogram did not exceed; `null` if there was none. */
export function latencyPercentile(histogram: readonly number[], share: number): number | null {
  let left = Math.ceil(share * histogram.reduce((sum, count) => sum + count, 0));
  if (left === 0) return null;
  for (const [i, bound] of LATENCY_BOUNDS_MS.entries()) {
    left -= histogram[i] ?? 0;
    if (left <= 0) return bound;
  }
  return null;
}
