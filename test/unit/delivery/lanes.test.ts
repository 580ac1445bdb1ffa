import { describe, expect, it } from 'vitest';
import {
  isSlower,
  LANES,
  laneOf,
  type Pace,
  paceAfter,
  paceOfSuspect,
  SLOW_AFTER_MS,
  SLOW_FOR_MS,
  SUSPECT_AFTER_MS,
  SUSPECT_FOR_MS,
} from '../../../lib/delivery/lanes.ts';

const now = 1_000_000;
const unproven: Pace = {};
const quick: Pace = { quickSince: now - 1 };
const suspect: Pace = { quickSince: now - 1, slowUntil: now + 1 };
const slow: Pace = { slowUntil: now + SLOW_FOR_MS };

describe('an endpoint', () => {
  it.each<[string, Pace, string]>([
    ['a new endpoint', unproven, 'new'],
    ['a quick endpoint', quick, 'quick'],
    ['an endpoint with a long attempt in progress', suspect, 'slow'],
    ['an endpoint that responded after a long attempt', { ...suspect, slowUntil: now }, 'quick'],
    ['a slow endpoint', slow, 'slow'],
    ['an endpoint that was slow before', { slowUntil: now - 1 }, 'new'],
  ])('has the correct lane: %s', (_, pace, lane) => {
    expect(laneOf(pace, now)).toBe(lane);
  });

  it.each<[string, Pace, number, Pace | null]>([
    ['a new one earns the quick lane by a quick response', unproven, SUSPECT_AFTER_MS, { quickSince: now }],
    ['a new one does not by a longer one', unproven, SUSPECT_AFTER_MS + 1, null],
    ['a quick one that is quick changes nothing', quick, 1, null],
    ['a quick one may take longer now and then', quick, SLOW_AFTER_MS, null],
    ['a quick one that is slow has to earn it again', quick, SLOW_AFTER_MS + 1, { slowUntil: now + SLOW_FOR_MS }],
    ['a suspect one that is slow has to, too', { ...suspect, ...slow }, 5000, slow],
    ['a slow one cannot earn it before its time', slow, 1, null],
    ['a slow one earns it after', { slowUntil: now }, 1, { quickSince: now }],
    ['a slow one that stays so is noted once in a while', slow, 5000, null],
    ['and again later', { slowUntil: now + SLOW_FOR_MS / 2 }, 5000, { slowUntil: now + SLOW_FOR_MS }],
  ])('%s', (_, pace, durationMs, expected) => {
    expect(paceAfter(pace, durationMs, now)).toEqual(expected);
  });

  it('leaves its lane during a long attempt, and keeps its quick state', () => {
    expect(paceOfSuspect(quick, now)).toEqual({ ...quick, slowUntil: now + SUSPECT_FOR_MS });
    expect(paceOfSuspect(unproven, now)).toEqual({ slowUntil: now + SUSPECT_FOR_MS });
    for (const pace of [suspect, slow]) expect(paceOfSuspect(pace, now)).toBe(null);
  });

  it('delays only similar endpoints', () => {
    const handedOn = LANES.map((lane) => LANES.filter((each) => isSlower(each, lane)));
    expect(handedOn).toEqual([['new', 'slow'], ['slow'], []]);
  });
});
