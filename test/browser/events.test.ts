import { describe, expect, it } from 'vitest';
import { keyIdOf } from '../../lib/keys/key-secret.ts';
import { changed } from '../support/changed.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, publish } from '../support/requests.ts';
import { eventually, useService } from '../support/service.ts';
import { fact, heading, useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);

describe('an event', () => {
  it('can be found by its document, with its deliveries to every webhook', async () => {
    const project = await service.project();
    const receivers = [await startReceiver(), await startReceiver()];
    const webhooks = [
      await createWebhook(project.admin, receivers[0]?.url ?? ''),
      await createWebhook(project.admin, receivers[1]?.url ?? '', { description: 'Search index' }),
    ];
    for (const key of ['org:acme:a', 'org:acme:b'])
      await project.admin('PUT', `/v1/documents/${key}`, { body: { fields: { title: key } } });
    for (const receiver of receivers) await receiver.until(2);

    // Opens every delivery of the last event of a document.
    const page = await dashboard.signIn(project.adminKey);
    const rows = page.getByRole('table', { name: 'Events' }).locator('tbody tr');
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByLabel('Document key or event id').fill('org:acme:a');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('link', { name: 'document.created' }).click();
    await heading(page, 'document.created').waitFor();
    await expect.poll(() => page.getByRole('cell', { name: 'succeeded' }).count()).toBe(2);
    await page.getByRole('rowheader', { name: `Search index ${receivers[1]?.url}` }).waitFor();

    await page.getByRole('link', { name: 'Events' }).first().click();
    await expect.poll(() => rows.count()).toBe(2);
    await expect.poll(() => rows.locator('.badge').allTextContents()).toEqual(['2 delivered', '2 delivered']);
    await page.getByLabel('Type', { exact: true }).selectOption('document.deleted');
    await page.getByText('No events of the last 30 days match.').waitFor();
    for (const [i, statuses] of [
      ['skipped', 'succeeded'],
      ['skipped', 'skipped'],
    ].entries()) {
      await project.admin('PATCH', `/v1/webhooks/${webhooks[i]?.id}`, { body: { status: 'disabled' } });
      await project.admin('PUT', `/v1/documents/org:acme:skipped-${i}`, { body: { fields: {} } });
      const [last] = (await project.admin('GET', `/v1/events?document_key=org:acme:skipped-${i}`)).body.data;
      const deliveries = async () => (await project.admin('GET', `/v1/events/${last.id}/deliveries`)).body.data;
      await expect
        .poll(async () => (await deliveries()).map(({ status }: { status: string }) => status).sort())
        .toEqual(statuses);
    }
    // A pause is no outage, also after its end. One request shows the outcomes.
    const reads: string[] = [];
    page.on('request', (request) => {
      if (/\/v1\/events[?/]/.test(request.url())) reads.push(request.url());
    });
    const outcomes = () => rows.locator('[data-label="Deliveries"]').allTextContents();
    await page.getByLabel('Type', { exact: true }).selectOption('');
    const delivered = ['none', '1 delivered', '2 delivered', '2 delivered'];
    await expect.poll(outcomes).toEqual(delivered);
    await project.admin('PATCH', `/v1/webhooks/${webhooks[0]?.id}`, { body: { status: 'enabled' } });
    await page.reload();
    await expect.poll(outcomes).toEqual(delivered);
    expect(await rows.locator('.badge.waiting').allTextContents()).toEqual([]);
    expect(reads.every((url) => url.includes('include=outcome'))).toBe(true);
    const { body } = await project.admin('GET', '/v1/events?document_key=org:acme:b');
    await page.getByLabel('Document key or event id').fill(body.data[0].id);
    await page.getByRole('button', { name: 'Search' }).click();
    await heading(page, 'document.created').waitFor();
    await page.getByRole('link', { name: 'org:acme:b' }).click();
    await page.getByRole('link', { name: 'Open document' }).click();
    await heading(page, 'org:acme:b').waitFor();
  });

  it('of a document that the service does not store leads to the other events of the document', async () => {
    const project = await service.project();
    const { body: event } = await publish(project.admin, changed({ document_key: 'notes:plan' }));
    const page = await dashboard.signIn(project.adminKey, `/live/events/${event.id}`);
    await page.getByRole('link', { name: 'notes:plan' }).click();
    await heading(page, 'Events').waitFor();
    await expect.poll(() => page.getByRole('table', { name: 'Events' }).locator('tbody tr').count()).toBe(1);
    expect(await page.getByRole('link', { name: 'Open document' }).count()).toBe(0);
    for (const [text, count] of [
      ['notes:*', 1],
      ['notes:plan:*', 1],
      ['note:*', 0],
    ] as const) {
      await page.getByLabel('Document key or event id').fill(text);
      await page.keyboard.press('Enter');
      await expect.poll(() => page.locator('main tbody tr').count()).toBe(count);
    }
    await page.getByLabel('Document key or event id').fill('notes');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'notes:*' }).click();
    await expect.poll(() => page.locator('main tbody tr').count()).toBe(1);
    await page.getByLabel('Document key or event id').fill('two words');
    await page.keyboard.press('Enter');
    await page.getByText('must be 1 to 16 segments').waitFor();
  });

  it('can be found at every entrance without its exact key, although the service stores no document', async () => {
    const project = await service.project();
    const receiver = await startReceiver();
    const { id } = await createWebhook(project.admin, receiver.url);
    const key = 'org:acme:invoice-1207';
    await publish(project.admin, changed({ document_key: key }));
    await publish(project.admin, changed({ document_key: 'org:acme:plan' }));
    await receiver.until(2);
    const page = await dashboard.signIn(project.adminKey);
    const search = page.getByLabel('Document key or event id');
    const rows = page.locator('main tbody tr');
    const at = (place: string) => page.goto(`${service.stack.baseUrl}/dashboard#/live${place}`);

    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Go to' }).fill('invoice-1207');
    const found = page.getByRole('option', { name: `Events of ${key}` });
    await found.waitFor();
    expect(await page.getByRole('option').allTextContents()).toEqual([`Events of ${key} Events`]); // no empty document
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(1);
    expect(await search.inputValue()).toBe(key);

    for (const place of ['/events', `/webhooks/${id}`]) {
      await at(place);
      await search.fill('invoice-1207');
      await search.press('Enter');
      await page.getByText('Did you mean').getByRole('link', { name: key, exact: true }).click();
      await expect.poll(() => page.locator('main .list tbody tr').count()).toBe(1);
      await search.fill('no-such-document');
      await search.press('Enter');
      await page.getByText('A document key must match exactly, such as org:acme:').waitFor();
    }
    for (const place of ['/documents?prefix=invoice-1207', '/documents/invoice-1207']) {
      await at(place);
      await page.getByText('Did you mean').getByRole('link', { name: key }).click();
      await expect.poll(() => rows.count()).toBe(1);
    }

    // All filters apply together. Without the others, there are events.
    await page.getByLabel('Time').selectOption('Yesterday');
    await page.getByRole('link', { name: `All events of ${key}` }).click();
    await expect.poll(() => rows.count()).toBe(1);
    expect(await page.getByLabel('Since').count()).toBe(0);
    await page.getByLabel('Time').selectOption('Choose a period…');
    await page.getByLabel('Since').fill('2026-01-02T00:00');
    await page.getByLabel('Until').fill('2026-01-01T00:00');
    await page.getByLabel('Until').press('Enter');
    await page.getByText('Until must be after Since.').waitFor();
    await page.getByLabel('Until').fill('');
    await page.getByLabel('Until').press('Enter');
    await expect.poll(() => new URLSearchParams(page.url().split('?')[1]).get('since')).toContain('2026-01-01T');
    await expect.poll(() => rows.count()).toBe(1);
  });

  it('that was not sent to a webhook is awaited there for a minute', async () => {
    const project = await service.project();
    const { id } = await createWebhook(project.admin, 'http://127.0.0.1:9/hook', { events: ['document.deleted'] });
    const { body: event } = await publish(project.admin);
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}/deliveries/${event.id}`);
    await page.getByText('Waiting for the first attempt…').waitFor();
    await page.route(`**/v1/events/${event.id}?*`, async (route) => {
      const response = await route.fetch();
      const timestamp = new Date(Date.now() - 61_000).toISOString();
      await route.fulfill({ response, json: { ...(await response.json()), timestamp } });
    });
    await page.reload();
    await page.getByText('This event was not sent to this webhook.').waitFor();
  });
});

describe('the list of events', () => {
  it('shows the events that some webhook did not accept, once each, newest first', async () => {
    const project = await service.project();
    const failing = [await startReceiver(500), await startReceiver(500)];
    for (const { url } of failing) await createWebhook(project.admin, url, { events: ['document.changed'] });
    const healthy = await startReceiver();
    await createWebhook(project.admin, healthy.url);
    const paused = await createWebhook(project.admin, healthy.url, {
      events: ['document.changed', 'document.deleted'],
    });
    await project.admin('PATCH', `/v1/webhooks/${paused.id}`, { body: { status: 'disabled' } });
    for (let i = 0; i < 30; i++) await publish(project.admin, changed({ document_key: `org:acme:${i}` }));
    await publish(project.admin, {
      type: 'document.deleted',
      data: { document_key: 'org:acme:gone', revision: 2, origin: 'test' },
    });
    for (const receiver of failing) await receiver.until(30);
    await healthy.until(31);

    const page = await dashboard.signIn(project.adminKey, '/live/events');
    const rows = page.getByRole('table', { name: 'Events' }).locator('tbody tr');
    const documents = () => rows.locator('td.wide').allTextContents();
    const newest = Array.from({ length: 30 }, (_, i) => `org:acme:${29 - i}`);
    await page.getByLabel('Deliveries').selectOption('retrying');
    const reads: string[] = [];
    page.on('request', (request) => reads.push(new URL(request.url()).pathname));
    await expect.poll(documents).toEqual(newest.slice(0, 25));
    await expect.poll(() => rows.locator('.badge.waiting').first().textContent()).toBe('1 delivered, 2 pending');
    expect(await rows.locator('[data-label="Revision"]').first().textContent()).toMatch(/^\d+$/);
    expect(reads.filter((path) => path.startsWith('/v1/events'))).toHaveLength(1); // with all outcomes
    await page.getByRole('link', { name: 'Older' }).click();
    await expect.poll(documents).toEqual(newest.slice(25));
    await page.reload();
    await expect.poll(documents).toEqual(newest.slice(25));
    await page.getByRole('link', { name: 'Newest' }).click();
    await expect.poll(documents).toEqual(newest.slice(0, 25));

    const search = page.getByLabel('Document key or event id');
    await search.fill('org:acme:7');
    await search.press('Enter');
    await expect.poll(documents).toEqual(['org:acme:7']);
    await search.fill('');
    await search.press('Enter');
    await page.getByLabel('Deliveries').selectOption('skipped');
    await expect.poll(async () => (await documents())[0]).toBe('org:acme:gone');
    await page.getByLabel('Type', { exact: true }).selectOption('document.deleted');
    await expect.poll(documents).toEqual(['org:acme:gone']);
    await page.getByLabel('Type', { exact: true }).selectOption('');
    await page.getByLabel('Deliveries').selectOption('failed');
    await page.getByText('No events of the last 30 days match.').waitFor();
    await page.route('**/v1/events?*', (route) => route.fulfill({ json: { data: [], next_cursor: 'older' } }));
    await page.getByLabel('Deliveries').selectOption('');
    await page.getByText('There are older ones.').waitFor();
    await page.getByRole('link', { name: 'Older' }).waitFor();
  });
});

describe('the list of places', () => {
  it('opens pages, webhooks, keys, events and documents, with the keyboard', async () => {
    const project = await service.project();
    await createWebhook(project.admin, 'http://127.0.0.1:8/hook', { description: 'Research reindexing' });
    const { id } = await createWebhook(project.admin, 'http://127.0.0.1:9/hook', { description: 'Search index' });
    await project.admin('PUT', '/v1/documents/org:acme:plan', { body: { fields: { title: 'Plan' } } });
    const { body: events } = await project.admin('GET', '/v1/events?limit=1');
    const page = await dashboard.signIn(project.adminKey);
    const find = async (text: string) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.press('ArrowDown'); // typing returns to the first result
      await page.getByRole('combobox', { name: 'Go to' }).fill(text);
    };
    const first = page.getByRole('option', { selected: true });

    await page.getByRole('button', { name: 'Go to' }).click();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => first.textContent()).toBe('Events Page');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp'); // from the first one to the last one
    await expect.poll(() => first.textContent()).toBe('Create document Page');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);

    await page.keyboard.press('/');
    expect(await page.getByRole('combobox', { name: 'Go to' }).inputValue()).toBe('');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);

    for (const text of ['index search', id, '127.0.0.1:9']) {
      await find(text);
      await expect.poll(() => first.textContent()).toBe('Search index Webhook');
      await page.keyboard.press('Enter');
      await heading(page, 'Search index').waitFor();
      await page.goto(`${service.stack.baseUrl}/dashboard#/live`);
      await heading(page, 'Overview').waitFor();
    }
    await find(`${keyIdOf(project.adminKey)} ${project.adminKey.slice(-4)}`);
    await page.getByRole('option', { name: 'Key' }).click();
    await heading(page, 'First admin key').waitFor();
    await find(events.data[0].id);
    await page.keyboard.press('Enter');
    await heading(page, 'document.created').waitFor();
    await find('org:acme:plan');
    await page.getByRole('option', { name: 'org:acme:plan Document' }).waitFor();
    expect(await first.textContent()).toBe('Events of org:acme:plan Events');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await heading(page, 'org:acme:plan').waitFor();
    await find('no such page');
    await page.getByText('Nothing found.').waitFor();
    await page.getByRole('combobox', { name: 'Go to' }).fill('Search index');
    await page.getByRole('option', { name: 'Search index Webhook' }).waitFor();
    await page.goto(`${service.stack.baseUrl}/dashboard#/sandbox`); // which does not have it
    await page.getByRole('option', { name: 'Search index Webhook' }).waitFor({ state: 'detached' });

    await page.keyboard.press('Escape');
    const late = Promise.withResolvers<void>();
    await page.route('**/v1/webhooks?*', (route) => late.promise.then(() => route.continue()));
    await page.goto(`${service.stack.baseUrl}/dashboard#/live/tokens`);
    await heading(page, 'Tokens').waitFor();
    const token = page.getByLabel('Token', { exact: true });
    await token.press('/');
    expect(await token.inputValue()).toBe('/'); // a shortcut only outside of fields
    await find('index');
    await page.keyboard.press('ArrowDown');
    // An input method uses these keys while it composes a word.
    for (const key of ['ArrowUp', 'Enter'])
      await page.getByRole('combobox').dispatchEvent('keydown', { key, isComposing: true });
    late.resolve();
    await page.getByRole('option', { name: 'Search index Webhook' }).waitFor();
    // The selection stays on its entry when the webhooks load.
    await expect.poll(() => first.textContent()).toBe('Search index Webhook');
  });
});

