import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { put } from '../support/documents.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, publish } from '../support/requests.ts';
import { eventually, useService } from '../support/service.ts';
import { badge, fact, hasFocus, heading, useDashboard } from './browser.ts';

const service = useService({ speed: 20_000 });
const dashboard = useDashboard(service);

describe('an endpoint that fails', () => {
  it('appears in the log, disables the webhook with an email, and can be recovered', async () => {
    const project = await service.project();
    const receiver = await startReceiver((response) => response.writeHead(503).end('Out of order'));
    const { id } = await createWebhook(project.admin, receiver.url);
    const { body: event } = await publish(project.admin);
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}/deliveries/${event.id}`);

    await expect.poll(() => fact(page, 'Status').textContent()).toBe('failed All six attempts failed.');
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
    await page.locator('.badge.waiting', { hasText: '0 delivered, 1 missed' }).waitFor();
    await publish(project.admin); // skipped while the webhook is disabled
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.locator('.attention li', { hasText: 'HTTP 503' }).getByText('Enable and recover').waitFor();
    receiver.behave(200);
    const before = receiver.received.length;

    // Opens the cause and the missed deliveries from the link in the email.
    await page.goto(`${service.stack.baseUrl}/dashboard${link}`);
    await heading(page, receiver.url).waitFor();
    expect(await badge(page)).toBe('disabled');
    await page.getByText('all six attempts of a delivery failed').waitFor();
    await page.locator('.callout', { hasText: 'the last one of document.changed with HTTP 503' }).waitFor();
    await page.locator('.callout').getByRole('link', { name: 'document.changed' }).click();
    await page.getByText('Out of order').first().waitFor();
    await page.getByRole('link', { name: 'Enable and recover' }).click();
    await page.getByRole('dialog').getByText('2 deliveries will be sent again.').waitFor(); // shown before the confirmation
    await page.getByRole('dialog').getByText('The endpoint accepts events now.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Enable and recover' }).click();
    const progress = page.getByRole('dialog').getByRole('status');
    await progress.getByText('2 sent: 2 delivered, 0 failed').waitFor();
    await page.getByRole('dialog').getByText('The recovery ended on').waitFor();
    await expect.poll(() => badge(page)).toBe('enabled'); // the outage has ended
    await page.getByRole('button', { name: 'Done' }).click();
    await receiver.until(before + 3); // with the test event
    await expect.poll(() => page.getByRole('cell', { name: 'succeeded' }).count()).toBe(3);
  });

  it('is recovered from the overview, and a reload does not ask again', async () => {
    const project = await service.project();
    const { id } = await createWebhook(project.admin, 'http://127.0.0.1:9/hook');
    await project.admin('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}?recover=1`);
    await page.getByRole('dialog').getByText('There is nothing to send again.').waitFor();
    expect(await page.locator('main .panel h2').first().textContent()).toBe('Health'); // as without the dialog
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(`#/live/webhooks/${id}`);
    await page.reload();
    await expect.poll(() => badge(page)).toBe('paused');
    await page.getByText('Paused since').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('shows each request and response, and copies the exact request of an attempt as curl', async () => {
    const project = await service.project();
    const receiver = await startReceiver((response) => response.writeHead(404).end());
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
    await attempts.last().getByText('Attempt 1').click();
    await attempts.last().getByText('Your server has nothing at this path.').waitFor();
    await attempts.last().getByText('Request headers').click();
    await attempts.last().getByText('X-Team: ***').waitFor();
    await page.getByText('Fill in the values of your own headers').waitFor();
    await attempts.last().getByRole('button', { name: 'Copy as curl' }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    expect(command).toContain(`curl -g '${receiver.url}'`);
    expect(command).toContain(`-H 'X-Service-Signature: ${first?.headers['x-service-signature']}'`);
    expect(command).toContain(`-H 'webhook-signature: ${first?.headers['webhook-signature']}'`);
    expect(command).toContain("-H 'X-Team: ***'");
    expect(command).toContain(`--data-raw '${first?.body}'`);

    await page.route('**/v1/webhooks/*/deliveries/*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), status: 'canceled' } });
    });
    await page.reload();
    const steps = page.locator('.timeline li', { hasText: 'not attempted' });
    await expect.poll(() => steps.count()).toBe(6); // of a second redelivery, canceled before its first attempt
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
    expect(await page.getByLabel('Time').inputValue()).toBe('hour');
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
    await redeliverSelected.press('Enter');
    await page.keyboard.press('Escape');
    await page.getByText('2 selected').waitFor();
    expect(await hasFocus(redeliverSelected)).toBe(true);
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
    await expect.poll(() => hasFocus(page.getByRole('heading', { level: 1 }))).toBe(true);
    await receiver.until(31);
    await project.admin('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    for (const row of [0, 1]) await page.getByLabel('Select document.changed').nth(row).check();
    await redeliver();
    await page.getByText('0 of 2 deliveries queued.').waitFor();
    const reason = expect.stringMatching(/document\.changed evt_\w+ Enable the webhook first\./);
    expect(await page.locator('.results li').allTextContents()).toEqual([reason, reason]);
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
    await page.getByRole('link', { name: 'Older' }).click();
    await page.getByRole('link', { name: 'Newest' }).waitFor();
    expect(JSON.parse(await exported('JSON'))).toEqual(body.data); // also the newer pages
    await page.getByLabel('Type', { exact: true }).selectOption('document.created');
    await expect.poll(() => page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr').count()).toBe(1);
    expect(await exported('CSV')).toMatch(/^"event_id".*\r\n"evt_\w+","document\.created".*\r\n$/);
    await page.getByText('1 delivery exported.').waitFor();
    const endless = { json: { data: Array(99).fill(body.data[0]), next_cursor: 'older' } };
    await page.route('**/deliveries?*limit=100*', (route) => route.fulfill(endless));
    expect(JSON.parse(await exported('JSON'))).toHaveLength(2000);
    await page.getByText('2,000 deliveries exported.').waitFor();

    // An export that takes long ends when the user cancels it or leaves the page.
    let saved = 0;
    let pages = 0;
    page.on('download', () => saved++);
    page.on('request', (sent) => void (sent.url().includes('limit=100') && pages++));
    const cancel = () => page.getByRole('button', { name: 'Cancel' }).click();
    for (const leave of [cancel, () => page.goto(`${service.stack.baseUrl}/dashboard#/live/tokens`)]) {
      const held = Promise.withResolvers<void>();
      await page.route('**/deliveries?*limit=100*', (route) => held.promise.then(() => route.fallback()), { times: 1 });
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
      await leave();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      held.resolve();
    }
    await page.goBack();
    await exported('JSON');
    expect([pages, saved]).toEqual([2 + Math.ceil(2000 / 99), 1]);
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
    await page.getByText('No deliveries of the last 30 days match.').waitFor();
    await page.getByRole('link', { name: 'All deliveries of' }).waitFor();
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
