import { describe, expect, it } from 'vitest';
import { roundedUp } from '../../../../functions/site/dashboard/components/bars.tsx';
import { durationText } from '../../../../functions/site/dashboard/components/time.tsx';

describe('a duration', () => {
  it.each([
    [0, '0 s'],
    [59, '59 s'],
    [60, '1 min'],
    [7200, '2 h'],
    [86_399, '23 h 59 min 59 s'],
    [90_061, '1 d 1 h 1 min 1 s'],
  ])('formats %d seconds as %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});

describe('the scale of a chart', () => {
  it.each([
    [0, 2],
    [1, 2],
    [3, 4],
    [19, 20],
    [21, 40],
    [96, 100],
    [2010, 4000],
  ])('for values up to %d ends at %d', (highest, top) => {
    expect(roundedUp(highest)).toBe(top);
  });
});
