import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { changed } from '../support/changed.ts';
import { listed, put } from '../support/documents.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, deliveryOf, publish } from '../support/requests.ts';
import { eventually, type Project, useService } from '../support/service.ts';
import { copyShown, heading, useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);
let project: Project;
let key: { id: string; key: string };
beforeEach(async () => {
  project = await service.project();
  key = (await project.admin('POST', '/v1/keys', { body: { type: 'live', name: 'Links' } })).body;
});

/** The path of a new link, as a browser opens it. */
async function linkOf(role: 'viewer' | 'editor', user?: string): Promise<string> {
  const { body } = await service.as(key.key)('POST', '/v1/dashboard-links', { body: { role, user } });
  return body.url.replace(service.stack.baseUrl, '');
}

const banner = (page: Page) => page.locator('.link-banner').textContent();
const place = (page: Page) => page.evaluate(() => location.pathname + location.hash);
const isSignedIn = (page: Page) => page.getByRole('button', { name: 'Sign out' }).waitFor();

/** Goes to a place of the dashboard, and returns its buttons that do something. */
async function actionsAt(page: Page, at: string): Promise<string[]> {
  await page.goto(`${service.stack.baseUrl}/dashboard#/live${at}`);
  await expect.poll(() => page.getByText('Loading…').count()).toBe(0);
  await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
  const actions = page.locator('main').locator('button, a.button, input[type="checkbox"]');
  return (await actions.evaluateAll((all) => all.map((each) => each.ariaLabel ?? each.textContent ?? ''))).sort();
}

describe('a link', () => {
  it('signs in without a key, and leaves its session in no URL, history entry or log', async () => {
    const page = await dashboard.open('/docs');
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    const link = await linkOf('viewer', 'ann@example.com');
    await page.goto(service.stack.baseUrl + link);
    await isSignedIn(page);
    expect(await banner(page)).toMatch(/^Viewer ann@example\.com · Live · .* This access ends in (1 h|59 min.*)\.$/);
    expect(await place(page)).toBe('/dashboard#/live');
    await page.goto(`${service.stack.baseUrl}/dashboard#/live/events`);
    await heading(page, 'Events').waitFor();
    await page.goBack();
    await heading(page, 'Overview').waitFor();
    expect(await place(page)).toBe('/dashboard#/live');
    await page.goBack();
    await expect.poll(() => place(page)).toBe('/docs');
    await page.goForward();
    await isSignedIn(page); // the tab keeps the session
    const parts = link.split('#session=')[1]?.split('.') ?? [];
    expect(parts).toHaveLength(3);
    for (const part of parts) {
      expect(requested.filter((url) => url.includes(part))).toEqual([]);
      expect(service.log.filter((line) => line.includes(part))).toEqual([]);
    }
  });

  it('wins over another sign-in in the tab, and says so', async () => {
    const page = await dashboard.signIn(project.adminKey, '/sandbox/keys');
    const follow = async (link: string) => {
      await page.evaluate((url) => void location.assign(url), link);
      await page.getByText('It replaced').waitFor();
      return [await place(page), (await banner(page))?.split('It replaced ')[1]];
    };
    const shown = `svc_admin_…${project.adminKey.slice(-4)}`;
    expect(await follow(await linkOf('editor', 'Bob'))).toEqual(['/dashboard#/live', `${shown} in this tab.`]);
    expect(await page.getByRole('link', { name: 'Keys' }).count()).toBe(0);
    expect(await follow(await linkOf('viewer'))).toEqual(['/dashboard#/live', 'the link of Bob in this tab.']);
    expect(await banner(page)).toMatch(/^Viewer Live · /);
    await page.goto(`${service.stack.baseUrl}/docs/api-webhooks`);
    await page.locator('#listWebhooks').getByText('Try it').click();
    expect(await page.locator('#listWebhooks').getByLabel('Key or token').inputValue()).toBe('');
  });

  it('shows why it does not work', async () => {
    const link = await linkOf('viewer');
    const [start = '', claims = '', signature = ''] = link.split('.');
    for (const incomplete of ['/dashboard#session=', `${start}.${claims}`, `${start}.`, `${start}.${claims}.`]) {
      const page = await dashboard.open(incomplete);
      await heading(page, 'This link is incomplete').waitFor();
      expect([await place(page), await page.evaluate(() => sessionStorage.length)]).toEqual(['/dashboard#/live', 0]);
    }
    const content = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const past = Buffer.from(JSON.stringify({ ...content, exp: content.iat - 60 })).toString('base64url');
    const expired = await dashboard.open(`${start}.${past}.${signature}`);
    await heading(expired, 'This link has expired').waitFor();
    await expired.getByRole('button', { name: 'Continue with a key' }).click();
    await expired.getByLabel('API key').waitFor();
  });

  it('ends with its key on the next action', async () => {
    const page = await dashboard.open(await linkOf('editor', 'Bob'));
    await isSignedIn(page);
    await project.admin('POST', `/v1/keys/${key.id}/revoke`);
    await page.evaluate(() => location.assign('#/live/webhooks')); // a refresh can come first, and removes the links of the page
    await heading(page, 'This link no longer works').waitFor();
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('eyJ');
  });
});

