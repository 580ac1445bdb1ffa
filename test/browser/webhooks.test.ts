import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { put } from '../support/documents.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook } from '../support/requests.ts';
import { useService } from '../support/service.ts';
import { badge, copyShown, hasFocus, heading, makeIdle, signInWith, useDashboard } from './browser.ts';

const service = useService({ speed: 20_000 });
const dashboard = useDashboard(service);

describe('a webhook', () => {
  it('can be created with Create Webhook, endpoint URL, events, save', async () => {
    const project = await service.project();
    const live = await project.client('live');
    const receiver = await startReceiver();

    // Open the project Dashboard, choose Create Webhook, enter the endpoint URL, select events, save.
    const page = await dashboard.signIn(project.adminKey);
    await page.getByRole('link', { name: 'Create Webhook' }).click();
    await page.getByLabel('Endpoint URL').fill(` ${receiver.url} `);
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

    await page.goto(`${service.stack.baseUrl}/dashboard#/live/webhooks/new`);
    await page.getByLabel('Endpoint URL').fill(receiver.url);
    await page.getByLabel('All events').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor();
    for (const [place, title] of Object.entries({ keys: 'Keys', 'webhooks/new': 'Create Webhook' })) {
      await page.evaluate((hash) => location.replace(hash), `#/live/${place}`);
      await expect.poll(() => page.title()).toBe(`${title} · Dashboard`);
    }
    expect(await page.getByLabel('Endpoint URL').inputValue()).toBe(''); // not restored while its secret is shown
  });

  it('shows how to verify signatures in the language of the docs', async () => {
    const project = await service.project();
    const { id } = await createWebhook(project.admin, 'http://127.0.0.1:9/hook');
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}/settings`);
    await page.getByText('Verify signatures').click();
    await page.getByLabel('Language').selectOption('Python');
    await page.getByLabel('Verification in Python').getByText('from standardwebhooks import Webhook').waitFor();
    const byHand = page.getByLabel('Verification by hand in Python').getByText('def is_genuine(');
    expect(await byHand.isVisible()).toBe(false);
    await page.getByText('Verify by hand').click();
    await byHand.waitFor();
    const library = page.getByRole('link', { name: 'Standard Webhooks library' });
    const [docs] = await Promise.all([page.waitForEvent('popup'), library.click()]);
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
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^Secret must /).waitFor(); // and not a generated one
    await page.getByLabel('Secret', { exact: true }).fill('x'.repeat(23));
    await page.getByText('fewer than 24 characters').waitFor();
    const needsPrefix = page.getByText('need a secret that starts with whsec_');
    await needsPrefix.waitFor();
    for (const given of ['whs', `whsec_${'x'.repeat(32)}`]) {
      await page.getByLabel('Secret', { exact: true }).fill(given);
      await expect.poll(() => needsPrefix.count()).toBe(0);
    }
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
    const rotate = page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' });
    await rotate.click();
    await page.getByText(/^Secret must /).waitFor();
    await page.getByLabel('Secret', { exact: true }).fill('y'.repeat(24));
    await rotate.click();
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
    await page.getByText('Data must be JSON.').waitFor();
    const large = '{"connection_id":"c-7","number":12345678901234567890}';
    await page.getByLabel('Data').fill(large);
    const posted = page.waitForRequest('**/test?*');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    expect((await posted).postData()).toContain(large);
    await page.getByText('Data node_id is required').waitFor();
    await page.getByLabel('Event type').selectOption('document.deleted');
    await page.getByLabel('Event type').selectOption('connection.lost');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await heading(page, 'connection.lost').waitFor();
    await expect.poll(() => badge(page)).toBe('succeeded');
    expect(receiver.received[0]?.headers['x-service-test']).toBe('true');
    receiver.behave(500);
    await page.getByRole('link', { name: receiver.url }).first().click();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('A test event is not retried.').waitFor();
    await page.getByRole('button', { name: 'Redeliver' }).click();
    await page.getByText('redelivery', { exact: true }).waitFor();
    expect(await page.getByRole('heading', { name: 'Schedule' }).count()).toBe(0);
    receiver.behave(200);
    await page.getByRole('link', { name: receiver.url }).first().click();
    const test = page.getByRole('rowheader', { name: 'connection.lost test' }).first();
    const isOneLine = (cell: Element) => {
      const [link, mark] = [...cell.children].map((each) => each.getBoundingClientRect().bottom);
      return Math.abs(Number(link) - Number(mark)) < 5;
    };
    expect(await test.evaluate(isOneLine)).toBe(true);
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
    await page.getByLabel('Documents', { exact: true }).fill('org:acme:*\n\norg:*:x y\nno key/\n');
    await page.getByLabel('Custom headers').fill('X-Tenant: acme:1\nX-Empty');
    await page.getByLabel('Requests per second').fill('many');
    await page.getByText('Documents, headers and rate limit').click(); // closes them
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/Documents contain “org:.*:x y”, which must .*; contain “no key\/”, which must/).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
    await page.getByText('Custom headers X-Empty').waitFor();
    await page.getByText('Requests per second must be an integer from 1 to 500.').waitFor();
    await page.getByLabel('Documents', { exact: true }).fill('org:acme:*\norg:acme:*');
    await page.getByLabel('Custom headers').fill('X-Tenant: acme:1\nX-Ten');
    await page.getByLabel('Requests per second').fill('20');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Documents "org:acme:*" is a duplicate.').waitFor();
    await page.getByLabel('Documents', { exact: true }).fill('org:acme:*\n');
    await page.getByLabel('Custom headers').fill('X-Tenant: acme:1');
    await page.getByLabel('Requests per second').fill('20');
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'Search index').waitFor();
    const { body: changed } = await project.admin('GET', `/v1/webhooks/${id}`);
    expect(changed).toMatchObject({ documents: ['org:acme:*'], headers: { 'X-Tenant': '***' }, max_per_second: 20 });
    expect(changed.events).toHaveLength(5);
    await project.admin('PATCH', `/v1/webhooks/${id}`, { body: { events: ['document.created'] } });
    await page.getByLabel('Description').fill('Mirror');
    await expect.poll(() => page.getByLabel('document.deleted').isChecked()).toBe(false);
    expect(await hasFocus(page.getByLabel('Description'))).toBe(true);
    const patched = page.waitForRequest((sent) => sent.method() === 'PATCH');
    await page.getByRole('button', { name: 'Save' }).click();
    expect((await patched).postDataJSON()).toEqual({ description: 'Mirror' });

    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    const fresh = await copyShown(page);
    expect(fresh).toMatch(/^whsec_/);
    expect(fresh).not.toBe(secret);
    const changes = page.getByRole('table', { name: 'Audit log' }).locator('tbody th');
    await expect.poll(() => changes.first().textContent()).toBe('webhook.secret_rotated');
  });
});
