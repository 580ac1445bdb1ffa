import { describe, expect, it } from 'vitest';
import {
  confirmed,
  EMAIL_WINDOW_MS,
  EMPTY_BUDGET,
  type EmailBudget,
  type Line,
  LOST_AFTER_MS,
  MAX_EMAILS,
  nextCheckAt,
  reserved,
  summarized,
  type Told,
  withEmail,
} from '../../../lib/emails/email-budget.ts';
import { now } from '../../memory/contracts/builders.ts';

const full = [0, 1, 2, 3, 4].reduce<EmailBudget>((budget, i) => withEmail(budget, now + i), EMPTY_BUDGET);
const linesOf = (texts: readonly string[]): Line[] => texts.map((text) => ({ text, place: '/live/settings' }));
const told = (since: number, lines: string[] = []): Told => ({
  ...{ since, lines: linesOf(lines), changes: lines.length === 0 ? 1 : 0 },
  to: ['a@example.com'],
});

describe('the emails to new addresses', () => {
  const emails = (names: string) => [...names].map((name) => `${name}@example.com`);
  const asked = (names: string, at = now) => emails(names).map((email) => ({ email, at }));
  const question = (names: string, at = now) => ({ since: at, changes: 0, lines: [], to: [], asked: asked(names, at) });
  const holding = (...each: Told[]) =>
    each.reduce<EmailBudget>((budget, one) => reserved(budget, 'a', one, now + 5).next, full);
  const isPending = (email: string) => !email.startsWith('gone');
  const later = now + EMAIL_WINDOW_MS + 4; // all places are free

  it('have a place each, after that of the summary, and the rest waits for the next places', () => {
    const budget = holding(question('abc'), told(now, ['One']), question('cdef'));
    const first = summarized(budget, 'e', later, isPending);
    expect(first.told).toMatchObject({ lines: linesOf(['One']), to: ['a@example.com'], asked: asked('abcd') });
    expect(first.next.sentAt).toEqual(Array(MAX_EMAILS).fill(later));
    expect(first.next.held?.asked).toEqual(asked('ef'));
    expect(nextCheckAt(confirmed(first.next, 'e').next, later)).toBe(later + EMAIL_WINDOW_MS);
    const second = summarized(first.next, 'f', later + EMAIL_WINDOW_MS, isPending);
    expect(second.told).toMatchObject({ lines: linesOf(['One']), asked: asked('abcd') }); // were not confirmed
    expect(second.next.held?.asked).toEqual(asked('ef'));
    const { told: rest, next } = summarized(confirmed(first.next, 'e').next, 'f', later + EMAIL_WINDOW_MS, isPending);
    expect(rest).toMatchObject({ changes: 0, lines: [], asked: asked('ef') });
    expect([next.held, next.sentAt.length]).toEqual([undefined, 2]);
  });

  it('are not sent to an address that does not wait anymore, and need no place', () => {
    const gone = { ...question(''), asked: [{ email: 'gone@example.com', at: now }] };
    const { told: none, next } = summarized(holding(gone), 'e', later, isPending);
    expect([none, next.held, next.reserved]).toEqual([undefined, undefined, []]);
    expect(next.sentAt).toEqual(full.sentAt);
  });

  it('wait for the change that adds the address, which can be later than the check', () => {
    const gone = { ...question(''), asked: [{ email: 'gone@example.com', at: later - LOST_AFTER_MS + 1 }] };
    const { told: none, next } = summarized(holding(gone), 'e', later, isPending);
    expect([none, next.held?.asked]).toEqual([undefined, gone.asked]);
    expect(nextCheckAt(next, later)).toBe(later + 1);
  });

  it('do not hide a change from the addresses of its time', () => {
    const notice = { ...told(now + 2), to: ['old@example.com'] };
    const { told: all } = summarized(holding(question('a', now + 1), notice), 'e', later, isPending);
    expect(all).toMatchObject({ since: now + 2, to: ['old@example.com'], asked: asked('a', now + 1) });
  });
});
