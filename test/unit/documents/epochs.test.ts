import { expect, it } from 'vitest';
import { nextEpoch, nextRevision } from '../../../lib/documents/epochs.ts';

const NOW = Date.UTC(2026, 10, 28);

it('is one after another in the first epoch', () => {
  expect([nextRevision(0, 0), nextRevision(41, 0)]).toEqual([1, 42]);
});

it('is above every revision of an earlier epoch, for new documents too', () => {
  const last = nextRevision(0, 330) + 1e9;
  const first = nextRevision(3, 331);
  expect(first).toBeGreaterThan(last);
  expect([nextRevision(0, 331), nextRevision(first, 331)]).toEqual([first, first + 1]);
});

it('is an exact integer for 200 years of restores', () => {
  const epoch = nextEpoch(0, Date.UTC(2226, 0, 1));
  expect(Number.isSafeInteger(nextRevision(0, epoch) + 1e11)).toBe(true);
});

it.each([
  ['the day, also if the replaced table is lost', 0, 331],
  ['one more than another restore of the same day', 331, 332],
])('of a restored table is %s', (_, current, expected) => {
  expect(nextEpoch(current, NOW)).toBe(expected);
});