describe('the settings', () => {
  it('change the project, send a test email, and show the audit log', async () => {
    const project = await service.project();
    const page = await dashboard.signIn(project.adminKey, '/live/settings');
    await page.getByLabel('Name', { exact: true }).fill('Acme');
    await page.getByLabel('Email addresses').fill(`${project.email}, not an address`);
    const typed = Promise.withResolvers<void>();
    await page.route('**/v1/project?*', (route) => typed.promise.then(() => route.continue()), { times: 1 });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Email addresses').fill(`a@example.com, ${project.email}`);
    typed.resolve();
    await page.getByText('Email addresses contain “not an address”, which must be an email address.').waitFor();
    const address = `${crypto.randomUUID()}@example.com`;
    await page.getByLabel('Email addresses').fill(`${address}, ${project.email}`);
    await page.getByText('Email addresses contain “not an address”').waitFor(); // which was sent
    await page.getByRole('button', { name: 'Save' }).click();
    const saved = page.getByText('Settings saved.');
    await saved.waitFor();
    await page
      .getByRole('banner')
      .getByText(`Acme · svc_admin_…${project.adminKey.slice(-4)}`)
      .waitFor();
    expect((await project.admin('GET', '/v1/project')).body).toMatchObject({
      name: 'Acme',
      emails: [address, project.email],
    });
    const shown = await saved.elementHandle();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => shown?.evaluate((each) => each.isConnected)).toBe(false); // the message is shown again
    await page.getByLabel('Email addresses').fill('not-saved@example.com');
    await page.getByRole('button', { name: 'Send test email' }).click();
    await page.getByText(`A test email is on its way to ${project.email}.`).waitFor(); // the other one is not confirmed
    await eventually(() => service.stack.ses.emails.find(({ to }) => to.includes(project.email)));
    // A token id is long, and does not take the room of the details.
    const { body: token } = await project.admin('POST', '/v1/tokens', {
      body: { documents: ['a:*'], permissions: ['read'], ttl: 60 },
    });
    await project.admin('POST', `/v1/tokens/${token.token_id}/revoke`);
    await page.reload();
    const details = page.getByRole('row', { name: /token.revoked/ }).locator('.details');
    expect((await details.boundingBox())?.width).toBeGreaterThan(190);
    const changed = page.getByRole('row', { name: /project.changed/ });
    expect(await changed.textContent()).toContain(`emails: ${address}, ${project.email} · name: Acme`);
  });

  it('say that the addresses of deliveries change, and keep what another admin has changed', async () => {
    const { admin, adminKey } = await service.project();
    const page = await dashboard.signIn(adminKey, '/live/settings');
    expect(await fact(page, 'Source addresses of deliveries').textContent()).toContain('They change.');
    await admin('PATCH', '/v1/project', { body: { name: 'Theirs' } });
    await page.getByLabel('Email addresses').fill('mine@example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Theirs');
    expect((await admin('GET', '/v1/project')).body).toMatchObject({ name: 'Theirs', emails: ['mine@example.com'] });
  });
});

