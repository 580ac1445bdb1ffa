import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { useService } from '../support/service.ts';
import { heading, makeIdle, useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);
const DOCS = '/docs/api-keys';
const goTo = (page: Page, path: string) => page.goto(service.stack.baseUrl + path);

/** Everything that the browser stores for the pages of this origin in a tab. */
const storedIn = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage, cookie: document.cookie }));

/** Opens the form of an operation in the reference. */
async function tryIt(page: Page) {
  await page.locator('#listKeys').getByText('Try it').click();
  return page.locator('#listKeys').getByLabel('Key or token');
}

/** A tab on a page of the documentation that stores the key of the dashboard and another one from a form. */
async function tabWithBothKeys(): Promise<{ page: Page; keys: [ofDashboard: string, ofDocs: string] }> {
  const project = await service.project();
  const entered = await project.key('admin');
  const page = await dashboard.signIn(project.adminKey);
  await goTo(page, DOCS);
  const input = await tryIt(page);
  expect(await input.inputValue()).toBe(project.adminKey);
  await input.fill(entered);
  await input.press('Enter');
  await page.locator('#listKeys').getByText('First admin key').waitFor();
  const keys: [string, string] = [project.adminKey, entered];
  for (const key of keys) expect(await storedIn(page)).toContain(key);
  return { page, keys };
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await heading(page, 'Sign in').waitFor();
}

async function signOutInAnotherTab(page: Page): Promise<void> {
  const beside = await dashboard.openBeside(page, '/dashboard'); // takes the key of the first tab
  await signOut(beside);
  expect(await storedIn(beside)).not.toContain('svc_');
}

describe('no key is stored or shown', () => {
  it.each<[string, (page: Page) => Promise<unknown>]>([
    [
      'after signing out in the same tab',
      async (page) => {
        await goTo(page, '/dashboard');
        await signOut(page);
      },
    ],
    ['after signing out in another tab', signOutInAnotherTab],
    [
      'after signing out in another tab while this tab shows another site',
      async (page) => {
        const beside = await dashboard.openBeside(page, '/dashboard');
        await page.goto('about:blank');
        await signOut(beside);
        await goTo(page, DOCS);
      },
    ],
    [
      'after 30 minutes without use of an open page',
      async (page) => {
        await page.clock.install();
        await page.reload();
        await tryIt(page);
        await page.clock.fastForward('29:00');
        await page.keyboard.press('Shift');
        await page.clock.fastForward('29:00');
        expect(await storedIn(page)).toContain('svc_');
        await page.clock.fastForward('02:00');
      },
    ],
    [
      'at the first use after the machine was asleep',
      async (page) => {
        await makeIdle(page);
        await page.keyboard.press('Shift');
      },
    ],
    [
      'in a tab of the documentation that the browser restores later',
      async (page) => {
        await makeIdle(page);
        await page.reload();
      },
    ],
    [
      'in a tab of the dashboard that the browser restores later',
      async (page) => {
        await makeIdle(page);
        await goTo(page, '/dashboard');
        await heading(page, 'Sign in').waitFor();
      },
    ],
  ])('%s', async (_, end) => {
    const { page } = await tabWithBothKeys();
    await end(page);
    await expect.poll(() => storedIn(page)).not.toContain('svc_');
    expect(await page.locator('form').filter({ hasText: 'Key or token' }).count()).toBe(0);
    await goTo(page, DOCS);
    expect(await (await tryIt(page)).inputValue()).toBe('');
    await goTo(page, '/dashboard');
    await heading(page, 'Sign in').waitFor();
    expect(await storedIn(page)).not.toContain('svc_');
  });
});

it('a sign-out with a wrong clock ends no later session', async () => {
  const { adminKey } = await service.project();
  const page = await dashboard.signIn(adminKey);
  const inAnHour = String(Date.now() + 3_600_000);
  await page.evaluate((at) => localStorage.setItem('signed-out-at ', at), inAnHour);
  await page.reload();
  await heading(page, 'Overview').waitFor();
});
