import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { useService } from '../support/service.ts';
import { useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);

/** Shows a page of the documentation below a stage, as a deployment without its own domain has it. */
async function openBelowStage(path: string): Promise<Page> {
  const page = await dashboard.open('/docs');
  await page.route('**/live/**', (route) => route.continue({ url: route.request().url().replace('/live/', '/') }));
  await page.goto(`${service.stack.baseUrl}/live${path}`);
  return page;
}

describe('the documentation', () => {
  it('shows the operations of the open page in the navigation without a scroll', async () => {
    const page = await dashboard.open('/docs/api-webhooks', { viewport: { width: 1200, height: 600 } });
    const operation = page.locator('.pages').getByRole('link', { name: 'POST Create a webhook' });
    const box = await operation.boundingBox();
    expect(box && box.y + box.height).toBeLessThan(600);
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await operation.click();
    await page.waitForURL('**/docs/api-webhooks#createWebhook');
  });

  it('shows a page with a search for an unknown address, and redirects a trailing slash', async () => {
    const page = await dashboard.open('/docs/nothing');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    const typed = Promise.withResolvers<void>();
    await page.route('**/search-*.json', (route) => typed.promise.then(() => route.continue()));
    await page.keyboard.press('Control+k');
    await page.keyboard.type('static ip');
    await page.keyboard.press('Enter');
    typed.resolve(); // the index arrives after the search
    await page.waitForURL('**/docs/receiving#source-addresses');
    await page.goto(`${service.stack.baseUrl}/docs/`);
    expect(page.url()).toBe(`${service.stack.baseUrl}/docs`);
  });

  it('finds a section by its words, with the keyboard, also after its index was not available', async () => {
    const page = await openBelowStage('/docs/receiving');
    await page.route('**/search-*.json', (route) => route.fulfill({ status: 429, json: {} }), { times: 1 });
    const failed = page.waitForResponse('**/search-*.json');
    await page.keyboard.press('Meta+k');
    await (await failed).finished();
    await page.keyboard.type('lease renews closes');
    await page.getByRole('option', { name: /Sync and conflicts: Connections/ }).waitFor();
    await expect
      .poll(() => page.getByRole('option').first().locator('mark').allTextContents())
      .toEqual(['lease', 'lease']);
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { expanded: false }).press('Enter'); // opens no hidden result
    expect(page.url()).toContain('/docs/receiving');
    for (const key of ['ArrowDown', 'ArrowUp', 'ArrowUp']) await page.keyboard.press(key);
    const last = await page.getByRole('option').last().getAttribute('id');
    expect(await page.getByRole('option', { selected: true }).getAttribute('id')).toBe(last);
    const input = page.getByRole('combobox', { expanded: true });
    expect(await input.getAttribute('aria-activedescendant')).toBe(last);
    await input.dispatchEvent('keydown', { key: 'ArrowUp', isComposing: true }); // for the input method
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/live/docs/api-documents-and-sync#renewEngine');
    await page.keyboard.press('/');
    await page.keyboard.type('qwxzv kjhgf');
    await page.getByText('Nothing found').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Nothing found').waitFor({ state: 'hidden' });
    expect(await page.getByRole('combobox').inputValue()).toBe('qwxzv kjhgf');
    await page.keyboard.type('q');
    await page.getByText('Nothing found').waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await page.getByText('Nothing found').isVisible()).toBe(true);
    await page.locator('main p').last().click();
    await page.getByText('Nothing found').waitFor({ state: 'hidden' });
    await page.getByRole('combobox').fill('qwxzv');
    await page.getByText('Nothing found').waitFor();
    await page.getByRole('combobox').fill('');
    await page.getByText('Nothing found').waitFor({ state: 'hidden' });
    await page.getByRole('combobox').fill('lease renews closes');
    const onPage = page.getByRole('option', { name: /renew the lease of a sync engine/ });
    await onPage.waitFor();
    await page.keyboard.press('Enter');
    await onPage.waitFor({ state: 'hidden' });
  });

  it('searches while the reader pastes a token or a page', async () => {
    const page = await dashboard.open('/docs/keys');
    const input = page.getByRole('combobox');
    const text = await page.locator('main').innerText();
    expect(text.length).toBeGreaterThan(5000);
    for (const pasted of ['eyJhbGciOiJIUzI1NiJ9'.repeat(250), text.replaceAll(/\s+/g, ' ')]) {
      await input.fill('rotate');
      await page.getByRole('option').first().waitFor();
      await input.fill(pasted);
      await input.fill('allowlist', { timeout: 5000 }); // waits until the page responds
      await page.getByRole('option').first().getByText('allowlist').first().waitFor({ timeout: 5000 });
    }
  });

  it('shows and copies code in one language, the same on every page', async () => {
    const page = await dashboard.open('/docs/receiving');
    const tab = (name: string) => page.getByRole('tab', { name, exact: true }).first();
    for (const [from, key, to] of [
      ['JavaScript', 'ArrowLeft', 'Ruby'],
      ['Ruby', 'ArrowRight', 'JavaScript'],
      ['JavaScript', 'ArrowRight', 'Python'],
    ] as const) {
      await tab(from).press(key);
      expect(await tab(to).getAttribute('aria-selected')).toBe('true');
    }
    await tab('Go').click();
    await expect.poll(() => page.getByText('hmac.Equal').isVisible()).toBe(true);
    expect(await page.getByText('hash_equals').isVisible()).toBe(false);
    const example = page.locator('figure', { hasText: 'hmac.Equal' });
    const code = await example.locator('code').textContent();
    await example.getByRole('button', { name: 'Copy' }).click();
    await example.getByText('Copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(code);
    await page.goto(`${service.stack.baseUrl}/docs/api-keys`);
    // Groups without the chosen language show their first one.
    const groups = await page.getByRole('tablist').count();
    expect(groups).toBeGreaterThan(1);
    expect(await page.getByRole('tabpanel').count()).toBe(groups); // hidden ones do not count
    expect(await page.locator('[role="tab"][tabindex="0"]').count()).toBe(groups);
    await tab('Python').click();
    await page.reload();
    expect(await tab('Python').getAttribute('aria-selected')).toBe('true');
  });
});

