import type { Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { listed, mint } from '../support/documents.ts';
import { createWebhook } from '../support/requests.ts';
import { useService } from '../support/service.ts';
import { copyShown, fact, hasFocus, heading, makeIdle, signInWith, useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);
const status = async (key: string, from?: string) =>
  (await service.as(key)('GET', '/v1/documents', { ...(from && { from }) })).status;

describe('signing in', () => {
  it('states why a key cannot sign in', async () => {
    const project = await service.project();
    const page = await dashboard.open();
    expect(await page.getByLabel('API key').getAttribute('type')).toBe('password');
    const problemWith = async (key: string) => {
      await signInWith(page, key);
      const alert = page.getByRole('alert');
      await alert.waitFor();
      const text = await alert.textContent();
      await page.getByLabel('API key').fill('');
      return text;
    };
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    expect(await problemWith('')).toBe('Enter an API key.');
    expect(await problemWith('svc_admin_short')).toContain('not a complete API key');
    expect(await problemWith(await project.key('read'))).toContain('This is a read key');
    expect(requests).toEqual([]);
    expect(
      await problemWith(`${project.adminKey.slice(0, -1)}${project.adminKey.endsWith('a') ? 'b' : 'a'}`),
    ).toContain('mistyped, revoked or expired');
    const restricted = await project.key('admin');
    await project.admin('POST', `/v1/keys/${restricted}/allowlist`, { body: { cidrs: ['203.0.113.7'] } });
    expect(await problemWith(restricted)).toContain("Your IP address is not on this key's allowlist");
    await page.route('**/v1/webhooks?*', (route) => route.fulfill({ status: 503, body: '' }));
    expect(await problemWith(project.adminKey)).toContain('unexpected response');
  });

  it('stores the key only in the session storage of the tab, until the user signs out', async () => {
    const { adminKey } = await service.project();
    const page = await dashboard.signIn(` ${adminKey} `);
    const kept = () =>
      page.evaluate(() => ({
        session: { ...sessionStorage },
        local: { ...localStorage },
        cookie: document.cookie,
        address: location.href,
      }));
    const session = { 'admin-key': adminKey, 'used-at': expect.stringMatching(/^\d+$/) };
    expect(await kept()).toEqual({ session, local: {}, cookie: '', address: expect.not.stringContaining(adminKey) });
    await page.reload();
    await heading(page, 'Overview').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
    expect((await kept()).session).toEqual({});
    await page.reload();
    await heading(page, 'Sign in').waitFor();
  });

  it('works in a browser that blocks cookies, which include its storage', async () => {
    const { adminKey } = await service.project();
    const page = await dashboard.open();
    await page.addInitScript(() => {
      const denied = () => {
        throw new DOMException('Access is denied', 'SecurityError');
      };
      Object.defineProperty(window, 'sessionStorage', { get: denied });
      Object.assign(window, { BroadcastChannel: denied }); // in Firefox
    });
    await page.reload();
    await signInWith(page, adminKey);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
  });

  it('applies to every tab of the browser, and signing out ends all of them', async () => {
    const { adminKey } = await service.project();
    const first = await dashboard.signIn(adminKey);
    const second = await dashboard.openBeside(first, '/dashboard#/live/keys');
    await heading(second, 'Keys').waitFor();
    expect(await second.evaluate(() => Object.keys(localStorage))).toEqual([]);
    await second.getByRole('button', { name: 'Sign out' }).click();
    await first.getByText('You are signed out.').waitFor();
    expect(await first.evaluate(() => sessionStorage.length)).toBe(0);
    const third = await dashboard.openBeside(first, '/dashboard#/live/keys');
    await heading(third, 'Sign in').waitFor();
  });

  it('applies to no other deployment of the same origin', async () => {
    const [one, other] = [await service.project(), await service.project()];
    const first = await dashboard.signIn(one.adminKey, '/live/settings');
    const prefix = /\/staging\//;
    await first.context().route(prefix, (route) => route.continue({ url: route.request().url().replace(prefix, '/') }));
    const staging = await dashboard.openBeside(first, '/staging/dashboard#/live/settings');
    await signInWith(staging, other.adminKey);
    await staging.getByText(other.id, { exact: true }).first().waitFor();
    const second = await dashboard.openBeside(first, '/dashboard#/live/settings');
    await second.getByText(one.id, { exact: true }).first().waitFor();
    await staging.getByRole('button', { name: 'Sign out' }).click();
    await heading(staging, 'Sign in').waitFor();
    await second.reload();
    await second.getByText(one.id, { exact: true }).first().waitFor();
  });

  it('gives a new tab the key of the tab that was used last', async () => {
    const [one, other] = [await service.project(), await service.project()];
    const first = await dashboard.signIn(one.adminKey, '/live/settings');
    const second = await dashboard.openBeside(first, '/dashboard#/live/settings');
    await heading(second, 'Settings').waitFor();
    await second.evaluate((key) => sessionStorage.setItem('admin-key', key), other.adminKey);
    await second.reload();
    await second.getByText(other.id, { exact: true }).first().waitFor();
    // Each of the two, because the first answer can be the right one by chance.
    for (const [used, { id }] of [
      [first, one],
      [second, other],
    ] as const) {
      await used.bringToFront();
      await used.keyboard.press('Shift');
      const third = await dashboard.openBeside(first, '/dashboard#/live/settings');
      await third.getByText(id, { exact: true }).first().waitFor();
    }
    // A tab that was signed out asks no other tab.
    await makeIdle(first);
    await first.keyboard.press('Shift');
    const last = await dashboard.openBeside(first, '/dashboard#/live/settings');
    await last.getByText(other.id, { exact: true }).first().waitFor();
    expect(await heading(first, 'Sign in').count()).toBe(1);
  });

  it.each([
    ['live', 'live'],
    ['test', 'sandbox'],
  ] as const)('works with a %s key, without the pages that need an admin key', async (type, environment) => {
    const project = await service.project();
    const key = await project.key(type);
    const page = await dashboard.signIn(key, '/live/settings');
    const forbidden: string[] = [];
    page.on('response', (response) => void (response.status() === 403 && forbidden.push(response.url())));
    await page.reload();
    await heading(page, 'Not available with this key').waitFor();
    expect(await page.getByText('apply to both environments').count()).toBe(0);
    const sections = page.getByRole('navigation', { name: 'Sections' }).getByRole('link');
    expect(await sections.allTextContents()).toEqual([
      'Overview',
      'Events',
      'Webhooks',
      'Tokens',
      'Documents',
      'Links',
      'Docs',
    ]);
    expect(await page.getByRole('navigation', { name: 'Environment' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('Nothing needs attention.').waitFor();
    await page.getByRole('link', { name: 'Create Webhook' }).click();
    await heading(page, 'Create Webhook').waitFor();
    expect(await page.evaluate(() => location.hash)).toBe(`#/${environment}/webhooks/new`);
    const { id } = await createWebhook(service.as(key), 'http://127.0.0.1:9/hook');
    await page.goto(`${service.stack.baseUrl}/dashboard#/${environment}/webhooks/${id}/settings`);
    await page.getByText('Delete this webhook').waitFor();
    expect(await page.getByText('Latest changes').count()).toBe(0);
    await page.keyboard.press('Meta+k');
    await page.getByRole('combobox').fill('e');
    await expect.poll(() => page.getByRole('option').count()).toBeGreaterThan(3);
    expect((await page.getByRole('option').allTextContents()).join()).not.toMatch(/Keys|Settings/);
    expect(forbidden).toEqual([]);
  });

  it('ends after 30 minutes without use, also in a tab that the browser restores', async () => {
    const { adminKey } = await service.project();
    const page = await dashboard.signIn(adminKey);
    await page.clock.install();
    await page.reload();
    await heading(page, 'Overview').waitFor();
    for (const use of ['keydown', 'pointerdown', 'wheel']) {
      await page.clock.fastForward('29:00');
      await page.locator('body').dispatchEvent(use);
    }
    await page.clock.fastForward('29:00');
    await heading(page, 'Overview').waitFor();
    await page.clock.fastForward('02:00');
    await page.getByText('you did not use this tab for 30 minutes').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    await signInWith(page, adminKey);
    await heading(page, 'Overview').waitFor();
    await page.clock.runFor(1000); // the page notes the sign-in as use after its first paint
    await makeIdle(page);
    const beside = await dashboard.openBeside(page, '/dashboard#/live/keys');
    await heading(beside, 'Sign in').waitFor();
    await page.reload();
    await page.getByText('you did not use this tab for 30 minutes').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);

    // The first use after the machine was asleep comes before any check of the time.
    await signInWith(page, adminKey);
    await heading(page, 'Overview').waitFor();
    await page.clock.runFor(1000);
    await makeIdle(page);
    await page.keyboard.press('Shift');
    await heading(page, 'Sign in').waitFor();
  });

  it('needs one click on the link of a local stack, which works once', async () => {
    const { adminKey } = await service.project();
    const { baseUrl } = service.stack;
    const link = service.stack.signInUrl(adminKey);
    expect(link).not.toContain(adminKey);
    const page = await dashboard.open(link.slice(baseUrl.length));
    await heading(page, 'Overview').waitFor();
    expect(await page.evaluate(() => location.href)).toBe(`${baseUrl}/dashboard`);
    await page.reload();
    await heading(page, 'Overview').waitFor();
    await makeIdle(page);
    await page.goto(service.stack.signInUrl(adminKey));
    await heading(page, 'Overview').waitFor();
    const other = await dashboard.open(link.slice(baseUrl.length));
    await other.getByText('This link works once.').waitFor();
    await other.getByRole('link', { name: 'Sign in with the admin key' }).click();
    await heading(other, 'Sign in').waitFor();
    expect(service.log.join('')).not.toContain(adminKey);
  });

  it('ends with a message when the key is revoked elsewhere', async () => {
    const project = await service.project();
    const second = await project.key('admin');
    const page = await dashboard.signIn(second, '/live/keys');
    await heading(page, 'Keys').waitFor();
    await project.admin('POST', `/v1/keys/${second}/revoke`);
    // The next request detects it, from this page or another one.
    const webhooks = await page.getByRole('link', { name: 'Webhooks' }).elementHandles();
    for (const link of webhooks) await link.evaluate((each) => (each as HTMLElement).click());
    await page.getByText('this key was revoked or has expired').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });
});

describe('a key', () => {
  it('opens in an environment where it can be used, and the sandbox lists no live key', async () => {
    const project = await service.project();
    const { body: live } = await project.admin('POST', '/v1/keys', { body: { type: 'live', name: 'App' } });
    await project.admin('POST', `/v1/keys/${live.id}/rotate`);
    const page = await dashboard.signIn(project.adminKey, '/sandbox');
    await page.getByText('Nothing needs attention.').waitFor();
    await page.goto(`${service.stack.baseUrl}/dashboard#/sandbox/keys/${live.id}`);
    await heading(page, 'App').waitFor();
    expect(await page.evaluate(() => location.hash)).toBe(`#/live/keys/${live.id}`);
    expect(await page.getByText('Live data is not affected').count()).toBe(0);
    await page.goBack(); // The redirect left no history entry.
    await page.getByText(/You are viewing test data.* apply to both environments/).waitFor();
    await page.goForward();
    await heading(page, 'App').waitFor();
    await page.getByRole('link', { name: 'Sandbox' }).click();
    await heading(page, 'Keys').waitFor(); // not the key, which the sandbox does not have
    await page.getByRole('link', { name: 'First admin key' }).click();
    await heading(page, 'First admin key').waitFor();
    expect(await page.evaluate(() => location.hash)).toContain('#/sandbox/keys/');
  });

  it('can be rotated in the order generate, switch, deploy, revoke', async () => {
    const project = await service.project();
    const page = await dashboard.signIn(project.adminKey, '/live/keys', { timezoneId: 'America/New_York' });

    await page.getByRole('link', { name: 'Generate key' }).first().click();
    await page.getByLabel('svc_live_').check();
    await page.getByLabel('Name').fill('App');
    await page.getByRole('button', { name: 'Generate' }).click();
    // Without access to the clipboard, or without a clipboard, the button selects the key.
    for (const isMissing of [false, true]) {
      await page.evaluate((isMissing) => {
        const denied = { writeText: () => Promise.reject(new Error()) };
        Object.defineProperty(navigator, 'clipboard', { value: isMissing ? undefined : denied, configurable: true });
        getSelection()?.empty();
      }, isMissing);
      await page.getByRole('button', { name: 'Copy key' }).click();
      await expect.poll(() => page.evaluate(() => String(getSelection()))).toMatch(/^svc_live_/);
      expect(await page.getByText('Copied').count()).toBe(0);
    }
    await page.evaluate(() => Reflect.deleteProperty(navigator, 'clipboard'));
    const old = await copyShown(page);
    expect(old).toMatch(/^svc_live_/);
    await heading(page, 'App').waitFor();
    expect(await status(old)).toBe(200);

    // 1. Generate a new key in the Dashboard.
    await page.getByRole('button', { name: 'Rotate' }).click();
    expect(await page.getByLabel('In 1 hour').getAttribute('value')).toBe('3600');
    await page.keyboard.press('Control+k'); // does not open the search over a dialog
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const fresh = await copyShown(page);
    expect(fresh).toMatch(/^svc_live_/);
    expect(fresh).not.toBe(old);
    // Both are valid for 24 hours, which the page counts down.
    await expect.poll(() => page.locator('.callout .countdown').textContent()).toMatch(/^23 h 59 min( \d+ s)?$/);
    expect([await status(old), await status(fresh)]).toEqual([200, 200]);
    // 2. and 3. Switch the application to the new key, deploy. 4. Revoke the old key.
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('App revoked.').waitFor();
    await expect.poll(() => fact(page, 'Status').textContent()).toBe('revoked');
    expect([await status(old), await status(fresh)]).toEqual([401, 200]);

    expect(await page.content()).not.toContain(fresh);
    await page.getByRole('link', { name: 'Keys', exact: true }).first().click();
    await page.getByText('Revoked and expired (1)').click();
    await page.getByRole('table', { name: 'Inactive keys' }).getByRole('link', { name: 'App' }).click();
    await page.getByText('Used on 1 of the last 30 days.').waitFor();
    const height = await page.locator('.chart rect.active').last().getAttribute('height');
    expect(Number(height)).toBeLessThan(20); // 1 of 24 hours
    await page.locator('.chart g').last().hover();
    const square = page.locator('.tip', { hasText: 'Active hours 1' }).locator('i');
    const bar = page.locator('.chart rect.active').last();
    const color = await bar.evaluate((each) => getComputedStyle(each).fill);
    expect(await square.evaluate((each) => getComputedStyle(each).backgroundColor)).toBe(color);
    expect(await page.locator('.chart .scale span').allTextContents()).toEqual(['24', '12', '0']);
    const labels = await page.locator('.chart .labels span').allTextContents();
    const days = await page.locator('.chart tbody th').allTextContents();
    expect(labels).toEqual([0, 8, 16, 24].map((day) => days[day]).concat('now'));
    const changes = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr');
    const actionsWithDetails = () =>
      changes.evaluateAll((rows) =>
        rows.map((row) => [...row.children].slice(0, 2).map(({ textContent }) => textContent)),
      );
    await expect.poll(actionsWithDetails).toEqual([
      ['key.revoked', '–'],
      ['key.rotated', expect.stringMatching(/^expires at: \w+ \d+, \d+, .* · replaced by: key_\w+$/)],
      ['key.created', 'expires at: none · name: App · type: live'],
    ]);
  });

  it('warns a week before it expires, on its page and on the overview', async () => {
    const project = await service.project();
    const expiringIn = async (name: string, days: number) => {
      const expires_at = new Date(Date.now() + days * 86_400_000).toISOString();
      return (await project.admin('POST', '/v1/keys', { body: { type: 'live', name, expires_at } })).body;
    };
    const soon = await expiringIn('Importer', 6);
    const later = await expiringIn('Backup', 8);
    await project.admin('POST', `/v1/keys/${soon.id}/allowlist`, { body: { cidrs: ['203.0.113.7'] } });
    const page = await dashboard.signIn(project.adminKey, '/live');
    await page.clock.setSystemTime(Date.now() - 10 * 86_400_000); // the clock of the service counts
    await page.reload();
    const rows = page.locator('.attention li');
    await rows.filter({ hasText: 'Importer' }).getByText(`svc_live_…${soon.hint}`).waitFor();
    await rows.getByText('in 5 d').waitFor();
    expect(await rows.count()).toBe(1);
    await page.route(`**/v1/keys/${soon.id}?*`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), expires_at: new Date(0).toISOString() } });
    });
    await rows.getByRole('link', { name: 'View key' }).click();
    await page.locator('.callout', { hasText: 'none, it has expired. Rotating it keeps this expiry.' }).waitFor();
    await page.goto(`${service.stack.baseUrl}/dashboard#/live/keys/${later.id}`);
    await heading(page, 'Backup').waitFor();
    expect(await page.locator('.callout').count()).toBe(0);
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Keys' }).click();
    const row = async (name: string) => page.getByRole('row', { name }).textContent();
    await expect.poll(() => row('Importer')).toMatch(/1 address.*in 5 d/);
    expect(await row('Backup')).toContain('any address');
  });

  it('has no name after it was renamed to spaces', async () => {
    const project = await service.project();
    const { body } = await project.admin('POST', '/v1/keys', { body: { type: 'live', name: 'App' } });
    const page = await dashboard.signIn(project.adminKey, `/live/keys/${body.id}`);
    await page.getByText('Not used in the last 30 days.').waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Name', { exact: true }).fill(' ');
    await page.getByRole('button', { name: 'Rename key' }).click();
    await heading(page, 'Unnamed live key').waitFor();
  });

  it('can replace the signed-in key immediately, and Escape does not lose the new key', async () => {
    const { adminKey, admin } = await service.project();
    await admin('POST', '/v1/keys', { body: { type: 'admin', name: 'Second' } });
    const page = await dashboard.signIn(adminKey, '/live/webhooks/new');
    await page.getByLabel('Description').fill('Mirror');
    await page.getByRole('link', { name: 'Keys' }).click();
    const user = () => page.getByTitle('Signed in with').getAttribute('title');
    const own = await user();
    await page.getByRole('link', { name: 'Second' }).click();
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await copyShown(page);
    await page.locator('.callout .countdown').waitFor();
    expect(await user(), 'another key').toBe(own);
    await page.getByRole('link', { name: 'Keys', exact: true }).first().click();
    await heading(page, 'Keys').waitFor();
    const held: Route[] = [];
    await page.route('**/usage?*', (route) => void held.push(route), { times: 1 });
    await page.getByRole('link', { name: 'First admin key' }).click();
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByLabel('Now').check();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await page.getByText('Your new key').waitFor();
    const rejected = page.waitForResponse((response) => response.status() === 401);
    for (const route of held) await route.continue(); // a late request with the replaced key
    await (await rejected).finished();
    await page.evaluate(() => fetch(location.href)); // the page has handled the response before this one
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
    const fresh = await copyShown(page);
    await page.getByText('Replaced by the new key.').waitFor();
    expect([await status(adminKey), await status(fresh)]).toEqual([401, 200]);
    await page.goto(`${service.stack.baseUrl}/dashboard#/live/webhooks/new`);
    await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('Mirror'); // the input stays
    await page.goBack();
    await page.reload();
    await heading(page, 'First admin key').waitFor();
  });

  it('is shown when its page was left during the request, like every secret', async () => {
    const { adminKey } = await service.project();
    const forms = [
      ['/live/tokens', 'Create token', { Documents: 'org:acme:*' }, /^ey/],
      ['/live/keys/new', 'Generate', {}, /^svc_live_/],
      ['/live/webhooks/new', 'Save', { 'Endpoint URL': 'http://127.0.0.1:9/hook' }, /^whsec_/],
    ] as const;
    const page = await dashboard.signIn(adminKey);
    const left = Promise.withResolvers<void>();
    await page.route('**/v1/*', (route) => left.promise.then(() => route.continue()));
    for (const [place, button, fields] of forms) {
      await page.evaluate((next) => Object.assign(location, { hash: next }), place);
      for (const [name, value] of Object.entries(fields)) await page.getByRole('textbox', { name }).fill(value);
      if (button === 'Save') await page.getByLabel('All events').check();
      await page.getByRole('button', { name: button, exact: true }).click();
      if (button === 'Save') await page.getByLabel('Description').fill('Typed during the request');
    }
    await page.evaluate(() => Object.assign(location, { hash: '/live/documents' }));
    left.resolve();
    const secrets: string[] = [];
    for (const _ of forms) {
      secrets.push(await copyShown(page));
      expect(await page.evaluate(() => location.hash)).toBe('#/live/documents');
    }
    secrets.sort();
    for (const [i, [, , , secret]] of forms.entries()) expect(secrets[i]).toMatch(secret);
    await page.evaluate(() => Object.assign(location, { hash: '/live/webhooks/new' }));
    expect(await page.getByLabel('Description').inputValue()).toBe('');
  });

  it('is shown to no other user after the sign-out', async () => {
    const { adminKey } = await service.project();
    const page = await dashboard.signIn(adminKey, '/live/keys/new');
    await page.getByRole('button', { name: 'Generate' }).click();
    await page.getByText('Copy it now.').waitFor();
    const leaveIdle = async () => {
      await makeIdle(page);
      await page.keyboard.press('Shift');
      await heading(page, 'Sign in').waitFor();
    };
    await leaveIdle();
    const other = await service.project();
    await signInWith(page, other.adminKey);
    await heading(page, 'Generate key').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);

    // A rotation that ends after the sign-out does not sign in again.
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('link', { name: 'First admin key' }).click();
    await page.getByRole('button', { name: 'Rotate' }).click();
    const left = Promise.withResolvers<void>();
    await page.route('**/rotate?*', (route) => left.promise.then(() => route.continue()));
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await leaveIdle();
    const rotated = page.waitForResponse('**/rotate?*');
    left.resolve();
    await (await rotated).finished();
    await page.evaluate(() => fetch(location.href)); // the page has handled the response before this one
    await page.reload();
    await heading(page, 'Sign in').waitFor();
  });

  it('shows violations next to their fields', async () => {
    const project = await service.project();
    const page = await dashboard.signIn(project.adminKey, '/sandbox/keys/new');
    expect(await page.getByLabel('svc_test_').isChecked()).toBe(true);
    await page.getByLabel('Expiry').fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Generate' }).click();
    await page.getByText('Expiry must be in the future.').waitFor();
    const descriptions = page
      .getByLabel('Expiry')
      .evaluate((input) => input.ariaDescribedByElements?.map((each) => each.textContent));
    expect(await descriptions).toEqual([expect.stringContaining('Optional'), 'Expiry must be in the future.']);
    expect(await page.getByLabel('svc_live_').count()).toBe(0); // live keys do not belong to the sandbox
    const typed = Promise.withResolvers<void>();
    await page.route('**/v1/keys?*', (route) => typed.promise.then(() => route.continue()));
    await page.getByRole('button', { name: 'Generate' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' }); // A new request hides the old violation.
    await page.getByLabel('Name').fill('App');
    typed.resolve();
    await page.getByRole('alert').waitFor();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    expect(await hasFocus(page.getByLabel('Name'))).toBe(true);
  });
});

