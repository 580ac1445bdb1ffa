import { describe, expect, it } from 'vitest';
import { intervalOf, isSignificant, secondsOverBudget } from '../../../lib/deliveries/budget.ts';
import { now } from './builders.ts';

describe('the budget of deliveries', () => {
  it.each([
    ['a project without deliveries', undefined, 0],
    ['a project that was idle', now - 1, 0],
    ['a minute of its budget', now + 60_000, 0],
    ['one millisecond more', now + 60_001, 1],
    ['a second more', now + 61_000, 1],
    ['a little more than a second', now + 61_001, 2],
    ['ten minutes more', now + 660_000, 600],
  ])('accepts requests again after the time that %s needs', (_, usedUntil, seconds) => {
    expect(secondsOverBudget(usedUntil, now)).toBe(seconds);
    // A client that waits for these seconds is accepted.
    expect(secondsOverBudget(usedUntil, now + seconds * 1000)).toBe(0);
    if (seconds > 0) expect(secondsOverBudget(usedUntil, now + (seconds - 1) * 1000)).toBeGreaterThan(0);
  });

  it.each([
    [1000, 1000, 1000],
    [10_000, 1000, 10_000],
    [1, 1000, 1],
    [60, 1, 60_000],
  ])('%i deliveries with %i per second use %i ms', (deliveries, perSecond, ms) => {
    expect(intervalOf(deliveries, perSecond)).toBe(ms);
  });

  it.each([
    [99, 1000, false],
    [100, 1000, true],
    [1, 10, true],
    [1, 11, false],
    [1e9, Number.POSITIVE_INFINITY, false],
  ])('%i deliveries with %d per second are worth a write: %s', (deliveries, perSecond, expected) => {
    expect(isSignificant(deliveries, perSecond)).toBe(expected);
  });

  it.each([
    ['uses a minute in a burst, and then the budget of each second', 60, 60, 120],
    ['has a quarter more for a pause of 15 s', 60, 45, 105],
  ])('a project %s', (_, first, busySeconds, sum) => {
    // One delivery per request with one per second: as many requests as possible.
    let usedUntil = 0;
    let accepted = 0;
    const publish = (at: number) => {
      if (secondsOverBudget(usedUntil, at) > 0) return;
      usedUntil = Math.max(usedUntil, at) + intervalOf(1, 1);
      accepted++;
    };
    for (let i = 0; i < 200; i++) publish(now);
    expect(accepted).toBe(first + 1);
    for (let ms = 0; ms < busySeconds * 1000; ms += 100) publish(now + ms);
    expect(accepted).toBe(sum);
  });
});
