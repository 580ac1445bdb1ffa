import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { changed } from '../support/changed.ts';
import { openLink, put } from '../support/documents.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, deliveryOf, publish } from '../support/requests.ts';
import { eventually, type Project, useService } from '../support/service.ts';
import { heading, useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);
let project: Project;
/** Every page behind the sign-in, by name. */
let places: Record<string, string>;

beforeAll(async () => {
  project = await service.project();
  const failing = await startReceiver((response) => response.writeHead(500).end('Out of order'));
  const working = await startReceiver();
  const { id } = await createWebhook(project.admin, failing.url, { description: 'Search index' });
  await createWebhook(project.admin, `${working.url}/${'long-path/'.repeat(12)}`);
  const { body: key } = await project.admin('POST', '/v1/keys', { body: { type: 'live', name: 'App' } });
  await project.admin('POST', `/v1/keys/${key.id}/allowlist`, { body: { cidrs: ['203.0.113.0/24', '2001:db8::/32'] } });
  await project.admin('POST', `/v1/keys/${key.id}/rotate`);
  await put(project.admin, `org:acme:${'segment-'.repeat(7)}:doc`, { title: 'Draft', words: 12, none: [null, true] });
  const { body: event } = await publish(project.admin, changed());
  await eventually(() => deliveryOf(project.admin, id, event.id));
  places = {
    overview: '/live',
    events: '/live/events',
    'undelivered events': '/live/events?status=retrying',
    'an event': `/live/events/${event.id}`,
    settings: '/live/settings',
    keys: '/live/keys',
    'generate key': '/live/keys/new',
    'a key': `/live/keys/${key.id}`,
    webhooks: '/live/webhooks',
    'create webhook': '/live/webhooks/new',
    'a webhook': `/live/webhooks/${id}`,
    'a delivery in a drawer': `/live/webhooks/${id}?delivery=${event.id}`,
    'settings of a webhook': `/live/webhooks/${id}/settings`,
    'a delivery': `/live/webhooks/${id}/deliveries/${event.id}`,
    tokens: '/live/tokens',
    links: '/live/links',
    documents: '/live/documents',
    'create document': '/live/documents?new=yes',
    'a document': `/live/documents/${encodeURIComponent(`org:acme:${'segment-'.repeat(7)}:doc`)}`,
    'an empty sandbox': '/sandbox/webhooks',
    'no page': '/live/nowhere',
  };
});

const DESKTOP = { width: 1200, height: 900 };
const PHONE = { width: 400, height: 800 };

/** What axe-core need not collect: passed rules, and the selectors of elements. */
const ONLY_VIOLATIONS: axe.RunOptions = { resultTypes: ['violations'], selectors: false };

/** Returns the violations that axe-core finds, one per line. The default rules are WCAG 2.2 A and AA, and best practices. */
async function violations(page: Page, options: axe.RunOptions = {}): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate((given) => (window as unknown as { axe: typeof axe }).axe.run(given), {
    ...options,
    ...ONLY_VIOLATIONS,
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** The rules that depend on the theme. The light theme is checked with all rules. */
const OF_THEME: axe.RunOptions = { runOnly: ['color-contrast', 'link-in-text-block'] };

async function violationsInThemes(page: Page): Promise<string[]> {
  const inLight = await violations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const inDark = await violations(page, OF_THEME);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...inLight, ...inDark];
}

const settledAt = async (page: Page): Promise<void> => {
  await expect.poll(() => page.getByText('Loading…').count()).toBe(0);
  await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => {}));
};

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

/** Returns what is wrong with a page: violations in both themes, and at the width of a phone. */
async function findingsOn(page: Page): Promise<string[]> {
  const inThemes = await violationsInThemes(page);
  await page.setViewportSize(PHONE);
  const onPhone = (await overflow(page)) ? ['too wide'] : await violations(page);
  await page.setViewportSize(DESKTOP);
  return [...inThemes, ...onPhone];
}