it('the allowlist restricts a key when it is saved, and names an invalid entry', async () => {
  const project = await service.project();
  const key = await project.key('live');
  const page = await dashboard.signIn(project.adminKey, '/live/keys');
  await page.getByRole('link', { name: 'Unnamed live key' }).click();
  const addresses = page.getByLabel('Addresses');
  const save = page.getByRole('button', { name: 'Save allowlist' });
  await addresses.fill('192.0.2.1\n203.0.113.7/24');
  await page.getByText('This key works from any IP address.').waitFor(); // until it is saved
  await save.click();
  await page.getByText('"203.0.113.7/24": host bits are set').waitFor();
  expect(await status(key)).toBe(200); // nothing was changed

  await addresses.fill('');
  await page.evaluate(() => navigator.clipboard.writeText('192.0.2.1, 10.0.0.0/8;\t2001:db8::1\n\n127.0.0.5'));
  await addresses.press('Control+V'); // of any list
  await save.click();
  await page.getByText('Allowlist saved.').waitFor();
  await expect.poll(() => addresses.inputValue()).toBe('192.0.2.1/32\n10.0.0.0/8\n2001:db8::1/128\n127.0.0.5/32');
  expect([await status(key), await status(key, '127.0.0.5')]).toEqual([403, 200]);

  await addresses.fill('127.0.0.7');
  await save.click();
  await page.getByRole('cell', { name: 'cidrs: 127.0.0.7/32' }).waitFor();
  await addresses.fill(' ,\n');
  await save.click();
  await page.getByText('not an IPv4 or IPv6 address').waitFor(); // only an empty text lifts the restriction
  await addresses.fill(Array.from({ length: 101 }, (_, i) => `10.0.0.${i}`).join(' '));
  await save.click();
  await page.getByText('at most 100 entries').waitFor();
  await addresses.fill('');
  await page.getByText('This key will work from any IP address.').waitFor();
  await save.click();
  await page.getByText('Restriction removed.').waitFor();
  await page.getByRole('cell', { name: 'cidrs: none' }).waitFor();
  expect(await status(key)).toBe(200);

  // Another admin changes it. Save without a change of one's own keeps that, and a rename shows it.
  await project.admin('POST', `/v1/keys/${key}/allowlist`, { body: { cidrs: ['127.0.0.6'] } });
  await save.click();
  await page.getByText('Allowlist saved.').waitFor();
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('button', { name: 'Rename key' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('This key works only from the saved addresses.').waitFor();
  expect(await addresses.inputValue()).toBe('127.0.0.6/32');

  const reverted = Promise.withResolvers<void>();
  await page.route('**/allowlist?*', (route) => reverted.promise.then(() => route.continue()), { times: 1 });
  await addresses.fill('127.0.0.8');
  await save.click();
  await addresses.fill('127.0.0.6/32'); // while the request is in flight
  reverted.resolve();
  await page.getByRole('cell', { name: 'cidrs: 127.0.0.8/32' }).waitFor();
  expect(await addresses.inputValue()).toBe('127.0.0.6/32');

  const { id } = (await listed(project.admin, '/v1/keys?environment=live')).find(({ type }) => type === 'admin');
  await page.goto(`${service.stack.baseUrl}/dashboard#/live/keys/${id}`);
  await page.getByText('This key works from any IP address.').waitFor();
  await addresses.fill('192.0.2.1');
  await page.getByText('You are signed in with this key.').waitFor();
});

describe('a rejected credential', () => {
  it('has its cause on the page of its key, and in the list', async () => {
    const project = await service.project();
    const [live, restricted] = [await project.key('live'), await project.key('live')];
    const token = await mint(service.as(live), ['org:acme:*'], ['read']);
    const page = await dashboard.signIn(project.adminKey, `/live/keys/key_${live.slice(9, 21)}`);
    await expect.poll(() => fact(page, 'Last rejected').textContent()).toBe('never');
    await project.admin('POST', `/v1/keys/${live}/revoke`);
    expect([await status(live), await status(token)]).toEqual([401, 401]);
    await project.admin('POST', `/v1/keys/${restricted}/allowlist`, { body: { cidrs: ['203.0.113.7'] } });
    expect(await status(restricted)).toBe(403);
    await page.reload();
    await expect.poll(() => fact(page, 'Last rejected').textContent()).toBe('within the hour: 401, the key is revoked');
    await page.goto(`${service.stack.baseUrl}/dashboard#/live/keys`);
    const row = page.getByRole('row').filter({ hasText: restricted.slice(-4) });
    await row.getByText('within the hour: 403, the allowlist did not contain the address').waitFor();
  });

  it('is not active for the inspector of tokens, which asks the service', async () => {
    const project = await service.project();
    const [live, revoked, own] = [await project.key('live'), await project.key('live'), await project.key('live')];
    const tokens = await Promise.all([live, revoked].map((key) => mint(service.as(key), ['org:acme:*'], ['read'])));
    await project.admin('POST', `/v1/keys/${revoked}/revoke`);
    const [token = '', dead = ''] = tokens;
    const page = await dashboard.signIn(project.adminKey, '/live/tokens');
    const inspect = (text: string) => page.getByLabel('Token', { exact: true }).fill(text);
    const shown = () => fact(page, 'Status').textContent();
    await inspect(dead);
    await expect.poll(shown).toBe('not active Its key is revoked.');
    await page.getByLabel('Document key').fill('org:acme:a');
    await expect.poll(() => fact(page, 'Can read').textContent()).toBe('no The token is not active.');
    const [head, payload, signature = ''] = token.split('.');
    await inspect([head, payload, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`].join('.'));
    await expect.poll(shown).toBe('not active It is revoked, or its signature is not valid.');
    await inspect(token);
    await expect.poll(shown).toBe('active');
    await expect.poll(() => fact(page, 'Can read').textContent()).toMatch(/^yes/);
    await project.admin('POST', `/v1/keys/${live}/allowlist`, { body: { cidrs: ['203.0.113.7'] } });
    await page.getByRole('button', { name: 'Revoke this token' }).click();
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await expect.poll(shown).toBe('not active It is revoked, or its signature is not valid.');
    const other = await dashboard.signIn(own, '/live/tokens');
    await other.getByLabel('Token', { exact: true }).fill(token);
    await expect
      .poll(() => fact(other, 'Status').textContent())
      .toContain('not active It is revoked, its key no longer works, or');
  });
});
