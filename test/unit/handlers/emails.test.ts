import { describe, expect, it } from 'vitest';
import { EMAIL_WINDOW_MS, MAX_EMAILS } from '../../../lib/emails/email-budget.ts';
import { listed } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook, publish } from '../../support/requests.ts';
import type { Client, Project } from '../../support/service.ts';

const MINUTE_MS = 60_000;
/** The time from the first attempt to the sixth, which disables the webhook. */
const SCHEDULE_MS = (1 + 5 + 30 + 120 + 720) * MINUTE_MS;
const service = memoryService();
const emailsOf = ({ id }: { id: string }) => service.emails.filter(({ projectId }) => projectId === id);
const namesIn = (texts: readonly string[], pattern: RegExp) =>
  new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name)));
const createAdmin = ({ admin }: { admin: Client }, name = 'CI') =>
  admin('POST', '/v1/keys', { body: { type: 'admin', name } });

/** Causes every email about a project, except the one about an overload, with a text that a customer enters. */
async function causeEmails(own: typeof service, project: Project, text: string) {
  const { clock, endpoint, stopEmails, confirmAddresses } = own;
  const { admin } = project;
  const emails = [project.email, 'b@evil.example'];
  await admin('PATCH', '/v1/project', { body: { name: text.replace(/:\u200e?\/\/|\u200e/g, ' '), emails } });
  await confirmAddresses(project.id);
  await clock.advance(EMAIL_WINDOW_MS);
  const { body: key } = await createAdmin(project, text);
  await admin('POST', `/v1/keys/${key.id}/rotate`);
  await stopEmails(project.id, 'b@evil.example', 'bounced');
  await admin('POST', '/v1/project/test-mail');
  for (const _ of ['sent', 'held back']) await createAdmin(project, text);
  await clock.advance(EMAIL_WINDOW_MS);
  const live = await project.client('live');
  await createWebhook(live, endpoint(500).url, { description: text });
  await publish(live);
  await clock.advance(SCHEDULE_MS + MINUTE_MS);
}

/** The highest number of emails in any window. */
function mostInWindow(project: { id: string }): number {
  const times = emailsOf(project).map(({ at }) => at);
  return Math.max(0, ...times.map((start) => times.filter((at) => at >= start && at < start + EMAIL_WINDOW_MS).length));
}

async function repeat(times: number, act: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < times; i += 5) await Promise.all(Array.from({ length: 5 }, act));
}

it('sends no email about a live key, a new name or a rejected rotation', async () => {
  const project = await service.project();
  const { body: live } = await project.admin('POST', '/v1/keys', { body: { type: 'live' } });
  await project.admin('POST', `/v1/keys/${live.id}/rotate`);
  await project.admin('PATCH', '/v1/project', { body: { name: 'New', emails: [project.email] } });
  const statuses: number[] = [];
  for (const _ of [1, 2]) statuses.push((await project.admin('POST', `/v1/keys/${project.adminKey}/rotate`)).status);
  expect(statuses).toEqual([201, 409]);
  expect(emailsOf(project).map(({ subject }) => subject)).toEqual([`Admin key rotated (${project.id})`]);
  const [renamed] = await listed(project.admin, `/v1/audit?target=${project.id}`);
  expect(renamed.detail).toEqual({ name: 'New' });
});

it('every email has its reviewed content', async () => {
  const own = memoryService();
  const project = await own.project();
  await causeEmails(own, project, 'Acme & Co');
  const ids = new Map<string, string>();
  const content = own.emails.map(({ to, subject, text, html }) => {
    const links = [...html.matchAll(/href="(.*?)"/g)].map(([, link]) => link);
    const email = `To: ${to}\nSubject: ${subject}\n\n${text}\n\nLinks: ${links.join(' ')}\n`;
    return email
      .replace(/(?<=confirm-email\/prj_\w+\.)[\w-]+/g, 'TOKEN')
      .replace(/((?:evt|key|prj|whk)_)\w+|[\da-f_-]{36,}/g, (said, prefix = 'uuid_') => {
        const id = said.replaceAll('_', ''); // without the marks that separate digits
        ids.set(id, ids.get(id) ?? `${prefix}${ids.size + 1}`);
        return String(ids.get(id));
      });
  });
  await expect(content.join('\n\n')).toMatchFileSnapshot('emails.txt');
});

