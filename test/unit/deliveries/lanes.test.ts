import { describe, expect, it } from 'vitest';
import {
  isSlower,
  LANES,
  laneOf,
  overdueAfterMs,
  type Pace,
  paceAfter,
  QUICK_AGAIN_AFTER_MS,
  QUICK_WITHIN_MS,
  SLOW_AFTER_MS,
  SLOW_FOR_MS,
  SUSPECT_AFTER_MS,
} from '../../../lib/deliveries/lanes.ts';

const now = 1_000_000;
const unproven: Pace = {};
const quick: Pace = { quickSince: now };
const suspect: Pace = { quickSince: now - 1, slowUntil: now + 1 };
const slow: Pace = { slowUntil: now + SLOW_FOR_MS };

describe('an endpoint', () => {
  it.each<[string, Pace, string]>([
    ['a quick endpoint', quick, 'quick'],
    ['an endpoint that took longer before', { quickSince: now - 1 }, 'quick'],
    ['an endpoint that took longer recently', { quickSince: now + 1 }, 'new'],
    ['an endpoint with an overdue attempt', suspect, 'slow'],
    ['an endpoint whose attempt was overdue', { ...suspect, slowUntil: now }, 'quick'],
    ['an endpoint that was slow before', { slowUntil: now - 1 }, 'new'],
  ])('has the correct lane: %s', (_, pace, lane) => {
    expect(laneOf(pace, now)).toBe(lane);
  });

  const later = { quickSince: now + QUICK_AGAIN_AFTER_MS };
  it.each<[string, Pace, number, Pace | null]>([
    ['earns the quick lane by a quick response', unproven, QUICK_WITHIN_MS, { quickSince: now }],
    ['does not earn the quick lane by a longer response', unproven, QUICK_WITHIN_MS + 1, null],
    ['keeps the quick lane by a quick response', quick, QUICK_WITHIN_MS, null],
    ['leaves the quick lane for a while after a longer attempt', quick, QUICK_WITHIN_MS + 1, later],
    ['leaves the quick lane for a while after an overdue attempt', suspect, SLOW_AFTER_MS, later],
    ['does not return to the quick lane early', { quickSince: now + 1 }, 1, null],
    ['does not stay out of the quick lane for longer', { quickSince: now + 1 }, SLOW_AFTER_MS, null],
    ['loses the quick lane after a slow attempt', quick, SLOW_AFTER_MS + 1, { slowUntil: now + SLOW_FOR_MS }],
    ['loses the quick lane after an overdue, slow attempt', { ...suspect, ...slow }, 5000, slow],
    ['cannot earn the quick lane while it is slow', slow, 1, null],
    ['earns the quick lane when it is no longer slow', { slowUntil: now }, 1, { quickSince: now }],
    ['stays slow without another note', slow, 5000, null],
    ['stays slow with another note after a while', { slowUntil: now + SLOW_FOR_MS / 2 }, 5000, slow],
  ])('%s', (_, pace, durationMs, expected) => {
    expect(paceAfter(pace, durationMs, now)).toEqual(expected);
  });

  it('has an overdue attempt sooner in the quick lane', () => {
    expect(LANES.map(overdueAfterMs)).toEqual([QUICK_WITHIN_MS, SUSPECT_AFTER_MS, SUSPECT_AFTER_MS]);
  });

  it('delays only similar endpoints', () => {
    const handedOn = LANES.map((lane) => LANES.filter((each) => isSlower(each, lane)));
    expect(handedOn).toEqual([['new', 'slow'], ['slow'], []]);
  });
});
