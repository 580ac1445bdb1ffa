import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page, Request, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { changed } from '../support/changed.ts';
import { put } from '../support/documents.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, publish } from '../support/requests.ts';
import { eventually, useService } from '../support/service.ts';
import { copyShown, countClicks, fact, heading, makeIdle, signInWith, useDashboard } from './browser.ts';

const service = useService({ speed: 20_000 });
const dashboard = useDashboard(service);
/** A stack in real time, whose retries stay due. */
const slow = useService();
const slowDashboard = useDashboard(slow);
const badge = (page: Page) => fact(page, 'Status').locator('.badge').textContent();

describe('a webhook', () => {
  it('can be created with Create Webhook, endpoint URL, events, save', async () => {
    const project = await service.project();
    const live = await project.client('live');
    const receiver = await startReceiver();

    // Open the project Dashboard, choose Create Webhook, enter the endpoint URL, select events, save.
    const page = await dashboard.signIn(project.adminKey);
    await page.getByRole('link', { name: 'Create Webhook' }).click();
    await page.getByLabel('Endpoint URL').fill(receiver.url);
    await page.getByLabel('document.created').check();
    await page.getByLabel('document.deleted').check();
    await page.getByRole('button', { name: 'Save' }).click();
    const secret = await copyShown(page);
    await heading(page, receiver.url).waitFor();
    expect(await badge(page)).toBe('enabled');

    await put(live, 'org:acme:doc-1', { title: 'Draft' });
    await put(live, 'org:acme:doc-1', { title: 'Final' }); // document.changed is not subscribed
    await live('DELETE', '/v1/documents/org:acme:doc-1');
    const received = await receiver.until(2);
    expect(received.map(({ headers }) => headers['x-service-event-type']).sort()).toEqual([
      'document.created',
      'document.deleted',
    ]);
    for (const { headers, body } of received) {
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      expect(headers['x-service-signature']).toBe(`sha256=${signature}`);
    }
    await page.getByRole('link', { name: 'document.deleted' }).click();
    await page.getByRole('link', { name: 'Open page' }).click();
    await heading(page, 'document.deleted').waitFor();
    expect(await page.getByRole('region', { name: 'Payload' }).textContent()).toContain('org:acme:doc-1');
    await page.goBack(); // the drawer
    await page.goBack();
    await heading(page, receiver.url).waitFor();
    await page.goBack();
    await heading(page, 'Create Webhook').waitFor();
  });

  it('shows how to verify signatures next to its secret, in the language of the docs', async () => {
    const project = await service.project();
    const { id } = await createWebhook(project.admin, 'http://127.0.0.1:9/hook');
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}/settings`);
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Rotate secret' }).click();
    await dialog.getByLabel('Verification in JavaScript').waitFor();
    await dialog.getByLabel('Language').selectOption('Python');
    await dialog.getByRole('button', { name: 'Copy code' }).click();
    const code = await page.evaluate(() => navigator.clipboard.readText());
    expect(code).toContain('def is_genuine(');
    await copyShown(page);
    await page.getByText('Verify signatures').click();
    await expect.poll(() => page.getByLabel('Verification in Python').textContent()).toBe(code.trimEnd());
    const [docs] = await Promise.all([page.waitForEvent('popup'), page.getByText('use a library').click()]);
    await docs.getByText('from standardwebhooks import Webhook').waitFor();
    expect(await docs.getByText("from 'standardwebhooks'").isVisible()).toBe(false);
  });

  it('keeps the input of a form that was left, until it is saved or discarded', async () => {
    const { admin, adminKey } = await service.project();
    const { id } = await createWebhook(admin, 'http://127.0.0.1:9/hook', { description: 'Before', max_per_second: 5 });
    const page = await dashboard.signIn(adminKey, `/live/webhooks/${id}/settings`);
    await page.getByLabel('Description').fill('After');
    expect(await page.getByLabel('Requests per second').isVisible()).toBe(true);
    const leaveAndReturn = async () => {
      const tabs = page.getByRole('navigation', { name: 'Webhook', exact: true });
      await tabs.getByRole('link', { name: 'Deliveries' }).click();
      await tabs.getByRole('link', { name: 'Settings' }).click();
    };
    await leaveAndReturn();
    await page.getByText('Your unsaved changes were restored.').waitFor();
    expect(await page.getByLabel('Description').inputValue()).toBe('After');
    await page.getByRole('button', { name: 'Discard them' }).click();
    expect(await page.getByLabel('Description').inputValue()).toBe('Before');
    expect(await page.getByText('Your unsaved changes were restored.').count()).toBe(0);
    await page.getByLabel('Description').fill('Saved');
    const [typed, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(`**/v1/webhooks/${id}?*`, async (route) => {
      await (route.request().method() === 'GET' ? held : typed).promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Requests per second').fill('6');
    typed.resolve();
    await page.getByText('Webhook updated.').waitFor();
    expect(await page.getByLabel('Description').inputValue()).toBe('Saved'); // before the page has read it
    held.resolve();
    await leaveAndReturn();
    await page.getByText('Your unsaved changes were restored.').waitFor(); // those after the click on Save
    expect(await page.getByLabel('Requests per second').inputValue()).toBe('6');
    await page.getByRole('button', { name: 'Discard them' }).click();
    await leaveAndReturn();
    await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('Saved');
    expect(await page.getByText('Your unsaved changes were restored.').count()).toBe(0);

    const leaveIdle = async () => {
      await makeIdle(page);
      await page.keyboard.press('Shift');
      await heading(page, 'Sign in').waitFor();
    };
    await page.getByLabel('Description').fill('Private');
    await leaveIdle();
    await admin('PATCH', `/v1/webhooks/${id}`, { body: { max_per_second: 7 } });
    await signInWith(page, adminKey);
    await page.getByText('Your unsaved changes were restored.').waitFor();
    expect(await page.getByLabel('Description').inputValue()).toBe('Private');
    expect(await page.getByLabel('Requests per second').inputValue()).toBe('7'); // also if the form is saved

    // The next person at this browser does not see it, with another key or if the user signs out in another tab.
    await leaveIdle();
    await signInWith(page, (await service.project()).adminKey);
    await heading(page, 'Not found').waitFor();
    await leaveIdle();
    await signInWith(page, adminKey);
    await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('Saved');
    await page.getByLabel('Description').fill('Private');
    const other = await dashboard.openBeside(page, '/dashboard#/live');
    await heading(other, 'Overview').waitFor();
    await leaveIdle();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await heading(other, 'Sign in').waitFor();
    await signInWith(page, adminKey);
    await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('Saved');
    expect(await page.getByText('Webhook updated.').count()).toBe(0);
  });

  it('shows violations next to their fields, warns about a short secret, and sets an own one', async () => {
    const { admin, adminKey } = await service.project();
    const page = await dashboard.signIn(adminKey, '/live/webhooks/new');
    await page.getByLabel('Endpoint URL').fill('ftp://example.com');
    await page.getByLabel('Use my own').check();
    await page.getByLabel('Secret', { exact: true }).fill('x'.repeat(23));
    await page.getByText('fewer than 24 characters').waitFor();
    await page.getByLabel('Secret', { exact: true }).fill('x'.repeat(24));
    await expect.poll(() => page.getByText('fewer than 24 characters').count()).toBe(0);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Events must have at least 1 entry.').waitFor();
    await expect.poll(() => page.evaluate(() => (document.activeElement as HTMLInputElement).type)).toBe('url');
    await page.getByLabel('All events').check();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(7);
    await page.getByLabel('All events').uncheck();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    await page.getByLabel('sync.completed').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Endpoint URL must be an https: URL.').waitFor();

    // The own secret is set, and not shown.
    const hint = async () => (await admin('GET', '/v1/webhooks')).body.data[0].secret_hint;
    await page.getByLabel('Endpoint URL').fill('http://127.0.0.1:9/hook');
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'http://127.0.0.1:9/hook').waitFor();
    expect(await hint()).toBe('xxxx');
    await page.getByRole('navigation', { name: 'Webhook' }).getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByLabel('Use my own').check();
    await page.getByLabel('Secret', { exact: true }).fill('y'.repeat(24));
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await hint()).toBe('yyyy');
  });

  it('can be tested, edited, and given a new secret', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    const { id, secret } = await createWebhook(project.admin, receiver.url);
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`);
    await page.getByText('No deliveries yet.').waitFor();
    await page.getByLabel('Time').selectOption('Last hour');
    await page.getByText('No deliveries match these filters.').waitFor();

    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByLabel('Event type').selectOption('connection.lost');
    await page.getByLabel('Data').fill('{"connection_id":');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Data must be a JSON object.').waitFor();
    await page.getByLabel('Data').fill('{"connection_id":"c-7"}');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Data node_id is required').waitFor();
    await page.getByLabel('Event type').selectOption('document.deleted');
    await page.getByLabel('Event type').selectOption('connection.lost');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await heading(page, 'connection.lost').waitFor();
    await expect.poll(() => badge(page)).toBe('succeeded');
    expect(receiver.received[0]?.headers['x-service-test']).toBe('true');
    receiver.behave(500);
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('A test event is not retried.').waitFor();
    await page.getByRole('button', { name: 'Redeliver' }).click();
    await page.getByText('redelivery', { exact: true }).waitFor();
    expect(await page.getByRole('heading', { name: 'Schedule' }).count()).toBe(0);
    receiver.behave(200);
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByLabel('Select all on this page').check();
    await page.getByRole('button', { name: 'Redeliver selected' }).click();
    await page.getByText('except test events, which are not retried.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('navigation', { name: 'Webhook' }).getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Recover' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByLabel('Description').fill('Search index');
    await page.getByLabel('document.changed').uncheck();
    await page.getByText('Documents, headers and rate limit').click();
    await page.getByLabel('Documents', { exact: true }).fill('org:acme:*\norg:*:x y\nno key/\n');
    await page.getByLabel('Custom headers').fill('X-Tenant: acme:1\nX-Empty');
    await page.getByLabel('Requests per second').fill('many');
    await page.getByText('Documents, headers and rate limit').click(); // closes them
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/Documents line 2 .*; line 3/).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
    await page.getByText('Custom headers X-Empty').waitFor();
    await page.getByText('Requests per second must be an integer from 1 to 500.').waitFor();
    await page.getByLabel('Documents', { exact: true }).fill('org:acme:*\n');
    await page.getByLabel('Custom headers').fill('X-Tenant: acme:1');
    await page.getByLabel('Requests per second').fill('20');
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'Search index').waitFor();
    const { body: changed } = await project.admin('GET', `/v1/webhooks/${id}`);
    expect(changed).toMatchObject({ documents: ['org:acme:*'], headers: { 'X-Tenant': '***' }, max_per_second: 20 });
    expect(changed.events).toHaveLength(5);

    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    const fresh = await copyShown(page);
    expect(fresh).toMatch(/^whsec_/);
    expect(fresh).not.toBe(secret);
    const changes = page.getByRole('table', { name: 'Audit log' }).locator('tbody th');
    await expect.poll(() => changes.first().textContent()).toBe('webhook.secret_rotated');
  });
});

