import { describe, expect, it } from 'vitest';
import {
  confirmed,
  EMAIL_WINDOW_MS,
  EMPTY_BUDGET,
  type EmailBudget,
  emailAllowedAt,
  nextCheckAt,
  reserved,
  summarized,
  withEmail,
} from '../../../lib/projects/email-budget.ts';

const now = Date.UTC(2026, 0, 31, 12);
const MINUTE_MS = 60_000;
const told = (since = now, lines: string[] = []) => ({
  since,
  changes: lines.length === 0 ? 1 : 0,
  lines,
  to: ['a@example.com'],
});
const full = [0, 1, 2, 3, 4].reduce<EmailBudget>((budget, i) => withEmail(budget, now + i), EMPTY_BUDGET);

describe('a budget', () => {
  it('allows the next email when the oldest leaves the window', () => {
    expect(emailAllowedAt(full, now + 5)).toBe(now + EMAIL_WINDOW_MS);
    expect(emailAllowedAt(full, now + EMAIL_WINDOW_MS)).toBe(now + EMAIL_WINDOW_MS);
    const { isAllowed, next } = reserved(full, 'a', told(), now + EMAIL_WINDOW_MS);
    expect([isAllowed, next.sentAt]).toEqual([true, [now + 1, now + 2, now + 3, now + 4, now + EMAIL_WINDOW_MS]]);
  });

  it('sends no other email before a summary that is due', () => {
    const { next } = reserved(full, 'a', told(), now + 5);
    expect(reserved(next, 'b', told(), now + EMAIL_WINDOW_MS + 4).isAllowed).toBe(false);
  });
});

describe('the check for a summary', () => {
  const held = reserved(full, 'a', told(), now + 5).next;
  const one = reserved(EMPTY_BUDGET, 'a', told(), now).next;
  const used = [1, 2, 3, 4].reduce((budget, i) => withEmail(budget, now + i), one);

  it.each<[string, EmailBudget, number, number | undefined]>([
    ['one minute after a reservation', one, now, now + MINUTE_MS],
    ['when an email is allowed, for what was held back', held, now + 5, now + EMAIL_WINDOW_MS],
    ['again, if it was early', held, now + EMAIL_WINDOW_MS - 1, now + EMAIL_WINDOW_MS],
    ['when an email is allowed, for what was lost', used, now + MINUTE_MS, now + EMAIL_WINDOW_MS],
    ['soon, if a summary is due', held, now + EMAIL_WINDOW_MS, now + EMAIL_WINDOW_MS + 1],
    ['not when nothing is left', confirmed(one, 'a').next, now, undefined],
  ])('comes %s', (_, budget, at, expected) => {
    expect(nextCheckAt(budget, at)).toBe(expected);
  });

  it('finds no summary that is early', () => {
    expect(summarized(held, 'b', now + EMAIL_WINDOW_MS - 1)).toEqual({ told: undefined, next: held });
    expect(summarized(one, 'b', now + MINUTE_MS - 1)).toEqual({ told: undefined, next: one });
  });
});

describe('a summary', () => {
  it('contains everything that was held back or lost, each line once, in one email of the budget', () => {
    const lost = reserved(EMPTY_BUDGET, 'a', told(now, ['One']), now).next;
    const used = [1, 2, 3, 4].reduce((budget, i) => withEmail(budget, now + i), lost);
    const two = reserved(used, 'b', told(now + 5, ['Two']), now + 5).next;
    const again = reserved(two, 'c', told(now + 6, ['Two']), now + 6).next;
    const three = reserved(again, 'd', { ...told(now + 7), to: ['b@example.com'] }, now + 7).next;
    const { told: all, next } = summarized(three, 'e', now + EMAIL_WINDOW_MS);
    const expected = { since: now, changes: 1, lines: ['One', 'Two'], to: ['a@example.com'] };
    expect(all).toEqual(expected);
    expect(next.held).toBeUndefined();
    expect(next.reserved).toEqual([{ id: 'e', at: now + EMAIL_WINDOW_MS, ...expected }]);
    expect(next.sentAt.at(-1)).toBe(now + EMAIL_WINDOW_MS);
    expect(summarized(next, 'f', now + EMAIL_WINDOW_MS + MINUTE_MS).told).toEqual(expected);
    expect(summarized(confirmed(next, 'e').next, 'f', now + EMAIL_WINDOW_MS + MINUTE_MS).told).toBeUndefined();
  });

  it('counts what has no place in its 200 lines', () => {
    let budget = full;
    for (let i = 0; i < 250; i++) budget = reserved(budget, 'a', told(now, [`Line ${i}`]), now + 5).next;
    expect(budget.held).toMatchObject({ changes: 50, lines: { length: 200 } });
  });
});
