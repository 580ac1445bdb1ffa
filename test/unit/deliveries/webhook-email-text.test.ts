import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../../lib/deliveries/attempt.ts';
import { type Failing, notificationOf, summaryLine } from '../../../lib/deliveries/webhook-email-text.ts';
import type { WebhookState } from '../../../lib/webhooks/email-state.ts';
import { attempt, event, webhook as hook, now } from './builders.ts';

const at = now;
const webhook = hook({
  environment: 'sandbox',
  url: 'https://example.com/hook?a=1&b=<2>',
  secret: 'whsec_secret',
  status: 'disabled',
});
const attempts = [1, 2, 3, 4, 5, 6].map((number) =>
  attempt({
    ...{ number, at: at + number * 60_000, statusCode: 500 + number, durationMs: 12 },
    excerpt: `<script>alert(${number})</script>`,
  }),
);
const project = { id: 'prj_1', name: 'Acme <b>' };
const to = ['ops@example.com', 'oncall@example.com'];
const dashboardUrl = 'https://api.example.com/live/dashboard';
const emailAbout = (what: WebhookState, more: Partial<Failing> = {}) =>
  notificationOf({ project, dashboardUrl }, to, what, { webhook, event: event(), attempts, unreceived: 39, ...more });

const KINDS = ['failing', 'disabled', 'overloaded'] as const;

