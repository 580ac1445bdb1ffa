import { describe, expect, it } from 'vitest';
import { barsOf, histogramOfBars, LATENCY_BOUNDS_MS, latencyPercentile } from '../../../lib/deliveries/latency.ts';

describe('a percentile', () => {
  const of = (bars: Partial<Record<number, number>>, share: number) =>
    latencyPercentile(
      LATENCY_BOUNDS_MS.map((bound) => bars[bound] ?? 0),
      share,
    );

  it.each([
    [{}, 0.5, null],
    [{ 10: 1 }, 0.99, 10],
    [{ 10: 50, 5000: 50 }, 0.5, 10],
    [{ 10: 49, 5000: 51 }, 0.5, 5000],
    [{ 10: 95, 100: 4, 5000: 1 }, 0.99, 100],
  ])('returns for %j at %d: %s', (bars, share, bound) => {
    expect(of(bars, share)).toBe(bound);
  });
});

describe('the bars of histograms', () => {
  const fast = LATENCY_BOUNDS_MS.map((bound) => (bound === 10 ? 3 : 0));
  const slow = LATENCY_BOUNDS_MS.map((bound) => (bound === 10 || bound === 5000 ? 1 : 0));

  it('contain only buckets with values', () => {
    expect(barsOf(slow)).toEqual([
      { le: 10, count: 1 },
      { le: 5000, count: 1 },
    ]);
    expect(barsOf([])).toEqual([]);
  });

  it('add up to one histogram', () => {
    expect(histogramOfBars([...barsOf(fast), ...barsOf(slow)])).toEqual(
      LATENCY_BOUNDS_MS.map((bound) => (bound === 10 ? 4 : bound === 5000 ? 1 : 0)),
    );
    expect(histogramOfBars([])).toEqual(LATENCY_BOUNDS_MS.map(() => 0));
  });
});
