import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { useService } from '../support/service.ts';
import { heading, signInWith, useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);
const kept = (page: Page) => page.evaluate(() => Object.values({ ...sessionStorage, ...localStorage }));
const signedOut = (page: Page) => heading(page, 'Sign in').waitFor();

describe('a second tab', () => {
  it('is signed in at the page that it opens, and keeps the key nowhere but in its session', async () => {
    const { adminKey } = await service.project();
    const first = await dashboard.signIn(adminKey);
    const second = await dashboard.openBeside(first, '/dashboard#/sandbox/keys');
    await heading(second, 'Keys').waitFor();
    await second.getByText('You are viewing test data').waitFor();
    expect(await kept(second)).toEqual([adminKey]);
    expect(await second.evaluate(() => document.cookie + location.href)).not.toContain(adminKey);
    await first.close();
    await second.reload();
    await heading(second, 'Keys').waitFor();
  });

  it('opened from a link is signed in as the tab with the link, whatever others are signed in as', async () => {
    const [one, other] = [await service.project('One'), await service.project('Other')];
    const first = await dashboard.signIn(one.adminKey);
    const second = await dashboard.openBeside(first, `/dashboard#key=${other.adminKey}`);
    await heading(second, 'Overview').waitFor();
    for (const [page, { adminKey }] of [
      [first, one],
      [second, other],
    ] as const) {
      const opened = page.context().waitForEvent('page');
      await page
        .getByRole('link', { name: 'Webhooks' })
        .first()
        .click({ modifiers: ['Control'] });
      await heading(await opened, 'Webhooks').waitFor();
      expect(await kept(await opened)).toEqual([adminKey]);
      expect(await kept(page)).toEqual([adminKey]); // a tab keeps its own
    }
  });

  it('is signed out with the first, and stays so', async () => {
    const { adminKey } = await service.project();
    const first = await dashboard.signIn(adminKey);
    const second = await dashboard.openBeside(first, '/dashboard#/live/keys');
    await heading(second, 'Keys').waitFor();
    await second.getByRole('button', { name: 'Sign out' }).click();
    for (const page of [first, second]) {
      await signedOut(page);
      await page.getByText('You are signed out.').waitFor();
      expect(await kept(page)).toEqual([]);
      await page.reload();
      await signedOut(page);
    }
  });

  it('gets nothing from a tab whose key did not sign in, and from another profile of the browser', async () => {
    const project = await service.project();
    const revoked = await project.key('admin');
    await project.admin('POST', `/v1/keys/${revoked}/revoke`);
    const first = await dashboard.open();
    await signInWith(first, revoked);
    await first.getByRole('alert').waitFor();
    await signedOut(await dashboard.openBeside(first, '/dashboard'));
    await dashboard.signIn(project.adminKey);
    await signedOut(await dashboard.openBeside(first, '/dashboard'));
    await signedOut(await dashboard.open());
  });

  it('with a key that was revoked meanwhile says so, and takes another one', async () => {
    const project = await service.project();
    const second = await project.key('admin');
    const first = await dashboard.signIn(second, '/live/tokens');
    await heading(first, 'Tokens').waitFor();
    await project.admin('POST', `/v1/keys/${second}/revoke`);
    const opened = await dashboard.openBeside(first, '/dashboard');
    await opened.getByText('this key was revoked or has expired').waitFor();
    await signInWith(opened, project.adminKey);
    await heading(opened, 'Overview').waitFor();
    expect(await kept(opened)).toEqual([project.adminKey]);
    expect(await kept(first)).toEqual([second]); // until it calls the service
    await first.getByRole('link', { name: 'Keys' }).click();
    await first.getByText('this key was revoked or has expired').waitFor();
    await heading(opened, 'Overview').waitFor(); // signed in as before
  });
});
