import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { roundedUp } from '../../../../functions/site/dashboard/components/bars.tsx';
import { choicesOf, chosenPeriod } from '../../../../functions/site/dashboard/components/period.ts';
import { durationText, fromLocal, toLocal } from '../../../../functions/site/dashboard/components/time.tsx';
import { nameOf } from '../../../../functions/site/dashboard/keys/keys.tsx';
import { problemText } from '../../../../functions/site/dashboard/state/session.ts';
import { isUnstable, latencyText } from '../../../../functions/site/dashboard/webhooks/stats.ts';
import {
  headersOf,
  headerText,
  limitOf,
  linesOf,
  problemIn,
  webhookName,
} from '../../../../functions/site/dashboard/webhooks/webhook-text.ts';

describe('a duration', () => {
  it.each([
    [0, '0 s'],
    [60, '1 min'],
    [86_399, '23 h 59 min 59 s'],
    [90_061, '1 d 1 h 1 min 1 s'],
  ])('formats %d seconds as %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});

describe('a problem', () => {
  it.each([
    [503, 'Out of order. (Request ID: req_1)'],
    [409, 'Out of order.'],
  ])('with status %d has the text %s', (status, text) => {
    expect(problemText({ code: 'any', status, detail: 'Out of order.', request_id: 'req_1' })).toBe(text);
  });
});

describe('the value of a time field', () => {
  it.each([
    ['America/New_York', '2026-01-31T12:00', '2026-01-31T17:00:00.000Z'],
    ['America/New_York', '2026-07-31T12:00', '2026-07-31T16:00:00.000Z'],
    ['Asia/Kolkata', '2026-01-31T12:00', '2026-01-31T06:30:00.000Z'],
    ['UTC', '', undefined],
    ['UTC', 'yesterday', 'yesterday'],
  ])('is in the time zone of the user: %s %s', (zone, value, time) => {
    vi.stubEnv('TZ', zone);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(fromLocal(value)).toBe(time);
  });
});

describe('a time of the API', () => {
  it.each([
    ['America/St_Johns', '2026-07-31T02:29:59.999Z', '2026-07-30T23:59'],
    ['Asia/Kolkata', '2026-01-31T18:30:00.000Z', '2026-02-01T00:00'],
    ['UTC', '', ''],
  ])('is in a field in the time zone of the user: %s %s', (zone, at, value) => {
    vi.stubEnv('TZ', zone);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(toLocal(at)).toBe(value);
  });
});

describe('a period', () => {
  const now = Date.parse('2026-03-30T10:00:00Z');
  const before = { since: '2026-03-01T00:00:00.000Z', until: '' };

  it.each([
    ['', '', ''],
    ['hour', '2026-03-30T09:00:00.000Z', ''],
    ['day', '2026-03-29T10:00:00.000Z', ''],
    ['yesterday', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'], // 23 hours, because summer time starts
    ['week', '2026-03-23T10:00:00.000Z', ''],
    ['custom', '2026-03-01T00:00:00.000Z', ''], // its fields start with the period before
  ])('has the times of its choice: %j', (choice, since, until) => {
    vi.stubEnv('TZ', 'Europe/Berlin');
    onTestFinished(() => void vi.unstubAllEnvs());
    const period = chosenPeriod(choice, before, now);
    expect(period).toEqual({ period: choice, since, until });
    expect(choicesOf(period).chosen).toBe(choice);
  });

  it('of a bar of a chart is an option until another one is chosen', () => {
    const { chosen, options } = choicesOf({ period: '', since: '2026-03-30T09:00:00.000Z', until: '' });
    expect(options.find(([value]) => value === chosen)?.[1]).toMatch(/2026|Mar/);
  });
});

describe('the scale of a chart', () => {
  it.each([
    [0, 2],
    [3, 4],
    [21, 40],
    [2010, 4000],
  ])('for values up to %d ends at %d', (highest, top) => {
    expect(roundedUp(highest)).toBe(top);
  });
});

describe('the stats of a webhook', () => {
  it.each([
    [17, 2, false],
    [18, 2, true],
    [19, 1, false],
  ])('with %d successful and %d failed attempts are unstable: %s', (delivered, attemptsFailed, unstable) => {
    const counts = { delivered, failed: 0, unsent: 0, paused: 0 };
    const summary = { counts, attemptsFailed, p50: null, p95: null };
    expect(isUnstable({ undelivered: 0, retrying: 1 }, summary)).toBe(unstable);
    expect(isUnstable({ undelivered: 1, retrying: 0 }, summary)).toBe(unstable);
    expect(isUnstable({ undelivered: 0, retrying: 0 }, summary)).toBe(false); // repaired
  });

  it('have latencies in milliseconds, and from a second in seconds', () => {
    expect([null, 999, 1500].map(latencyText)).toEqual(['–', '≤ 999 ms', '≤ 1.5 s']);
  });
});

describe('the name of a webhook or a key', () => {
  it.each([null, '', ' ', '\u202e'])('is its address or its type instead of %j', (text) => {
    expect(webhookName({ url: 'https://example.com/hook', description: text })).toBe('example.com/hook');
    expect(nameOf({ name: text, type: 'live' })).toBe('Unnamed live key');
  });
});

describe('the text of a form', () => {
  it('has an entry in every line that is not empty', () => {
    expect(linesOf(' org:acme:*\n\n\torg:b \r\n')).toEqual(['org:acme:*', 'org:b']);
    expect(linesOf(' \n')).toEqual([]);
  });

  it('has one header per line, whose value can contain colons', () => {
    expect(headersOf('X-Time: 12:00\nAuthorization:Bearer a b\nX-Empty')).toEqual({
      'X-Time': '12:00',
      Authorization: 'Bearer a b',
      'X-Empty': '',
    });
    expect(headersOf(headerText({ a: '1', b: '2' }))).toEqual({ a: '1', b: '2' });
  });

  it.each([
    ['', null],
    [' 20 ', 20],
    ['2.5', 2.5],
    ['20/s', 0],
  ])('has a rate limit "%s" as %s, so that the API rejects other texts', (text, limit) => {
    expect(limitOf(text)).toBe(limit);
  });

  it('keeps hidden headers without a change, and requires their values after a change', () => {
    const saved = headerText({ 'X-Tenant': '***', 'X-Key': '***' });
    expect(problemIn(saved, saved)).toBeUndefined();
    expect(problemIn('X-Tenant: acme\nX-Key: ***', saved)).toContain('X-Key');
    expect(problemIn('X-Tenant: acme', saved)).toBeUndefined();
    expect(problemIn('', saved)).toBeUndefined();
    expect(problemIn('X-Key: 1\nX-Key: 2', saved)).toContain('a different name');
  });
});