it('a summary also goes to the addresses from before a change of the addresses', async () => {
  const project = await service.project();
  for (let i = 0; i < MAX_EMAILS; i++) await createAdmin(project);
  for (const emails of [['one@example.com'], ['two@example.com', project.email.toUpperCase()]])
    await project.admin('PATCH', '/v1/project', { body: { emails } });
  await service.clock.advance(EMAIL_WINDOW_MS);
  const [summary] = emailsOf(project).filter(({ subject }) => subject.startsWith('Summary'));
  expect(summary?.to).toEqual([project.email]); // its new spelling and the other address are not confirmed
});

const HOSTILE = [
  'Sign in at http://evil.example/pay',
  'evil.example/pay',
  'www.evil.example',
  'mailto:pay@evil.example MAILTO:pay@evil.example',
  'evil\u2024example evil\u3002example evil\ufe52example evil\uff0eexample evil\uff61example',
  '<a href="//evil.example">Pay</a>',
  '\\\\evil\\share',
  'http:\u200e//evil.example \\\u200e\\evil\\share', // email clients do not receive the mark
  'Call +1 (555) 010-0199 evil',
  'Call 08005550199, 0800 555 0199 or 0800.555.0199 evil',
  'Call +49/30\u00a0555\u20110199, \uff10\uff18\uff10\uff10\uff15\uff15\uff15 or \u0660\u0668\u0660\u0660\u0665\u0665\u0665 evil',
];
/** The texts that phones turn into links: five digits of one telephone number (`VALID_PUNCTUATION` of libphonenumber). */
const TELEPHONE =
  /\p{Nd}([-x\u2010-\u2015\u2212\u30fc\uff0d-\uff0f\s\u00ad\u2060()\uff08\uff09\uff3b\uff3d.[\]/~]{0,4}\p{Nd}){4}/u;
/** The texts that email clients turn into links. */
const LINK = /[.\u2024\u3002\ufe52\uff0e\uff61]example|:\/\/evil|[a-z]:pay|\\\\evil/i;

