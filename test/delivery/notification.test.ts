import { describe, expect, it } from 'vitest';
import { disabledNotification, warningNotification } from '../../lib/delivery/notification.ts';
import type { Attempt } from '../../lib/delivery/record.ts';
import { newEvent } from '../../lib/events/events.ts';
import { sampleData } from '../../lib/events/samples.ts';
import type { WebhookRecord } from '../../lib/webhooks/webhooks.ts';

const at = Date.UTC(2026, 0, 31, 12);
const space = { projectId: 'prj_1', environment: 'sandbox' as const };
const webhook: WebhookRecord = {
  ...space,
  id: 'whk_1',
  url: 'https://example.com/hook?a=1&b=<2>',
  events: ['document.deleted'],
  description: null,
  secret: 'whsec_secret',
  status: 'disabled',
  createdAt: at,
  updatedAt: at,
};
const event = newEvent({
  ...space,
  id: 'evt_1',
  at,
  type: 'document.deleted',
  data: sampleData('document.deleted', at),
});
const attempts = [1, 2, 3, 4, 5, 6].map(
  (number): Attempt => ({
    number,
    trigger: 'schedule',
    at: at + number * 1000,
    statusCode: 503,
    error: 'status_not_2xx',
    durationMs: 12,
    excerpt: '<script>alert(1)</script>',
  }),
);
const project = { name: 'Acme <b>', emails: ['ops@example.com', 'oncall@example.com'] };
const dashboardUrl = 'https://api.example.com/live/dashboard';
const email = disabledNotification({ project, webhook, event, attempts, dashboardUrl });

describe('the email about a disabled webhook', () => {
  it('names the webhook, the event, the failure and its times, and the next steps', () => {
    expect(email.to).toEqual(project.emails);
    expect(email.subject).toBe('Webhook disabled: example.com/hook');
    for (const fact of [
      'whk_1',
      webhook.url,
      'evt_1',
      'sandbox',
      'HTTP 503',
      '2026-01-31T12:00:01.000Z',
      '2026-01-31T12:00:06.000Z',
      'POST /v1/webhooks/whk_1/recover {"enable":true}',
      'https://api.example.com/live/dashboard#/sandbox/webhooks/whk_1\n',
      'https://api.example.com/live/dashboard#/sandbox/webhooks/whk_1/deliveries/evt_1',
    ]) {
      expect(email.text).toContain(fact);
    }
  });

  it('shows the response of an endpoint as text', () => {
    expect(email.html).not.toMatch(/<script|<2>|<b>/);
    expect(email.html).toContain('&#60;script&#62;');
  });

  it('contains no secret', () => {
    expect(email.text + email.html).not.toContain(webhook.secret);
  });
});

describe('the subject of an email', () => {
  it.each([
    ['the description', { description: 'Search index' }, 'Search index (example.com)'],
    ['the path without a description', {}, 'example.com/hook'],
    ['no more than it can hold', { description: 'x'.repeat(500) }, `${'x'.repeat(119)}…`],
  ])('tells webhooks on one host apart by %s', (_, overrides, name) => {
    const of = { project, webhook: { ...webhook, ...overrides }, event, attempts, dashboardUrl };
    expect(disabledNotification(of).subject).toBe(`Webhook disabled: ${name}`);
  });
});

describe('the warning', () => {
  it('says when the webhook will be disabled: two retries, 14 hours after the fourth failure', () => {
    const warning = warningNotification({ project, webhook, event, attempts: attempts.slice(0, 4), dashboardUrl });
    expect(warning.subject).toBe('Webhook failing: example.com/hook');
    expect(warning.text).toContain('4 of 6 attempts');
    expect(warning.text).toContain('disable the webhook at 2026-02-01T02:00:04.012Z');
    expect(warning.text).not.toContain('enable');
  });
});