describe('an email address that bounced', () => {
  it('is listed on the overview in one line, and in the settings until it is replaced', async () => {
    const bounced = `bounce@${crypto.randomUUID()}.example.com`;
    const project = await service.project('Test', [bounced]);
    await project.key('admin'); // causes an email
    const undeliverable = async () => (await project.admin('GET', '/v1/project')).body.undeliverable_emails.length;
    await eventually(async () => (await undeliverable()) === 1);
    const page = await dashboard.signIn(project.adminKey, '/live');
    const row = page.getByRole('listitem').filter({ hasText: bounced });
    await row.getByText('an email bounced').waitFor();
    const [badge, line] = [row.locator('.badge'), row.locator('small')];
    expect((await badge.boundingBox())?.height).toBeLessThan(1.5 * ((await line.boundingBox())?.height ?? 0)); // one line
    await row.getByRole('link', { name: 'Open settings' }).click();
    await page.getByRole('button', { name: `Confirm ${bounced}` }).waitFor();
    await project.admin('PATCH', '/v1/project', { body: { name: 'Theirs' } });
    await page.getByRole('button', { name: `Confirm ${bounced}` }).click(); // reads the project again
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Theirs');
    await page.getByLabel('Email addresses').fill(project.email);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: `Confirm ${bounced}` }).waitFor({ state: 'detached' });
  });
});