describe('the dashboard of a link', () => {
  const READING = [
    'Browse',
    'Copy code',
    'Copy',
    'Copy the ID',
    'Copy the endpoint URL',
    'Export',
    'Refresh',
    'Search',
  ];
  const VIEWS = [
    'View all events',
    'View deliveries',
    'Copy as curl',
    'Download',
    'Close',
    'Next',
    'Previous',
    'Open page',
  ];
  const isReading = (action: string) => [...READING, ...VIEWS].some((each) => action.startsWith(each));

  it('has only what the role can do, and no page that only returns 403', async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end());
    const { id } = await createWebhook(project.admin, receiver.url, { description: 'Search index' });
    const { body: event } = await publish(project.admin, changed());
    await eventually(() => deliveryOf(project.admin, id, event.id));
    await put(project.admin, 'org:acme:doc', { a: 1 });
    const places = [
      ...['', '/events', `/events/${event.id}`, '/tokens', '/documents', '/documents/org%3Aacme%3Adoc'],
      ...['/webhooks', `/webhooks/${id}`, `/webhooks/${id}?recover=1`, `/webhooks/${id}/settings`],
      ...[`/webhooks/${id}/deliveries/${event.id}`, `/webhooks/${id}?delivery=${event.id}`],
    ];
    const denied: string[] = [];
    const open = async (role: 'viewer' | 'editor') => {
      const page = await dashboard.open(await linkOf(role));
      await isSignedIn(page);
      page.on('response', (response) => void (response.status() === 403 && denied.push(response.url())));
      return page;
    };
    const [viewer, editor] = [await open('viewer'), await open('editor')];
    const changing: Record<string, string[]> = {};
    for (const at of places) {
      expect(
        (await actionsAt(viewer, at)).filter((action) => !isReading(action)),
        at,
      ).toEqual([]);
      const own = (await actionsAt(editor, at)).filter((action) => !isReading(action));
      if (own.length > 0) changing[at] = own;
    }
    expect(Object.keys(changing)).toEqual(places.filter((at) => at.startsWith('/webhooks')));
    expect(changing[`/webhooks/${id}`]).toEqual(expect.arrayContaining(['Pause', 'Recover', 'Send test event']));
    for (const page of [viewer, editor])
      for (const at of [
        '/keys',
        '/settings',
        '/links',
        '/documents?new=1',
        ...(page === viewer ? ['/webhooks/new'] : []),
      ]) {
        expect(await actionsAt(page, at)).toEqual([]);
        await heading(page, 'Not available with this link').waitFor();
      }
    expect(denied).toEqual([]);
  });

  it('lets an editor pause a webhook, which the audit log shows with the key and the user', async () => {
    const { id } = await createWebhook(project.admin, (await startReceiver()).url);
    const page = await dashboard.open(await linkOf('editor', 'bob@example.com'));
    await isSignedIn(page);
    await page.goto(`${service.stack.baseUrl}/dashboard#/live/webhooks/${id}`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Webhook paused.').waitFor();
    const [entry] = await listed(project.admin, '/v1/audit');
    expect(entry).toMatchObject({ actor: key.id, link: { user: 'bob@example.com' }, target: id });
    const admin = await dashboard.signIn(project.adminKey, '/live/settings');
    await admin.getByText('with a link, bob@example.com').waitFor();
  });
});

it('a key of an environment creates a link for it, which works in another browser', async () => {
  const page = await dashboard.signIn(await project.key('test'), '/sandbox/links');
  await page.getByLabel('Editor').check();
  await page.getByLabel('Lifetime').selectOption('15 minutes');
  await page.getByLabel('User').fill('Carol');
  await page.getByRole('button', { name: 'Create link' }).click();
  const url = await copyShown(page);
  const other = await dashboard.open(url.replace(service.stack.baseUrl, ''));
  await isSignedIn(other);
  expect(await banner(other)).toMatch(/^Editor Carol · Sandbox · .* ends in 1[45] min.*\.$/);
});