describe('an email', () => {
  const described = { ...webhook, description: 'Search index', failingSince: at - 60_000 };
  const of = (more: Parameters<typeof emailAbout>[1]) => emailAbout('disabled', { webhook: described, ...more });

  // `unit/handlers/emails.txt` has a complete email.
  it('has the environment and the outage of the webhook', () => {
    const { text } = of({});
    expect(text).toContain('\nFailing since: 31 Jan 2026, 11:59 UTC\n');
    expect(text).toContain('\nEnvironment:   sandbox\nNot received:  39 events\n');
    expect(of({ unreceived: 1 }).text).toContain('\nNot received:  1 event\n');
    expect(text).toContain(`${dashboardUrl}#/sandbox/webhooks/whk_1/deliveries/evt_1\n`);
  });

  it.each(KINDS)('says the same in HTML as in text: %s', (what) => {
    const squeezed = (said: string) => said.replace(/[\s:.]/g, '');
    const { text, html } = emailAbout(what, { webhook: described });
    const shown = html
      .replace(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/g, '$2$1')
      .replace(/<[^>]+>/g, '')
      .replace(/&#(\d+);/g, (_, char) => String.fromCharCode(char));
    expect(squeezed(shown)).toBe(squeezed(text.replace(/^(> |\d\. |--$)/gm, '')));
  });

  it.each(KINDS)('colors no text whose background a dark theme can replace: %s', (what) => {
    const { html } = emailAbout(what, { webhook: described });
    const styles = [...html.matchAll(/style="([^"]*)"/g)].map(([, style = '']) => style.split(';'));
    const colored = styles.filter((style) => style.some((each) => each.startsWith('color:')));
    expect(colored.length).toBeGreaterThan(0);
    expect(colored.filter((style) => !style.some((each) => each.startsWith('background:')))).toEqual([]);
  });

  it('omits unknown facts', () => {
    const [attempt] = attempts as [Attempt];
    const silent: Attempt = { ...attempt, statusCode: null, error: 'timeout', excerpt: '' };
    const bare = of({ webhook, attempts: [silent] });
    expect(bare.text + bare.html).not.toMatch(/Description|Response body/);
    expect(bare.html).toContain('</table>\n<p>Next steps');
    expect(bare.text).toContain(`
Attempts:      1
Failing since: 31 Jan 2026, 12:01 UTC
Last attempt:  31 Jan 2026, 12:01 UTC
Last response: no complete response within 5 seconds (timeout), after 12 ms

Next steps:
`);
    expect(of({ attempts: [{ ...attempt, error: 'strange' }] }).text).toContain('HTTP 501; strange (strange), after');
    expect(of({ attempts: [{ ...attempt, error: null }] }).text).toContain('HTTP 501; no error, after 12 ms');
    expect(of({ attempts: [] }).text).toContain('Event type:   document.deleted\n\nNext steps:');
  });
});

it('marks every line of the response, so that an endpoint cannot insert steps', () => {
  const [attempt] = attempts as [Attempt];
  const excerpt = 'Error\n\nNext steps:\u20281. Visit http://evil.example/';
  const { text } = emailAbout('disabled', { attempts: [{ ...attempt, excerpt }] });
  expect(text).toContain(
    '(first 1 KiB):\n> Error\n> \n> Next steps: 1. Visit http: //evil·example/\n\nNext steps:\n1. Fix',
  );
});

it.each([
  ['Search index', 'Search index'],
  ['Search (v2): http://evil.example/pay', 'Search v2 http evil example pay'],
  [`${'Long '.repeat(20)}`, `${'Long '.repeat(12)}`.trim()],
  [`${'a'.repeat(59)}𠮷𠮷`, `${'a'.repeat(59)}𠮷`],
  ['Call 0800 555 0199', 'Call 0800 _555 0_199'],
  ['\u202eevil \n\t', 'evil'],
  ['...', 'whk_1'],
  [null, 'whk_1'],
])('names the webhook in the subject by inert characters of its description: %j', (description, name) => {
  expect(emailAbout('failing', { webhook: { ...webhook, description } }).subject).toBe(
    `Webhook failing: ${name} (prj_1)`,
  );
});

describe('the line of a summary', () => {
  it.each([
    ['a failing webhook', 'failing', attempts.slice(0, 4), ', last attempt on 31 Jan 2026, 12:04 UTC'],
    ['a disabled webhook', 'disabled', attempts, ', last attempt on 31 Jan 2026, 12:06 UTC'],
    ['a webhook without attempts', 'disabled', [], ''],
  ] as const)('names %s', (_, what, made, last) => {
    const line = summaryLine({ webhook, event: event(), attempts: made, unreceived: 39 }, what);
    expect(line).toEqual({
      text: `Webhook ${what}: whk_1 (sandbox, example·com), 39 events not received${last}`,
      place: '/sandbox/webhooks/whk_1',
    });
  });

  it('names a webhook by its description', () => {
    const named = { ...webhook, description: 'Search v2.1' };
    const { text } = summaryLine({ webhook: named, event: event(), attempts: [], unreceived: 1 }, 'disabled');
    expect(text).toBe('Webhook disabled: Search v2·1 (sandbox, example·com), 1 event not received');
  });

  it('has a maximum length', () => {
    const long = { ...webhook, url: `https://${`${'x'.repeat(60)}.`.repeat(4)}com/`, description: 'x'.repeat(500) };
    expect(
      summaryLine({ webhook: long, event: event(), attempts: [], unreceived: 1e9 }, 'failing').text.length,
    ).toBeLessThan(200);
  });
});

it('states the limit of an overloaded webhook, and how to recover skipped deliveries', () => {
  const overload = emailAbout('overloaded', { webhook: { ...webhook, maxPerSecond: 20 }, attempts: [] });
  expect(overload.subject).toBe('Webhook overloaded: whk_1 (prj_1)');
  expect(overload.text).toContain('limit of 20 attempts per second');
  expect(overload.text).toContain('wait for more than an hour');
  expect(overload.text).toContain('\n1. Raise or remove the limit');
  expect(overload.text).toContain('Recover the skipped deliveries.');
});

it('a warning counts from the end of its last attempt, and is also created without attempts', () => {
  const last = attempt({ number: 4, at: at + 55_000, durationMs: 5000 });
  expect(emailAbout('failing', { attempts: [last] }).text).toContain('on 1 Feb 2026, 02:01 UTC');
  expect(emailAbout('failing', { attempts: [] }).text).toContain('0 of 6 attempts');
});