it.each(HOSTILE)('the text of a customer is in no subject and never a link: %s', async (hostile) => {
  const project = await service.project();
  await causeEmails(service, project, hostile);
  const emails = emailsOf(project);
  expect(emails.map(({ subject }) => subject.split(/[(:]/)[0]?.trim())).toEqual([
    'Confirm this address',
    'Notification addresses changed',
    'Admin key created',
    'Admin key rotated',
    'Emails do not arrive',
    'Test email',
    'Admin key created',
    'Summary of notifications',
    'Webhook failing',
    'Webhook disabled',
  ]);
  for (const { subject, text, html } of emails) {
    expect(subject).toMatch(/^[\p{L}\p{Nd} _-]+(: [\p{L}\p{Nd} _-]+)? \(prj_\w+\)$/u);
    if (!subject.startsWith('Webhook')) expect(subject).not.toMatch(/evil|Sign|Pay|Call/);
    for (const said of [subject, text, html]) {
      expect(said).not.toMatch(LINK);
      for (const [part] of said.matchAll(/Call.*?evil/g)) expect(part).not.toMatch(TELEPHONE);
    }
    expect(html).not.toContain('<a href="//');
  }
  const { email: first } = project;
  const other = 'b@evil.example';
  const both = [first, other];
  expect(emails.map(({ to }) => to)).toEqual([[other], [first], both, both, ...Array(6).fill([first])]);
});

it('a summary has the description of each webhook, and links only to its page in the dashboard', async () => {
  const project = await service.project();
  const live = await project.client('live');
  const ids: string[] = [];
  for (let i = 0; i < MAX_EMAILS + 2; i++) {
    const description = `Search ${i} of www.evil.example`;
    ids.push((await createWebhook(live, service.endpoint(500).url, { description })).id);
  }
  await publish(live);
  await service.clock.advance(36 * MINUTE_MS + EMAIL_WINDOW_MS + MINUTE_MS);
  const [summary] = emailsOf(project).filter(({ subject }) => subject.startsWith('Summary'));
  const names = [...(summary?.text ?? '').matchAll(/^Webhook failing: (.*) \(live, .*\n.*\n(.*)$/gm)];
  expect(names).toHaveLength(2);
  for (const [, name, link] of names) {
    expect(name).toMatch(/^Search \d of www·evil·example$/);
    expect(link).toBe(`${service.baseUrl}/dashboard#/live/webhooks/${ids[Number(name?.[7])]}`);
  }
  expect(summary?.text).not.toMatch(LINK);
  const links = [...(summary?.html ?? '').matchAll(/<a href="(.*?)".*?>(.*?)<\/a>/g)];
  const places = links.map(([, href = '', label]) => `${label}: ${href.replace(/whk_\w+/, 'whk')}`);
  expect(new Set(places)).toEqual(
    new Set([
      `Open in the dashboard: ${service.baseUrl}/dashboard#/live/webhooks/whk`,
      `Open the dashboard: ${service.baseUrl}/dashboard`,
      `Change the addresses: ${service.baseUrl}/dashboard#/live/settings`,
    ]),
  );
});

describe('100 requests in concurrent groups of five send at most 5 emails in 10 minutes and a summary', () => {
  it('new admin keys', async () => {
    const project = await service.project();
    await repeat(100, () => createAdmin(project));
    expect(emailsOf(project)).toHaveLength(5);
    await service.clock.advance(EMAIL_WINDOW_MS + MINUTE_MS);
    const [summary, ...others] = emailsOf(project).slice(5);
    expect(summary?.text).toContain('95 changes are in the audit log');
    expect(others).toEqual([]);
    await service.clock.advance(EMAIL_WINDOW_MS + MINUTE_MS);
    expect(emailsOf(project)).toHaveLength(6);
    expect(mostInWindow(project)).toBeLessThanOrEqual(MAX_EMAILS);
  });

  it('test emails, of which one per minute is sent, and which count too', async () => {
    const project = await service.project();
    await repeat(100, () => project.admin('POST', '/v1/project/test-mail'));
    expect(emailsOf(project)).toHaveLength(1);
    const waits: (string | undefined)[] = [];
    for (let i = 0; i < 10; i++) {
      await service.clock.advance(MINUTE_MS);
      waits.push((await project.admin('POST', '/v1/project/test-mail')).headers['retry-after']);
    }
    expect(waits[4]).toBe('300'); // five were sent, and the first is five minutes old
    expect(mostInWindow(project)).toBe(MAX_EMAILS);
  });

  it('failing and disabled webhooks of the sandbox, of which each is named', async () => {
    const project = await service.project();
    const test = await project.client('test');
    const webhooks: string[] = [];
    for (let i = 0; i < 100; i++) webhooks.push((await createWebhook(test, service.endpoint(500).url)).id);
    await publish(test);
    await service.clock.advance(SCHEDULE_MS + 2 * EMAIL_WINDOW_MS);
    const texts = emailsOf(project).map(({ subject, text }) => `${subject}\n${text}`);
    expect(namesIn(texts, /Webhook failing: (\w+)/g)).toEqual(new Set(webhooks));
    expect(namesIn(texts, /Webhook disabled: (\w+)/g)).toEqual(new Set(webhooks));
    expect(texts).toHaveLength(2 * (MAX_EMAILS + 1));
    const last = emailsOf(project).at(-1);
    const linked = namesIn(
      [String(last?.html)],
      /<p>Webhook disabled: (?:.*)<br>\n<a href="[^"]*#\/sandbox\/webhooks\/(\w+)">/g,
    );
    expect(linked).toEqual(namesIn([String(last?.text)], /^Webhook disabled: (\w+) /gm));
    expect(linked.size).toBe(100 - MAX_EMAILS);
    expect(last?.text).toContain(`Open the dashboard:\n${service.baseUrl}/dashboard`);
    expect(last?.text).not.toContain('audit log');
    expect(mostInWindow(project)).toBeLessThanOrEqual(MAX_EMAILS);
  });
});
