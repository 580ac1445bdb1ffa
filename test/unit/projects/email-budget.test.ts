import { expect, it } from 'vitest';
import {
  confirmed,
  EMPTY_BUDGET,
  LOST_AFTER_MS,
  nextCheckAt,
  reserved,
  summarized,
  type Told,
} from '../../../lib/projects/email-budget.ts';

const told = (line: string, since: number): Told => ({ since, changes: 1, lines: [line], to: [`${line}@example.com`] });
/** Two emails whose end is unknown. */
const both = () => reserved(reserved(EMPTY_BUDGET, 'a', told('a', 0), 0).next, 'b', told('b', 1000), 1000).next;
const linesOf = (...summary: Parameters<typeof summarized>) => summarized(...summary).told?.lines;

it('a confirmed email is in no summary, and another email that was lost is', () => {
  expect(linesOf(confirmed(both(), 'a').next, 'summary', 1000 + LOST_AFTER_MS)).toEqual(['b']);
  expect(linesOf(confirmed(both(), 'b').next, 'summary', LOST_AFTER_MS)).toEqual(['a']);
});

it('an email that can still be confirmed is left for the next summary', () => {
  expect(nextCheckAt(both(), 1000)).toBe(LOST_AFTER_MS);
  const { told: first, next } = summarized(both(), 'summary', LOST_AFTER_MS);
  expect(first?.lines).toEqual(['a']);
  const sent = confirmed(next, 'summary').next;
  expect(nextCheckAt(sent, LOST_AFTER_MS)).toBe(1000 + LOST_AFTER_MS);
  expect(linesOf(sent, 'later', 1000 + LOST_AFTER_MS)).toEqual(['b']);
});

it.each([
  ['first', 0, 1, 'one'],
  ['first, together with the second', 1, 1, 'one'],
  ['last', 2, 1, 'two'],
])('a summary goes to the addresses from when the first of it happened, which was recorded %s', (_, one, two, name) => {
  const lost = reserved(reserved(EMPTY_BUDGET, 'a', told('one', one), 5).next, 'b', told('two', two), 5).next;
  const { told: summary } = summarized(lost, 'summary', 5 + LOST_AFTER_MS);
  expect(summary).toEqual({
    since: Math.min(one, two),
    changes: 2,
    lines: ['one', 'two'],
    to: [`${name}@example.com`],
  });
});