describe('every page', () => {
  it('fits a phone of 400 pixels, and has nothing that axe-core finds wrong, in both themes', async () => {
    expect.soft(await findingsOn(await dashboard.open())).toEqual([]);
    expect.soft(await findingsOn(await dashboard.open('/dashboard#/live/confirm-email/none'))).toEqual([]);
    expect.soft(await findingsOn(await dashboard.open('/dashboard#session=x'))).toEqual([]);
    const viewer = await dashboard.open(`/dashboard#session=${await openLink(project.admin, { role: 'viewer' })}`);
    for (const place of ['/live', places['settings of a webhook'], '/live/keys']) {
      await viewer.goto(`${service.stack.baseUrl}/dashboard#${place}`);
      await settledAt(viewer);
      expect.soft(await findingsOn(viewer), `${place} with a link`).toEqual([]);
    }
    const page = await dashboard.signIn(project.adminKey);
    for (const [name, place] of Object.entries(places)) {
      await page.goto(`${service.stack.baseUrl}/dashboard#${place}`);
      await settledAt(page);
      expect.soft(await findingsOn(page), name).toEqual([]);
    }
  });

  it('sets the document title, moves the focus to its heading, and marks the links that lead to it', async () => {
    const page = await dashboard.signIn(project.adminKey, '/live/keys');
    await page.getByRole('button', { name: 'Skip to content' }).press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
    await page.setViewportSize({ width: 1200, height: 200 });
    await page.evaluate(() => scrollTo(0, 9999));
    await page.getByRole('link', { name: 'Webhooks' }).dispatchEvent('click');
    await expect.poll(() => page.title()).toBe('Webhooks · Dashboard');
    expect(await page.evaluate(() => scrollY)).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Webhooks');
    const marked = () => page.locator('[aria-current]').allTextContents();
    expect(await marked()).toEqual(['Live', 'Webhooks']);
    await page.getByRole('link', { name: 'Search index' }).click();
    await expect.poll(marked).toEqual(['Live', 'Webhooks', 'Deliveries']);
  });

  it('has a title and a heading when its resource does not exist', async () => {
    const page = await dashboard.signIn(project.adminKey, '/live/keys');
    for (const place of [
      'webhooks/whk_none',
      'keys/key_none',
      'events/evt_none',
      'webhooks/whk_none/deliveries/evt_none',
    ]) {
      await page.goto(`${service.stack.baseUrl}/dashboard#/live`);
      await heading(page, 'Overview').waitFor();
      await page.goto(`${service.stack.baseUrl}/dashboard#/live/${place}`);
      await heading(page, 'Not found').waitFor();
      await page.getByText('exists in this project and environment. It may have been deleted.').waitFor();
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
      expect(await page.title()).toBe('Not found · Dashboard');
    }
  });

  it('has an icon for each section and status that does not change their accessible names', async () => {
    const page = await dashboard.signIn(project.adminKey, '/live/webhooks');
    const links = page.getByRole('navigation', { name: 'Sections' }).getByRole('link');
    const names = ['Overview', 'Events', 'Webhooks', 'Keys', 'Tokens', 'Documents', 'Links', 'Settings', 'Docs'];
    expect(await links.allTextContents()).toEqual(names);
    await page.locator('.badge').first().waitFor();
    for (const each of [...(await links.all()), ...(await page.locator('.badge').all())]) {
      expect(await each.locator('svg[aria-hidden="true"] path').count()).toBe(1);
      expect((await each.locator('svg').boundingBox())?.width).toBeGreaterThan(8);
    }
  });
});

describe('the documentation', () => {
  const pages = ['', '/receiving', '/sync', '/conventions', '/errors', '/api-keys'].map((name) => `/docs${name}`);

  it('has nothing that axe-core finds wrong, in both themes', async () => {
    for (const path of pages) {
      const page = await dashboard.open(path);
      for (const details of await page.locator('main details:visible').all()) {
        if ((await details.getAttribute('open')) === null) await details.locator('summary').first().click();
      }
      expect(await violationsInThemes(page), path).toEqual([]);
    }
  });

  it('fits a phone of 400 pixels', async () => {
    for (const path of pages) {
      const page = await dashboard.open(path, { viewport: PHONE });
      expect(await overflow(page), path).toBe(false);
      await page.getByText('Contents', { exact: true }).click();
      await page.getByRole('link', { name: 'Quickstart' }).first().waitFor();
    }
  });
});

describe('the dialogs', () => {
  it('have no violations in axe-core', async () => {
    const dialogs = [
      ['a webhook', 'Send test event'],
      ['a webhook', 'Recover'],
      ['settings of a webhook', 'Rotate secret'],
      ['settings of a webhook', 'Delete'],
      ['a key', 'Rename'],
      ['a document', 'Delete'],
      ['a document', 'Go to'],
    ] as const;
    const page = await dashboard.signIn(project.adminKey);
    for (const [place, name] of dialogs) {
      await page.goto(`${service.stack.baseUrl}/dashboard#${places[place]}`);
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('dialog').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.goto(`${service.stack.baseUrl}/dashboard#${places['settings of a webhook']}`);
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByText('Copy it now.').waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

describe('the keyboard', () => {
  it('can create a webhook', async () => {
    const receiver = await startReceiver();
    const page = await dashboard.open('/dashboard');
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () => page.evaluate(() => document.activeElement?.textContent || document.activeElement?.id);
    const tabTo = async (text: string) => {
      for (let i = 0; i < 40 && (await focused()) !== text; i++) await press('Tab');
      expect(await focused()).toBe(text);
    };
    await expect
      .poll(() => page.getByLabel('API key').evaluate((input) => input === document.activeElement))
      .toBe(true);
    await page.keyboard.type(project.adminKey);
    await press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await tabTo('Webhooks');
    await press('Enter');
    await expect.poll(() => page.title()).toBe('Webhooks · Dashboard');
    await tabTo('Create Webhook');
    await press('Enter');
    await expect.poll(() => page.title()).toBe('Create Webhook · Dashboard');
    await press('Tab');
    await page.keyboard.type(receiver.url);
    await press('Tab', 'Space');
    await press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo('Done');
    await press('Enter');
    await page.getByRole('heading', { name: receiver.url }).waitFor();
  });
});
