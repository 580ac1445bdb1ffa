import { describe, expect, it } from 'vitest';
import { changed } from '../support/changed.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, publish } from '../support/requests.ts';
import { eventually, useService } from '../support/service.ts';
import { badge, heading, useDashboard } from './browser.ts';

const service = useService({ speed: 20_000 });
const dashboard = useDashboard(service);
/** A stack in real time, whose retries stay due. */
const slow = useService();
const slowDashboard = useDashboard(slow);

describe('the health of a webhook', () => {
  it('has a chart whose bars show their numbers and open their deliveries', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    const { id } = await createWebhook(project.admin, receiver.url);
    await publish(project.admin);
    await eventually(async () => (await project.admin('GET', '/v1/stats?group_by=at')).body.data[0]?.delivered === 1);
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`);
    await page.getByLabel('30 days').check();
    await expect.poll(() => page.locator('.chart tbody tr').count()).toBe(30);

    await page.emulateMedia({ forcedColors: 'active' });
    const colorsOf = (all: Element[]) => new Set(all.map((each) => getComputedStyle(each).backgroundColor)).size;
    expect(await page.locator('.legend i').evaluateAll(colorsOf)).toBe(3);

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

  it('is unstable if many attempts of the last 24 hours failed and are not repaired, although the last one succeeded', async () => {
    const { admin, adminKey } = await slow.project();
    let attempts = 0;
    const receiver = await startReceiver((response) => response.writeHead(attempts++ % 2 === 0 ? 500 : 200).end());
    const { id } = await createWebhook(admin, receiver.url);
    const page = await slowDashboard.signIn(adminKey, '/live/tokens');
    await page.clock.install();
    await page.goto(`${slow.stack.baseUrl}/dashboard#/live`);
    await page.reload();
    await page.getByText('Nothing needs attention.').waitFor();
    await admin('POST', '/v1/events/batch', { body: { events: Array.from({ length: 30 }, () => changed()) } });
    await receiver.until(30);
    receiver.behave(200);
    await publish(admin);
    const isWorking = async () => {
      const { retrying, failing_since } = (await admin('GET', `/v1/webhooks/${id}`)).body;
      return retrying === 15 && failing_since === null;
    };
    await eventually(isWorking);
    await page.clock.runFor(31_000); // the overview refreshes
    await page.getByText('unstable').waitFor();
    await page.getByRole('link', { name: 'View webhook' }).click();
    await expect.poll(() => badge(page)).toBe('unstable');
    await page.getByLabel('30 days').check();
    await expect.poll(() => page.locator('.chart tbody tr').count()).toBe(30);
    expect(await badge(page)).toBe('enabled');
  });
});

describe('a recovery', () => {
  it('has a window in local time, and keeps the filter of the page', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    const { id } = await createWebhook(project.admin, receiver.url);
    const webhook = `/v1/webhooks/${id}`;
    await project.admin('PATCH', webhook, { body: { status: 'disabled' } });
    await publish(project.admin);
    await eventually(async () => (await project.admin('GET', '/v1/stats?group_by=at')).body.data[0]?.skipped === 1);
    await project.admin('PATCH', webhook, { body: { status: 'enabled' } });
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}?status=skipped`, {
      timezoneId: 'America/Phoenix',
    });
    await page.getByRole('button', { name: 'Recover' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 delivery will be sent again.').waitFor();
    await dialog.getByText('Choose a period or event types').click();
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
    const posted = page.waitForRequest((request) => request.method() === 'POST' && request.url().includes('/recover'));
    await page.getByRole('button', { name: 'Recover', exact: true }).last().click();
    expect((await posted).postDataJSON()).toEqual({ since: `${since}:00.000Z`, until: `${until}:00.000Z` });
    await dialog.getByText('1 sent: 1 delivered, 0 failed').waitFor();
    await eventually(() => receiver.received.length === 2); // with the test event
    await page.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => location.hash)).toContain('status=skipped');
  });

  it('that is running is shown instead of a second one, with its results, until it is stopped', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    const { id } = await createWebhook(project.admin, receiver.url);
    const requests: string[] = [];
    const recovery = { recovery_id: 'rec_1', started_at: '2026-01-31T12:00:00.000Z', ended_at: null as string | null };
    const window = { since: '2026-01-31T11:00:00.000Z', until: '2026-01-31T12:00:00.000Z' };
    const results = { sent: 250, delivered: 240, failed: 2 };
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`);
    await page.route('**/recover?*', (route) => {
      const method = route.request().method();
      if (method !== 'GET') requests.push(method);
      if (method === 'DELETE') return route.fulfill({ status: 204 });
      return route.fulfill({ json: { count: 12_000, recovery: { ...recovery, ...window, ...results } } });
    });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Recover' }).click();
    await dialog.getByText('250 sent: 240 delivered, 2 failed, 8 without an attempt yet').waitFor();
    results.failed = 10;
    await dialog.getByText('250 sent: 240 delivered, 10 failed').waitFor();
    expect(await dialog.getByRole('button').allTextContents()).toEqual(['Close', 'Stop recovery']);
    await dialog.getByRole('button', { name: 'Stop recovery' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Recovery stopped.').waitFor();
    recovery.ended_at = '2026-01-31T12:01:00.000Z';
    await page.getByRole('button', { name: 'Recover' }).click();
    await dialog.getByText('At least 12,000 deliveries will be sent again.').waitFor();
    expect(requests).toEqual(['DELETE']);
  });
});