it.each([
  ['blocks cookies, which include its storage', 'localStorage', 'SecurityError'],
  ['has no more storage', 'setItem', 'QuotaExceededError'],
])('has tabs and a search in a browser that %s', async (_, failing, error) => {
  const page = await dashboard.open('/docs');
  await page.addInitScript(
    ([failing = '', error]) => {
      const fail = () => {
        throw new DOMException('Rejected', error);
      };
      const isCall = failing in Storage.prototype;
      Object.defineProperty(isCall ? Storage.prototype : window, failing, isCall ? { value: fail } : { get: fail });
    },
    [failing, error],
  );
  await page.goto(`${service.stack.baseUrl}/docs/receiving`);
  await page.getByRole('tab', { name: 'Go', exact: true }).first().click();
  await page.getByText('hmac.Equal').waitFor();
  await page.getByRole('combobox').fill('lease renews closes');
  await page.getByRole('option').first().waitFor();
});

describe('the API reference', () => {
  it('calls the API that serves it', async () => {
    const project = await service.project();
    const page = await openBelowStage('/docs/api-keys');
    const section = page.locator('#listKeys');
    await section.getByText('Try it').click();
    expect(await section.getByLabel('Key or token').getAttribute('type')).toBe('password');
    await section.getByLabel('Key or token').fill(project.adminKey);
    const requests: Route[] = [];
    await page.route(/\/live\/v1\/keys/, (route) => {
      requests.push(route);
    });
    await section.getByRole('button', { name: 'Send' }).click();
    await section.getByLabel('Key or token').press('Enter'); // before the response
    await expect.poll(() => requests.length).toBe(1);
    await requests[0]?.fallback();
    await section.getByText('First admin key').waitFor();
    expect(requests).toHaveLength(1);
    await page.unroute(/\/live\/v1\/keys/);
    const large = '12345678901234567890';
    const bodies = ['{', '', large]; // cut off, and empty with a type, as from API Gateway
    const fulfill = (route: Route) => route.fulfill({ contentType: 'application/json', body: bodies.shift() ?? '' });
    await page.route(/\/v1\/keys/, fulfill, { times: 3 });
    for (const text of ['No response', '200 OK', large, 'First admin key']) {
      await section.getByRole('button', { name: 'Send' }).click();
      await section.getByText(text).waitFor();
    }
    const created = page.locator('#createKey');
    await created.getByText('Try it').click();
    expect(await created.getByLabel('Key or token').inputValue()).toBe(project.adminKey);
    expect(await page.evaluate(() => localStorage.length)).toBe(0);
    for (let i = 0; i < 2; i++) await created.getByText('Try it').click(); // keeps the form
    expect(JSON.parse(await created.getByLabel('Body').inputValue())).toHaveProperty('type');
    await created.getByLabel('Body').fill('');
    await created.getByLabel('Body').press('/'); // elsewhere it opens the search
    expect(await created.getByLabel('Body').inputValue()).toBe('/');
    await created.getByLabel('Body').fill('{"type":"nothing"}');
    await created.getByLabel('Idempotency-Key').fill('create-1');
    const posted = page.waitForRequest((request) => request.method() === 'POST');
    await created.getByRole('button', { name: 'Send' }).click();
    expect((await posted).headers()['idempotency-key']).toBe('create-1');
    await created.getByRole('status').getByText('"code": "invalid_request"').waitFor();
  });

  it('has the key of the dashboard in the same tab, options for words, and no example ids', async () => {
    const project = await service.project();
    const page = await dashboard.signIn(project.adminKey);
    await page.goto(`${service.stack.baseUrl}/docs/api-keys`);
    const section = page.locator('#listKeys');
    await section.getByText('Try it').click();
    const environments = section.getByLabel('environment').locator('option');
    await expect.poll(() => environments.allTextContents()).toEqual(['', 'live', 'sandbox']);
    await section.getByRole('button', { name: 'Send' }).click();
    await section.getByText('First admin key').waitFor();
    const one = page.locator('#getKey');
    await one.getByText('Try it').click();
    expect(await one.getByLabel('key', { exact: true }).inputValue()).toBe('');
    await one.getByRole('button', { name: 'Send' }).click();
    expect(await one.getByRole('status').textContent()).toBe('');
    await one.getByLabel('key', { exact: true }).fill('a/b?c');
    await one.getByLabel('environment').selectOption('sandbox');
    const sent = page.waitForRequest(/\/v1\/keys\//);
    await one.getByRole('button', { name: 'Send' }).click();
    expect((await sent).url()).toMatch(/\/v1\/keys\/a%2Fb%3Fc\?environment=sandbox$/);
    await expect.poll(() => one.getByRole('status').textContent()).toMatch(/^4\d\d/);

    // A key that the reader enters has precedence.
    await section.getByLabel('Key or token').fill('svc_test_entered');
    await section.getByRole('button', { name: 'Send' }).click();
    await page.reload();
    await one.getByText('Try it').click();
    expect(await one.getByLabel('Key or token').inputValue()).toBe('svc_test_entered');
  });
});
