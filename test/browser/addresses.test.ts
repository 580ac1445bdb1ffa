import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { eventually, type Project, useService } from '../support/service.ts';
import { heading, useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);

const unconfirmedOf = async ({ admin }: Project) => (await admin('GET', '/v1/project')).body.unconfirmed_emails;
const newAddress = () => `${crypto.randomUUID()}@example.com`;

/** The link in the email that asks the owner of an address, as a path of the service. */
async function linkTo(address: string): Promise<string> {
  const { mailUrl, baseUrl } = service.stack;
  const text = await eventually(async () => {
    const emails: { to: string; text: string }[] = await (await fetch(mailUrl)).json();
    return emails.find(({ to }) => to === address)?.text;
  });
  const [link = ''] = /http\S+confirm-email\S+/.exec(text) ?? [];
  expect(link.startsWith(baseUrl)).toBe(true);
  return link.slice(baseUrl.length);
}

async function saveEmails(page: Page, ...emails: string[]): Promise<void> {
  await page.getByLabel('Email addresses').fill(emails.join(', '));
  await page.getByRole('button', { name: 'Save' }).click();
}

describe('a new notification address', () => {
  it('is shown until its owner, who has no key, confirms it with a button', async () => {
    const project = await service.project();
    const address = newAddress();
    const page = await dashboard.signIn(project.adminKey, '/live/settings');
    await saveEmails(page, project.email, address);
    await page.getByText(`${address} receives no notifications until its owner confirms it`).waitFor();
    await page.getByRole('button', { name: `Send the link to ${address} again` }).click();
    await page.getByText('An address receives one link per day.').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('its owner has not confirmed it').waitFor();

    const link = await linkTo(address);
    const ofOwner = await dashboard.open(link);
    await heading(ofOwner, 'Confirm your email address').waitFor();
    await ofOwner.reload(); // a scanner of a mail gateway opens the link too
    await ofOwner.waitForLoadState('networkidle');
    expect(await unconfirmedOf(project)).toMatchObject([{ email: address }]);
    for (const _ of ['first', 'again']) {
      await ofOwner.getByRole('button', { name: 'Confirm address' }).click();
      await ofOwner.getByText(`${address} is confirmed.`).waitFor();
      expect(await unconfirmedOf(project)).toEqual([]);
      await ofOwner.reload();
    }
    expect(await ofOwner.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain('svc_');

    await page.goto(`${service.stack.baseUrl}/dashboard#/live/settings?target=${project.id}`);
    await page.getByText('the owner of the email address').waitFor();
    expect(await page.getByText('receives no notifications').count()).toBe(0);
  });

  it('is reported as a problem of the project if no other address works', async () => {
    const project = await service.project();
    const page = await dashboard.signIn(project.adminKey, '/live/settings');
    await saveEmails(page, newAddress());
    await page.getByText('No address of this project receives notifications').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('no address receives notifications').waitFor();
  });
});

it('a link that is not valid says what to do, also in a tab that is signed in', async () => {
  const { adminKey } = await service.project();
  const page = await dashboard.signIn(adminKey);
  await page.goto(`${service.stack.baseUrl}/dashboard#/live/confirm-email/none`);
  await page.getByRole('button', { name: 'Confirm address' }).click();
  await page.getByText('Request a new link in the settings of the dashboard.').waitFor();
  await page.goto(`${service.stack.baseUrl}/dashboard#/live`);
  await heading(page, 'Overview').waitFor();
});
