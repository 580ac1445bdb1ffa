import type { Request, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, publish } from '../support/requests.ts';
import { useService } from '../support/service.ts';
import { badge, copyShown, heading, useDashboard } from './browser.ts';

const service = useService({ speed: 20_000 });
const dashboard = useDashboard(service);

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
      if (request.url().includes('/recover?') && request.method() === 'POST')
        sent.push([request.postData(), request.headers()['idempotency-key']]);
    });
    await page.route('**/recover?*', (route) => route.fulfill({ status: 500, body: '' }));
    await page.getByText('Choose a period or event types').click();
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

  it('says that nothing needs attention only when it knows', async () => {
    const project = await service.project();
    const page = await dashboard.signIn(project.adminKey, '/live/tokens');
    await page.goto(`${service.stack.baseUrl}/dashboard#/live`);
    const allIsWell = page.getByText('Nothing needs attention.');
    await allIsWell.waitFor();
    for (const path of ['webhooks?', 'keys?', 'project?', 'stats?*group_by=webhook_id']) {
      const held = Promise.withResolvers<void>();
      await page.route(`**/v1/${path}*`, async (route) => {
        await held.promise;
        await route.fulfill({ status: 503, body: '' });
      });
      await page.reload();
      await page.locator('.skeleton').first().waitFor();
      await expect.poll(() => page.locator('.skeleton').count()).toBe(1);
      expect(await allIsWell.count(), path).toBe(0);
      held.resolve();
      await page.getByRole('alert').waitFor();
      expect(await allIsWell.count(), path).toBe(0);
      await page.unroute(`**/v1/${path}*`);
    }
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
