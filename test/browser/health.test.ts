import { describe, expect, it } from 'vitest';
import { changed } from '../support/changed.ts';
import { put } from '../support/documents.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, publish } from '../support/requests.ts';
import { eventually, useService } from '../support/service.ts';
import { badge, fact, heading, useDashboard } from './browser.ts';

const service = useService({ speed: 20_000 });
const dashboard = useDashboard(service);
/** A stack in real time, whose retries stay due. */
const slow = useService();
const slowDashboard = useDashboard(slow);

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
