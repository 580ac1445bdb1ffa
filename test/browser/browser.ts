import { existsSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { afterEach, beforeAll, expect } from 'vitest';
import type { Service } from '../support/service.ts';

const HEADLESS = '/usr/bin/chromium-headless-shell'; // needs a fifth of the CPU time for a new profile
export const CHROMIUM = process.env.CHROMIUM ?? (existsSync(HEADLESS) ? HEADLESS : '/usr/bin/chromium');

export interface Dashboard {
  /** Opens a page without signing in. */
  open(path?: string, options?: BrowserContextOptions): Promise<Page>;
  /** Opens another tab in the same browser profile, like a link. */
  openBeside(page: Page, path: string): Promise<Page>;
  /** Signs in and opens a page at a place such as `/live/keys`. */
  signIn(key: string, place?: string, options?: BrowserContextOptions): Promise<Page>;
}

let browser: Browser | undefined;

/** Starts Chromium once per worker, and again if it has crashed. It ends with the process of the worker. */
export async function startBrowser(): Promise<Browser> {
  if (!browser?.isConnected()) browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  return browser;
}

/**
 * A browser for the tests of a file. Fails a test in which a page throws, sends a request to anything but the service, opens a
 * browser dialog, or logs an error, such as a violation of its Content-Security-Policy.
 */
export function useDashboard(service: Service): Dashboard {
  let browser: Browser;
  const pages: Page[] = [];
  const errors: string[] = [];
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterEach(async () => {
    const opened = pages.splice(0);
    await Promise.all(opened.map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
    const contexts = new Set(opened.map((page) => page.context()));
    await Promise.all([...contexts].map((context) => context.close()));
    expect(errors.splice(0)).toEqual([]);
  });

  const open = async (path = '/dashboard', options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    return openIn(context, path);
  };
  const openIn = async (context: BrowserContext, path: string): Promise<Page> => {
    const page = await context.newPage();
    pages.push(page);
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => errors.push(`threw ${error.stack}`));
    page.on('dialog', (dialog) => {
      errors.push(`opened ${dialog.type()}: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      // Chromium logs every 4xx, which the page handles.
      const isStatus = message.text().startsWith('Failed to load resource: the server responded with a status');
      if (message.type() === 'error' && !isStatus) errors.push(message.text());
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(service.stack.baseUrl) && !url.startsWith('data:')) errors.push(`requested ${url}`);
    });
    await page.goto(service.stack.baseUrl + path);
    return page;
  };

  return {
    open,
    openBeside: (page, path) => openIn(page.context(), path),
    async signIn(key, place = '/live', options) {
      const page = await open(`/dashboard#${place}`, options);
      await signInWith(page, key);
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      return page;
    },
  };
}

export async function signInWith(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Makes a tab look as if it was last used 31 minutes ago. */
export const makeIdle = (page: Page) =>
  page.evaluate(() => sessionStorage.setItem('used-at', String(Date.now() - 31 * 60_000)));

/** Returns the secret in a dialog, read with its copy button. */
export async function copyShown(page: Page): Promise<string> {
  await page.mouse.click(1, 1); // outside the dialog, which stays open
  await page.getByRole('dialog').getByRole('button', { name: /^Copy/ }).first().click();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  await page.getByRole('button', { name: 'Done' }).click();
  return text;
}

export const hasFocus = (element: Locator) => element.evaluate((each) => each === document.activeElement);

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });

/** The value of a fact such as "Status" on the page. */
export const fact = (page: Page, name: string) =>
  page.locator('.facts > div, .stats > div', { has: page.getByText(name, { exact: true }) }).locator('dd');

/** The status in the health of a webhook, or of a delivery on its page. */
export const badge = (page: Page) => fact(page, 'Status').locator('.badge').textContent();