describe('the overview', () => {
  it('shows a few failures among many deliveries, and lists expiring keys of the environment', async () => {
    const project = await service.project();
    const working = await startReceiver();
    const failing = await startReceiver(500);
    await createWebhook(project.admin, working.url);
    const { id } = await createWebhook(project.admin, failing.url);
    for (let i = 0; i < 3; i++) await publish(project.admin);
    await eventually(async () => (await project.admin('GET', `/v1/webhooks/${id}`)).body.status === 'disabled');
    await publish(project.admin);
    await working.until(4);
    const rotated = async (type: string) => {
      const { body: old } = await project.admin('POST', '/v1/keys', { body: { type, name: 'App' } });
      await project.admin('POST', `/v1/keys/${old.id}/rotate`);
      return old;
    };
    const old = await rotated('live');
    await rotated('test'); // which the live environment does not list

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
    const expiring = page.locator('.attention li', { hasText: 'expiring' });
    await expiring.getByText('in 23 h').waitFor();
    await expiring.getByText(`svc_live_…${old.hint} · replaced by a new key`).waitFor();

    // The service disabled the webhook. It also made the changes without a key that have an address.
    await page.getByRole('link', { name: 'Settings' }).click();
    const changes = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr');
    await changes.filter({ hasText: 'webhook.disabled' }).getByText('the service').waitFor();
    const [created] = (await project.admin('GET', '/v1/audit')).body.data.slice(-1);
    const reported = { ...created, address: '192.0.2.1' };
    await page.route('**/v1/audit?*', (route) => route.fulfill({ json: { data: [reported], next_cursor: null } }));
    await page.reload();
    await changes.filter({ hasText: '192.0.2.1' }).getByText('the service').waitFor();
  });

  it('leads to webhooks that can be searched, and paused together with at most four requests at once', async () => {
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
    for (const text of ['INDEX', 'sync.comp', ids[0] ?? '']) {
      await page.getByLabel('Search').fill('nowhere');
      await page.getByText('No webhook matches “nowhere”.').waitFor();
      await page.getByLabel('Search').fill(text);
      await page.getByText('1 of 5 webhooks').waitFor();
    }
    // The search and the order are part of the URL.
    await page.getByLabel('Sort by').selectOption('Most delivered');
    await page.getByRole('link', { name: 'Search index' }).click();
    await heading(page, 'Search index').waitFor();
    await page.goBack();
    await page.getByText('1 of 5 webhooks').waitFor();
    expect(await page.getByLabel('Sort by').inputValue()).toBe('Most delivered');
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
    await page.getByRole('button', { name: 'Pause selected' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await expect.poll(() => sent).toBeGreaterThan(3);
    await page.evaluate(() => fetch(location.href)); // other requests would be sent before it
    expect(sent).toBe(4);
    held.resolve();
    await page.getByText('5 of 5 webhooks paused.').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => page.locator('tbody .badge').allTextContents()).toEqual(Array(5).fill('paused'));
    expect(await statuses()).toEqual(Array(5).fill('disabled'));
  });
});