describe('the health of a webhook', () => {
  it('covers its own deliveries in the selected period', async () => {
    const project = await service.project();
    const [own, other] = [await startReceiver(), await startReceiver()];
    const { id } = await createWebhook(project.admin, own.url, { events: ['document.changed'] });
    await createWebhook(project.admin, other.url);
    await put(project.admin, 'org:acme:doc-1', { title: 'Draft' }); // document.created
    await put(project.admin, 'org:acme:doc-1', { title: 'Final' });
    await eventually(async () => {
      const { body } = await project.admin('GET', '/v1/stats?group_by=at');
      return body.data[0]?.delivered === 3;
    });
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`);
    const succeeded = page.locator('.legend li', { hasText: 'Succeeded' }).locator('strong');
    await expect.poll(() => succeeded.textContent()).toBe('1');
    await expect.poll(() => fact(page, 'Success rate').textContent()).toBe('100 % of attempts');
    for (const name of ['Latency p50', 'Latency p95'])
      expect(await fact(page, name).textContent()).toMatch(/^≤ \d+ ms $/);
    await page.getByLabel('30 days').check();
    await expect.poll(() => page.locator('.chart tbody tr').count()).toBe(30);
    expect(await succeeded.textContent()).toBe('1');

    // The bar of today shows its numbers, and opens its deliveries.
    const today = page.locator('.chart g').nth(29);
    expect(await today.locator('rect.delivered').getAttribute('height')).toBe('80'); // 1 of 2
    expect(await page.locator('.chart .row').allTextContents()).toEqual(['Latency p95']);
    await today.hover();
    await page.locator('.tip', { hasText: 'Succeeded 1' }).waitFor();
    await today.click();
    await expect.poll(() => page.url()).toContain('until=');
    await expect.poll(() => page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr').count()).toBe(1);
    const time = page.getByLabel('Time');
    expect(await time.locator('option:checked').textContent()).not.toBe('Any time');
    await time.selectOption('Last hour');
    await expect.poll(() => page.url()).not.toContain('until=');
    await page.locator('.chart g').nth(0).click();
    await page.getByText('No deliveries match these filters.').waitFor();
  });
});

describe('the status of a webhook', () => {
  it('states why the webhook is failing, and when the service would disable it', async () => {
    const { admin, adminKey } = await slow.project();
    const receiver = await startReceiver((response) => response.writeHead(503).end('The database is restarting'));
    const { id } = await createWebhook(admin, receiver.url);
    const { body: event } = await publish(admin);
    const path = `/v1/webhooks/${id}/deliveries/${event.id}`;
    const retrying = (attempts: number) =>
      eventually(async () => {
        const { body } = await admin('GET', path);
        return body.status === 'retrying' && body.attempts.length === attempts && body;
      });
    await retrying(1);
    await admin('POST', `${path}/redeliver`); // starts a run with all retries
    const delivery = await retrying(2);
    await publish(admin, { type: 'document.deleted', data: { document_key: 'a', revision: 2, origin: 'n' } });
    const retried = `/v1/webhooks/${id}/deliveries?status=retrying`;
    await eventually(async () => (await admin('GET', retried)).body.data.length === 2);
    const page = await slowDashboard.signIn(adminKey, `/live/webhooks/${id}`);
    const callout = page.locator('.callout', { hasText: 'Failing for' });
    await callout.getByText('HTTP 503').waitFor();
    expect(await callout.textContent()).toContain('Your endpoint failed.');
    const disabledAt = await callout.locator('p', { hasText: 'disables this webhook' }).locator('time');
    const dueAt = [0, 300, 300 + 1800, 300 + 1800 + 7200, 300 + 1800 + 7200 + 43_200].map((seconds) =>
      new Date(Date.parse(delivery.next_attempt_at) + seconds * 1000).toISOString(),
    );
    expect(await disabledAt.getAttribute('datetime')).toBe(dueAt.at(-1));
    const deliveries = page.getByRole('table', { name: 'Deliveries' });
    const next = deliveries.getByText(/next in \d+ (s|min)/);
    await next.first().waitFor();
    const panels = () => page.locator('main .panel h2').allTextContents();
    expect(await panels()).toEqual(['Health', 'Deliveries']);
    await page.goto(`${slow.stack.baseUrl}/dashboard#/live/webhooks/${id}?status=retrying`);
    await expect.poll(panels).toEqual(['Deliveries', 'Health']);
    // After it was disabled and enabled again, the outage began before every delivery that is retrying.
    await page.route(`**/v1/webhooks/${id}?*`, async (route) => {
      const response = await route.fetch();
      const [failing_since, disabled_at] = [2, 1].map((h) => new Date(Date.now() - h * 3_600_000).toISOString());
      await route.fulfill({ response, json: { ...(await response.json()), failing_since, disabled_at } });
    });
    await page.reload();
    await callout.getByText('Failing for 2 h').waitFor();
    expect(await disabledAt.getAttribute('datetime')).toBe(dueAt.at(-1));
    await callout.getByRole('link', { name: 'document.deleted' }).waitFor();
    await page.goto(`${slow.stack.baseUrl}/dashboard#/live/webhooks/${id}/deliveries/${event.id}`);
    await heading(page, event.type).waitFor();
    const times = page.locator('.timeline time:not(.countdown)');
    await expect
      .poll(() => times.evaluateAll((all) => all.map((each) => each.getAttribute('datetime'))))
      .toEqual([delivery.attempts[1].at, ...dueAt]);
    const queued = { ...delivery, status: 'pending' };
    await page.route(`**/deliveries/${event.id}?*`, (route) => route.fulfill({ json: queued }));
    await page.reload();
    expect(await page.locator('.timeline [aria-current]').textContent()).toContain('Attempt 1');
  });

  it('is unstable if many attempts fail although the last one succeeded', async () => {
    const project = await service.project();
    let attempts = 0;
    const receiver = await startReceiver((response) => response.writeHead(attempts++ % 2 === 0 ? 500 : 200).end());
    await createWebhook(project.admin, 'http://127.0.0.1:1/hook', { events: ['sync.completed'] });
    const { id } = await createWebhook(project.admin, receiver.url);
    const events = Array.from({ length: 15 }, () => changed());
    await project.admin('POST', '/v1/events/batch', { body: { events } });
    await eventually(async () => {
      const { body } = await project.admin('GET', '/v1/stats?group_by=webhook_id');
      return body.data[0]?.delivered === 15;
    });
    const page = await dashboard.signIn(project.adminKey, '/live/webhooks');
    const rows = page.getByRole('table', { name: 'Webhooks' }).locator('tbody tr');
    await rows.first().getByText('unstable').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.locator('.attention li', { hasText: 'unstable' }).getByText('% of attempts succeeded').waitFor();
    await page.locator('.attention').getByRole('link', { name: 'View webhook' }).click();
    await expect.poll(() => badge(page)).toBe('unstable');
    expect(page.url()).toContain(id);
    await page.getByLabel('30 days').check();
    await expect.poll(() => page.locator('.chart tbody tr').count()).toBe(30);
    expect(await badge(page)).toBe('enabled');
  });
});

describe('a webhook with a rate limit', () => {
  it('shows how many deliveries it skipped, and recovers them', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    const { id } = await createWebhook(project.admin, receiver.url, { max_per_second: 5 });
    const webhook = `/v1/webhooks/${id}`;
    await project.admin('PATCH', webhook, { body: { status: 'disabled' } });
    await publish(project.admin);
    await eventually(async () => (await project.admin('GET', '/v1/stats?group_by=at')).body.data[0]?.skipped === 1);
    await project.admin('PATCH', webhook, { body: { status: 'enabled' } });
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`, { timezoneId: 'America/Phoenix' });
    await page.getByText('faster than its rate limit of 5 per second').waitFor();
    await page.getByRole('link', { name: '1 delivery was skipped' }).click();
    await expect.poll(() => page.url()).toContain('status=skipped');
    await page.getByRole('button', { name: 'Recover skipped deliveries' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 delivery will be sent again.').waitFor();
    const minuteIn = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 16);
    const [since, until] = [minuteIn(-1), minuteIn(1)];
    const [localSince, localUntil] = [minuteIn(-1 - 7), minuteIn(1 - 7)];
    await dialog.getByLabel('Until').fill(localSince);
    await dialog.getByText('There is nothing to send again.').waitFor();
    await dialog.getByLabel('Since').fill(localUntil); // after the end
    await dialog.getByText('Counting…').waitFor({ state: 'detached' });
    await dialog.getByLabel('Until').fill(localUntil);
    await dialog.getByLabel('Since').fill(localSince);
    await dialog.getByText('1 delivery will be sent again.').waitFor();
    const posted = page.waitForRequest((request) => request.method() === 'POST');
    await page.getByRole('button', { name: 'Recover', exact: true }).last().click();
    expect((await posted).postDataJSON()).toEqual({ since: `${since}:00.000Z`, until: `${until}:00.000Z` });
    await page.getByText('The delivery was sent again.').waitFor();
    await eventually(() => receiver.received.length === 1);
    await page.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => location.hash)).toContain('status=skipped');
  });
});

describe('an endpoint that fails', () => {
  it('appears in the log, disables the webhook with an email, and can be recovered', async () => {
    const project = await service.project();
    const receiver = await startReceiver((response) => response.writeHead(503).end('Out of order'));
    const { id } = await createWebhook(project.admin, receiver.url);
    const { body: event } = await publish(project.admin);
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}/deliveries/${event.id}`);

    await expect.poll(() => fact(page, 'Status').textContent()).toBe('failed All attempts failed.');
    expect(await page.locator('.attempts li').count()).toBe(6);
    expect(await page.locator('.attempts li').first().textContent()).toContain('HTTP 503');
    expect(await page.getByLabel('Response to attempt 6').textContent()).toBe('Out of order');
    expect(await page.locator('.timeline li').allTextContents()).toEqual(
      ['Immediately', '+ 1 min', '+ 5 min', '+ 30 min', '+ 2 h', '+ 12 h'].map((delay) =>
        expect.stringContaining(delay),
      ),
    );
    const email = await eventually(() =>
      service.stack.ses.emails.find(
        ({ to, subject }) => to === project.email && subject.startsWith('Webhook disabled'),
      ),
    );
    const link = /https?:\S+\/dashboard(#\S+)/.exec(email.text)?.[1];
    expect(link).toBe(`#/live/webhooks/${id}`);

    await page.getByRole('link', { name: 'Events' }).first().click();
    await page.locator('.badge.bad', { hasText: '0 of 1 delivered' }).waitFor();
    await publish(project.admin); // skipped while the webhook is disabled
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.locator('.attention li', { hasText: 'HTTP 503' }).getByText('Enable and recover').waitFor();
    receiver.behave(200);
    const before = receiver.received.length;

    // Opens the cause and the missed deliveries from the link in the email.
    await page.goto(`${service.stack.baseUrl}/dashboard${link}`);
    const clicks = await countClicks(page);
    await heading(page, receiver.url).waitFor();
    expect(await badge(page)).toBe('disabled');
    await page.getByText('all six attempts of a delivery failed').waitFor();
    await page.locator('.callout', { hasText: 'the last one of document.changed with HTTP 503' }).waitFor();
    await page.locator('.callout').getByRole('link', { name: 'document.changed' }).click();
    await page.getByText('Out of order').first().waitFor();
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByRole('button', { name: 'Enable and recover' }).click();
    await page.getByRole('dialog').getByText('2 deliveries will be sent again.').waitFor(); // shown before the confirmation
    const windows = new Set<string>();
    let missed = 3; // with an older one, which this recovery does not contain
    await page.route('**/recover?*', (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      windows.add(new URL(route.request().url()).search);
      return route.fulfill({ json: { count: missed } });
    });
    await page.getByRole('dialog').getByRole('button', { name: 'Enable and recover' }).click();
    const progress = page.getByRole('dialog').getByRole('status');
    await progress.getByText('2 deliveries will be sent again.').waitFor();
    await expect.poll(() => badge(page)).toBe('enabled'); // the outage has ended
    for (const text of ['1 of 2 deliveries were sent again.', 'All 2 deliveries were sent again.']) {
      missed--;
      await progress.getByText(text).waitFor();
    }
    const [window, ...others] = windows;
    expect(others, 'the progress counts no later failure').toEqual([]);
    const since = new URLSearchParams(window).get('since') ?? '';
    expect(Date.parse(since)).toBeLessThan(Date.parse(event.timestamp));
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await clicks()).toBe(5);
    await receiver.until(before + 2);
    await expect.poll(() => page.getByRole('cell', { name: 'succeeded' }).count()).toBe(2);
  });

  it('is recovered from the overview, and a reload does not ask again', async () => {
    const project = await service.project();
    const { id } = await createWebhook(project.admin, 'http://127.0.0.1:9/hook');
    await project.admin('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}?recover=1`);
    await page.getByRole('dialog').getByText('There is nothing to send again.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(`#/live/webhooks/${id}`);
    await page.reload();
    await expect.poll(() => badge(page)).toBe('paused');
    await page.getByText('Paused since').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('shows each request and response, and copies the exact request of an attempt as curl', async () => {
    const project = await service.project();
    const receiver = await startReceiver((response) => response.writeHead(404, { 'X-Served-By': 'edge-1' }).end());
    const { id } = await createWebhook(project.admin, receiver.url, { headers: { 'X-Team': 'billing' } });
    const data = '{"document_key":"a:b","revision":1,"fields":{"n":12345678901234567890,"x":1.10},"origin":"n"}';
    await project.admin('POST', '/v1/events', { body: `{"type":"document.created","data":${data}}` });
    const [first] = await receiver.until(6);
    const event = first?.headers['x-service-event-id'] ?? '';
    await eventually(async () => (await project.admin('GET', `/v1/webhooks/${id}`)).body.status === 'disabled');
    const moved = await startReceiver();
    await project.admin('PATCH', `/v1/webhooks/${id}`, { body: { url: moved.url, status: 'enabled' } });
    await project.admin('POST', `/v1/webhooks/${id}/deliveries/${event}/redeliver`);
    await moved.until(1);

    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}/deliveries/${event}`);
    const attempts = page.locator('.attempts > li');
    await expect.poll(() => attempts.count()).toBe(7);
    expect(await page.locator('.timeline li').allTextContents()).toEqual(
      ['HTTP 200', ...Array(5).fill('not needed')].map((text) => expect.stringContaining(text)),
    );
    await attempts.first().getByText('Differs from attempt 6: outcome').waitFor();
    await attempts.last().getByText('Attempt 1').click();
    await attempts.last().getByText('Your server has nothing at this path.').waitFor();
    await attempts.last().getByText('Request headers').click();
    await attempts.last().getByText('X-Team: ***').waitFor();
    await page.getByText('Fill in the values of your own headers').waitFor();
    await attempts.last().getByText('Response headers').click();
    await attempts.last().getByText('x-served-by: edge-1').waitFor();
    await attempts.last().getByRole('button', { name: 'Copy as curl' }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    expect(command).toContain(`curl -g '${receiver.url}'`);
    expect(command).toContain(`-H 'X-Service-Signature: ${first?.headers['x-service-signature']}'`);
    expect(command).toContain(`-H 'webhook-signature: ${first?.headers['webhook-signature']}'`);
    expect(command).toContain("-H 'X-Team: ***'");
    expect(command).toContain(`--data-raw '${first?.body}'`);
  });
});

describe('the delivery log', () => {
  it('has filters and pages that are part of the URL', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    const { id } = await createWebhook(project.admin, receiver.url);
    for (let i = 0; i < 27; i++) await publish(project.admin);
    await receiver.until(27);
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`);
    const rows = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(25);
    await page.setViewportSize({ width: 1200, height: 400 });
    await page.getByRole('link', { name: 'Older' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect((await page.getByRole('table', { name: 'Deliveries' }).boundingBox())?.y).toBeGreaterThanOrEqual(0);
    await page.clock.install();
    await page.reload();
    await expect.poll(() => rows.count()).toBe(2);

    // An older page is read again only after a redelivery.
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.clock.runFor(11_000);
    expect(requests.filter((url) => url.includes('cursor='))).toEqual([]);
    const readAgain = () => page.waitForRequest(/\/deliveries\?.*cursor=/);
    const redeliver = async () => {
      await page.getByRole('button', { name: 'Redeliver selected' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click();
    };
    await rows.first().locator('th a').click();
    const afterOne = readAgain();
    await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click();
    await afterOne;
    expect(page.url()).toContain('cursor=');
    await page.keyboard.press('Escape');
    await page.getByLabel('Select document.changed').first().check();
    await redeliver();
    const afterSelected = readAgain();
    await page.getByRole('button', { name: 'Done' }).click();
    await afterSelected;
    await page.getByLabel('Time').selectOption('Last hour');
    await expect.poll(() => rows.count()).toBe(25);
    const since = /since=[^&]+/.exec(page.url())?.[0];
    expect(since).toBeDefined();
    await page.getByRole('link', { name: 'Older' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect(page.url()).toContain(since);
    expect(await page.getByLabel('Time').inputValue()).toBe('1');
    await page.getByRole('link', { name: 'Newest' }).click();
    await expect.poll(() => rows.count()).toBe(25);
    await page.getByLabel('Status').selectOption('failed');
    await page.getByText('No deliveries match these filters.').waitFor();
    const readSoon = page.waitForRequest(/status=failed/);
    await page.clock.runFor(6000);
    await readSoon;
    expect(new URL(page.url()).hash).toContain('status=failed');
    await page.goBack();
    await expect.poll(() => rows.count()).toBe(25);
    await page.getByLabel('Type', { exact: true }).selectOption('sync.completed');
    await page.getByText('No deliveries match these filters.').waitFor();
    const older = { json: { data: [], next_cursor: 'older' } };
    await page.route('**/deliveries?*type=sync.completed*', (route) => route.fulfill(older));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('There are older ones.').waitFor();
    requests.length = 0;
    await page.clock.runFor(21_000);
    expect(requests.filter((url) => url.includes('type=sync.completed'))).toEqual([]); // only every 30 s
    await page.goBack();

    // Redelivers many deliveries by keyboard. Failed requests are listed with the reason.
    await page.getByLabel('Select all on this page').check();
    await page.getByText('25 selected').waitFor();
    await page.getByLabel('Select all on this page').uncheck();
    for (const row of [0, 1]) await page.getByLabel('Select document.changed').nth(row).press('Space');
    const redeliverSelected = page.getByRole('button', { name: 'Redeliver selected' });
    const hasFocus = (element: Element) => element === document.activeElement;
    await redeliverSelected.press('Enter');
    await page.keyboard.press('Escape');
    await page.getByText('2 selected').waitFor();
    expect(await redeliverSelected.evaluate(hasFocus)).toBe(true);
    await redeliverSelected.click();
    const path = `**/v1/webhooks/${id}/deliveries?*`;
    await page.route(path, (route) => route.fulfill({ json: { data: [], next_cursor: null } }));
    await rows.first().waitFor({ state: 'detached' }); // the rows leave the list behind the dialog
    expect(await page.getByRole('dialog').textContent()).not.toContain('test events');
    const held = Promise.withResolvers<void>();
    await page.route('**/redeliver?*', (route) => held.promise.then(() => route.continue()));
    await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click();
    await page.getByText('0 of 2 requested').waitFor();
    for (let i = 0; i < 2; i++) await page.keyboard.press('Escape'); // closes nothing before the end
    held.resolve();
    await page.getByText('2 of 2 deliveries queued.').waitFor();
    await page.unroute(path);
    await page.getByRole('button', { name: 'Done' }).press('Enter');
    await expect.poll(() => page.getByRole('heading', { level: 1 }).evaluate(hasFocus)).toBe(true);
    await receiver.until(31);
    await project.admin('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    await page.getByLabel('Select document.changed').first().check();
    await redeliver();
    await page.getByText('0 of 1 delivery queued.').waitFor();
    expect(await page.locator('.results li').textContent()).toMatch(
      /document\.changed evt_\w+ Enable the webhook first\./,
    );
  });
});

describe('an export of the delivery log', () => {
  it('contains all pages of the filtered deliveries', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    const { id } = await createWebhook(project.admin, receiver.url);
    for (let i = 0; i < 26; i++) await publish(project.admin);
    await put(project.admin, 'org:acme:doc-1', { title: 'One' });
    await receiver.until(27);
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`);
    const exported = async (format: 'CSV' | 'JSON') => {
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByLabel('Format').selectOption(format);
      const downloaded = page.waitForEvent('download');
      await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
      const file = await downloaded;
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(file.suggestedFilename()).toBe(`deliveries-${id}.${format.toLowerCase()}`);
      return readFileSync(await file.path(), 'utf8');
    };
    const { body } = await project.admin('GET', `/v1/webhooks/${id}/deliveries?limit=100`);
    expect(JSON.parse(await exported('JSON'))).toEqual(body.data);
    await page.getByLabel('Type', { exact: true }).selectOption('document.created');
    await expect.poll(() => page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr').count()).toBe(1);
    expect(await exported('CSV')).toMatch(/^"event_id".*\r\n"evt_\w+","document\.created".*\r\n$/);
    const endless = { json: { data: Array(99).fill(body.data[0]), next_cursor: 'older' } };
    await page.route('**/deliveries?*limit=100*', (route) => route.fulfill(endless));
    expect(JSON.parse(await exported('JSON'))).toHaveLength(2000);

    // Cancel ends an export that takes long.
    const held = Promise.withResolvers<void>();
    await page.route('**/deliveries?*limit=100*', (route) => held.promise.then(() => route.fallback()), { times: 1 });
    let saved = 0;
    page.on('download', () => saved++);
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    held.resolve();
    await exported('JSON');
    expect(saved).toBe(1);
  });
});

describe('a search in the delivery log', () => {
  it('finds the deliveries of a document, and opens the delivery of an event', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    const { id } = await createWebhook(project.admin, receiver.url, { events: ['document.changed'] });
    for (const title of ['One', 'Two', 'Three']) await put(project.admin, 'org:acme:doc-1', { title });
    await put(project.admin, 'org:acme:doc-2', { title: 'One' });
    await put(project.admin, 'org:acme:doc-2', { title: 'Two' });
    const [first] = await receiver.until(3);
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`);
    const rows = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
    const search = async (text: string) => {
      await page.getByLabel('Document key or event id').fill(text);
      await page.keyboard.press('Enter');
    };
    await expect.poll(() => rows.count()).toBe(3);
    await search('org:acme:doc-1');
    await expect.poll(() => rows.count()).toBe(2); // the webhook is not subscribed to document.created
    await put(project.admin, 'org:acme:doc-1', { title: 'Four' });
    await expect.poll(() => rows.count()).toBe(3); // without a reload
    await page.reload();
    await expect.poll(() => rows.count()).toBe(3);
    expect(await page.getByLabel('Document key or event id').inputValue()).toBe('org:acme:doc-1');
    await page.getByLabel('Status').selectOption('failed');
    await page.getByText('No matching deliveries of this document').waitFor();
    await page.goBack();
    await page.goBack();
    await expect.poll(() => rows.count()).toBe(4);
    expect(await page.getByLabel('Document key or event id').inputValue()).toBe('');
    await search('x'.repeat(513));
    await page.getByText('Document key or event id must').waitFor();

    const event = first?.headers['x-service-event-id'] ?? '';
    await search(` ${event} `);
    await page.getByRole('dialog').getByText(event).first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await search('evt_unknown');
    await page.getByRole('dialog').getByRole('alert').waitFor();
  });
});

describe('the environments', () => {
  it('are separate, and the sandbox is clearly marked', async () => {
    const project = await service.project();
    const test = await project.client('test');
    const receiver = await startReceiver();
    await createWebhook(test, receiver.url);
    const page = await dashboard.signIn(project.adminKey, '/live/webhooks');
    await page.getByText('No webhooks yet.').waitFor();
    expect(await page.getByText('You are viewing test data').count()).toBe(0);
    await page.getByRole('navigation', { name: 'Environment' }).getByRole('link', { name: 'Sandbox' }).click();
    await page.getByText(/You are viewing test data.* apply to both environments/).waitFor();
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('link', { name: receiver.url }).waitFor();
    expect(await page.locator('[aria-current]').allTextContents()).toEqual(['Sandbox', 'Webhooks']);
  });
});

describe('the overview', () => {
  it('counts deliveries by outcome, and lists problems', async () => {
    const project = await service.project();
    const working = await startReceiver();
    const failing = await startReceiver(500);
    await createWebhook(project.admin, working.url);
    const { id } = await createWebhook(project.admin, failing.url);
    for (let i = 0; i < 3; i++) await publish(project.admin);
    await eventually(async () => (await project.admin('GET', `/v1/webhooks/${id}`)).body.status === 'disabled');
    await publish(project.admin);
    await working.until(4);
    const { body: old } = await project.admin('POST', '/v1/keys', { body: { type: 'live', name: 'App' } });
    await project.admin('POST', `/v1/keys/${old.id}/rotate`);

    const page = await dashboard.signIn(project.adminKey, '/live');
    const count = (name: string) => page.locator('.legend li', { hasText: name }).locator('strong').textContent();
    await expect.poll(() => count('Succeeded')).toBe('4');
    // The stats of each delivery arrive separately.
    await expect.poll(async () => Number(await count('Failed')) + Number(await count('Canceled or skipped'))).toBe(4);
    // A few failures among many deliveries remain visible.
    const failed = page.locator('.chart .row rect.failed');
    const heights = await failed.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
    expect(Math.max(...heights)).toBeGreaterThan(1);
    const gaps = await page.locator('.chart rect:not(.ground) + rect').evaluateAll((all) =>
      all.map((each) => {
        const below = each.previousElementSibling?.getBoundingClientRect().top ?? 0;
        return Math.round(below - each.getBoundingClientRect().bottom);
      }),
    );
    expect(new Set(gaps)).toEqual(new Set([0]));
    await page.getByLabel('7 days').check();
    await expect.poll(() => count('Succeeded')).toBe('4');
    await fact(page, 'Failed attempts').waitFor();
    const expiring = page.locator('.attention li', { hasText: 'expiring' });
    await expiring.getByText('in 23 h').waitFor();
    await expiring.getByText(`svc_live_…${old.hint} · replaced by a new key`).waitFor();
    await page.locator('.attention').getByRole('link', { name: failing.url }).click();
    await heading(page, failing.url).waitFor();

    // The list of webhooks has the stats of each.
    await page.getByRole('link', { name: 'Webhooks' }).first().click();
    const rows = page.getByRole('table', { name: 'Webhooks' }).locator('tbody tr');
    const urls = () => rows.locator('a').allTextContents();
    await expect.poll(urls).toEqual([failing.url, working.url]); // attention first
    await page.getByLabel('Sort by').selectOption('Most delivered');
    await page.getByLabel('Search').fill(failing.url.slice(7).toUpperCase());
    await expect.poll(urls).toEqual([failing.url]);
    await rows.locator('a').click();
    await heading(page, failing.url).waitFor();
    await page.goBack();
    await expect.poll(urls).toEqual([failing.url]); // the search is part of the URL
    expect(await page.getByLabel('Sort by').inputValue()).toBe('Most delivered');

    // The service disabled the webhook, and an operator created the project.
    await page.getByRole('link', { name: 'Settings' }).click();
    const changes = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr');
    await changes.filter({ hasText: 'webhook.disabled' }).getByText('the service').waitFor();
    await changes.filter({ hasText: 'project.created' }).getByText('the operator').waitFor();
    const [created] = (await project.admin('GET', '/v1/audit')).body.data.slice(-1);
    const reported = { ...created, address: '192.0.2.1' };
    await page.route('**/v1/audit?*', (route) => route.fulfill({ json: { data: [reported], next_cursor: null } }));
    await page.reload();
    await changes.filter({ hasText: '192.0.2.1' }).getByText('the service').waitFor();
  });

  it('leads to webhooks that can be searched, paused and enabled together, and reports deleted ones', async () => {
    const project = await service.project();
    const urls = ['a', 'b', 'c', 'd', 'e'].map((name) => `http://127.0.0.1:9/${name}`);
    const ids: string[] = [];
    for (const url of urls) {
      const isFirst = url === urls[0];
      const [description, type] = isFirst ? ['Search index', 'sync.completed'] : ['Mirror', 'document.changed'];
      ids.push((await createWebhook(project.admin, url, { description, events: [type] })).id);
    }
    const statuses = async () => {
      const { body } = await project.admin('GET', '/v1/webhooks');
      return body.data.map(({ status }: { status: string }) => status);
    };
    const page = await dashboard.signIn(project.adminKey, '/live/webhooks');
    await page.route('**/v1/stats?*', (route) => route.fulfill({ status: 503, body: '' }));
    await page.reload();
    await page.getByRole('alert').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(5);
    await page.unroute('**/v1/stats?*');
    await page.evaluate(() => Object.defineProperty(document, 'visibilityState', { value: 'hidden' })); // no refresh
    const change = async (action: 'Pause' | 'Enable') => {
      await page.getByRole('button', { name: `${action} selected` }).click();
      await page.getByRole('dialog').getByRole('button', { name: action }).click();
    };
    for (const text of ['INDEX', 'sync.comp', ids[0] ?? '']) {
      await page.getByLabel('Search').fill('nowhere');
      await page.getByText('No webhook matches “nowhere”.').waitFor();
      await page.getByLabel('Search').fill(text);
      await page.getByText('1 of 5 webhooks').waitFor();
    }
    await page.getByLabel('Search').fill('');
    await page.getByLabel('Select all on this page').check();
    await page.getByText('5 selected').waitFor();
    expect(await page.getByRole('button', { name: 'Enable selected' }).isDisabled()).toBe(true);
    const held = Promise.withResolvers<void>();
    let sent = 0;
    await page.route(/\/v1\/webhooks\/whk_/, async (route) => {
      sent++;
      await held.promise;
      await route.continue();
    });
    await change('Pause');
    await expect.poll(() => sent).toBeGreaterThan(3);
    await page.evaluate(() => fetch(location.href)); // other requests would be sent before it
    expect(sent).toBe(4);
    held.resolve();
    await page.getByText('5 of 5 webhooks paused.').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => page.locator('tbody .badge').allTextContents()).toEqual(Array(5).fill('paused'));
    expect(await statuses()).toEqual(Array(5).fill('disabled'));
    for (const url of urls.slice(0, 3)) await page.getByLabel(`Select ${url}`).check();
    for (const id of ids.slice(1, 3)) await project.admin('DELETE', `/v1/webhooks/${id}`);
    await change('Enable');
    await page.getByText('1 of 3 webhooks enabled.').waitFor();
    expect((await page.locator('.results li').allTextContents()).sort()).toEqual(
      urls.slice(1, 3).map((url) => expect.stringContaining(url)),
    );
    await page.getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => page.locator('tbody .badge').allTextContents()).toEqual(['enabled', 'paused', 'paused']);
    await page.getByLabel('Select all on this page').check();
    await page.getByRole('button', { name: 'Pause selected' }).click();
    await page.getByRole('heading', { name: 'Pause 1 webhook?' }).waitFor();
  });
});

describe('a page whose service is unavailable', () => {
  const lose = async (route: Route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch();
    await route.fulfill({ status: 500, body: '' });
  };

  it('creates one webhook when the response to the first Save is lost', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    const page = await dashboard.signIn(project.adminKey, '/live/webhooks/new');
    await page.route('**/v1/webhooks?*', lose);
    await page.getByLabel('Endpoint URL').fill(receiver.url);
    await page.getByLabel('All events').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').waitFor();
    await page.unroute('**/v1/webhooks?*', lose);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Rotate the secret of the webhook to get a new one.').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await heading(page, receiver.url).waitFor();
    const { body } = await project.admin('GET', '/v1/webhooks');
    expect(body.data).toHaveLength(1);

    // The same form later creates another webhook.
    for (const [environment, isCanceled] of [
      ['live', true],
      ['sandbox', false],
      ['live', false],
    ]) {
      await page.goto(`${service.stack.baseUrl}/dashboard#/${environment}/webhooks/new`);
      await expect.poll(() => page.getByLabel('Endpoint URL').inputValue()).toBe('');
      await page.getByLabel('Endpoint URL').fill(receiver.url);
      if (isCanceled) await page.getByRole('link', { name: 'Cancel' }).click();
    }
    await page.getByLabel('All events').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await copyShown(page);
    expect((await project.admin('GET', '/v1/webhooks')).body.data).toHaveLength(2);
  });

  it('says that the new secret is lost when the response to a rotation is lost', async () => {
    const project = await service.project();
    const { id } = await createWebhook(project.admin, 'http://127.0.0.1:9/hook');
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}/settings`);
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    const rotate = page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' });
    await page.route('**/rotate-secret*', lose);
    await rotate.click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.unroute('**/rotate-secret*', lose);
    const held = Promise.withResolvers<void>();
    await page.route('**/rotate-secret*', (route) => held.promise.then(() => route.continue()));
    await rotate.click();
    await page.getByRole('button', { name: 'Cancel', disabled: true }).waitFor();
    for (let i = 0; i < 2; i++) await page.keyboard.press('Escape'); // the response would be lost too
    held.resolve();
    await page.getByText('Rotate the secret of the webhook to get a new one.').waitFor();
  });

  it('repeats the same recovery when its response is lost, although the webhook is enabled by then', async () => {
    const project = await service.project();
    const { id } = await createWebhook(project.admin, 'http://127.0.0.1:9/hook');
    await project.admin('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}?recover=1`);
    const sent: unknown[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push([request.postData(), request.headers()['idempotency-key']]);
    });
    await page.route('**/recover?*', (route) => route.fulfill({ status: 500, body: '' }));
    await page.getByLabel('Since').fill('2026-01-01T00:00');
    await page.getByText('Their number is unknown.').waitFor();
    await page.unroute('**/recover?*');
    await page.route('**/recover?*', lose);
    const recover = page.getByRole('dialog').getByRole('button', { name: 'Enable and recover' });
    await recover.click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await expect.poll(() => badge(page)).toBe('enabled'); // behind the dialog
    await page.unroute('**/recover?*', lose);
    await recover.click();
    await page.getByRole('button', { name: 'Done' }).waitFor();
    expect(sent).toEqual([sent[0], sent[0]]);
  });

  it('shows an outage once, with one button that tries again', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    await createWebhook(project.admin, receiver.url);
    const page = await dashboard.signIn(project.adminKey, '/live/tokens');
    const suspended = { status: 403, json: { code: 'project_suspended', detail: 'Contact the operator.' } };
    await page.route('**/v1/**', (route) => route.fulfill(suspended));
    for (const place of ['', '/settings', '/webhooks', '/keys', '/keys/key_1', '/events', '/documents']) {
      await page.goto(`${service.stack.baseUrl}/dashboard#/live${place}`);
      await page.getByRole('alert').waitFor();
      await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
      expect(await page.getByText('Contact the operator.').count(), place).toBe(1);
      expect(await heading(page, 'Not found').count(), place).toBe(0);
      expect(await page.getByRole('button', { name: 'Try again' }).count(), place).toBe(1);
    }
    await page.unroute('**/v1/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No documents yet.').waitFor();
    await page.goto(`${service.stack.baseUrl}/dashboard#/live`);
    await page.locator('.legend').waitFor();
    await page.clock.install();
    await page.reload({ waitUntil: 'networkidle' });
    await page.locator('.legend').waitFor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.evaluate(() => Object.defineProperty(document, 'visibilityState', { value: 'hidden', writable: true }));
    await page.clock.runFor(61_000);
    await page.evaluate(() => Object.assign(document, { visibilityState: 'visible' }));
    expect(requests).toEqual([]); // while the page was hidden
    const slow = Promise.withResolvers<void>();
    await page.route('**/v1/webhooks?*', (route) => slow.promise.then(() => route.continue()));
    await page.clock.runFor(70_000); // a read that takes long is not repeated, and ends only after a minute
    expect(requests.filter((url) => url.includes('/v1/webhooks?'))).toHaveLength(1);
    slow.resolve();
    await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
    await page.route('**/v1/**', (route) => route.fulfill({ status: 503, body: '' }));
    await page.clock.runFor(31_000); // the page refreshes everything
    await page.getByRole('alert').waitFor();
    await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(1);
    expect(await page.locator('.legend').count()).toBe(1); // the last values stay
  });

  it('keeps its content, shows the failure, and recovers with the service', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    const { id } = await createWebhook(project.admin, receiver.url);
    await publish(project.admin);
    await receiver.until(1);
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`);
    const rows = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(1);
    const path = '**/deliveries?*';
    await page.route(path, (route) => route.fulfill({ status: 503, body: '' }));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('alert').waitFor();
    expect(await rows.count()).toBe(1);
    await page.unroute(path);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    // A late response to an earlier filter changes nothing.
    const late = Promise.withResolvers<void>();
    await page.route('**/deliveries?*status=failed*', (route) => late.promise.then(() => route.continue()));
    await page.getByLabel('Status').selectOption('failed');
    await rows.first().waitFor({ state: 'detached' });
    await page.getByLabel('Status').selectOption('');
    await rows.first().waitFor();
    const response = page.waitForResponse(/status=failed/);
    late.resolve();
    await (await response).finished();
    expect(await rows.count()).toBe(1);
    // Neither does a late response from before a change.
    const [asked, paused] = [Promise.withResolvers<Request>(), Promise.withResolvers<void>()];
    const own = new RegExp(`/webhooks/${id}\\?`);
    const before = async (route: Route) => {
      const response = await route.fetch();
      asked.resolve(route.request());
      await paused.promise;
      await route.fulfill({ response });
    };
    await page.route(own, before, { times: 1 });
    const stale = await asked.promise; // of the automatic refresh
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect.poll(() => badge(page)).toBe('paused');
    paused.resolve();
    await (await stale.response())?.finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await badge(page)).toBe('paused');
  });
});
