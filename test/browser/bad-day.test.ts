import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { changed } from '../support/changed.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, publish } from '../support/requests.ts';
import { eventually, useService } from '../support/service.ts';
import { badge, fact, useDashboard } from './browser.ts';

const service = useService({ speed: 20_000 });
const dashboard = useDashboard(service);

const KEY = 'org:acme:invoice-1207';

/** A project with five webhooks that failures disabled, and one that a person paused. They missed an event of a document. */
async function badDay() {
  const project = await service.project();
  const failing = await startReceiver((response) => response.writeHead(401).end());
  const names = ['CRM sync', 'Search index', 'Billing', 'Archive', 'Audit'];
  const webhooks = await Promise.all(
    names.map((description) => createWebhook(project.admin, failing.url, { description })),
  );
  const paused = await createWebhook(project.admin, failing.url, { description: 'Staging' });
  await project.admin('PATCH', `/v1/webhooks/${paused.id}`, { body: { status: 'disabled' } });
  await publish(project.admin, changed({ document_key: 'org:acme:plan' }));
  const isDisabled = async ({ id }: { id: string }) =>
    (await project.admin('GET', `/v1/webhooks/${id}`)).body.status === 'disabled';
  await eventually(async () => (await Promise.all(webhooks.map(isDisabled))).every(Boolean));
  const { body: event } = await publish(project.admin, changed({ document_key: KEY }));
  const deliveries = async () => (await project.admin('GET', `/v1/events/${event.id}/deliveries`)).body.data;
  await eventually(async () => (await deliveries()).every(({ status }: { status: string }) => status === 'skipped'));
  return { ...project, failing, event, deliveries };
}

const dialog = (page: Page) => page.locator('dialog:not(.drawer, .finder)');
const drawer = (page: Page) => page.locator('dialog.drawer');

describe('a document of yesterday that no webhook received', () => {
  it('leads from its name to the cause in three steps, from there to the repair, and to the result', async () => {
    const { adminKey, failing, deliveries } = await badDay();
    const page = await dashboard.signIn(adminKey);

    // 1. Its name, although it is not the whole key.
    await page.keyboard.press('/');
    await page.keyboard.type('invoice-1207');
    await page.getByRole('option', { name: `Events of ${KEY}` }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.badge.waiting', { hasText: '0 delivered, 5 missed' }).waitFor();
    // 2. The event: each webhook with its reason. Only the pause is as intended.
    await page.getByRole('link', { name: 'document.changed' }).click();
    const row = page.getByRole('row', { name: 'Billing' });
    await row.getByText('webhook disabled').waitFor();
    expect(await page.locator('.badge.waiting').allTextContents()).toEqual(Array(5).fill('skipped'));
    expect(await page.getByRole('row', { name: 'Staging' }).locator('.badge.off').textContent()).toBe('skipped');
    // 3. The delivery, with one cause.
    await row.getByText('webhook disabled').click();
    const facts = drawer(page).locator('.facts dt');
    await expect.poll(() => facts.first().textContent()).toBe('Webhook');
    const { webhook_id } = (await deliveries()).find(({ reason }: { reason: string }) => reason === 'disabled');
    expect(webhook_id).toMatch(/^whk_/);
    await drawer(page).getByRole('link', { name: 'Billing' }).waitFor();
    expect(await fact(page, 'Status').last().textContent()).toBe(
      'skipped No attempt was made because all six attempts of a delivery had failed, which disabled the webhook.',
    );
    await drawer(page).getByText('No attempt was made.', { exact: true }).waitFor();

    // The endpoint still fails. The dialog says so before and after.
    await drawer(page).getByRole('link', { name: 'Enable and recover' }).click();
    await dialog(page).getByText('The endpoint fails now. A test event returned HTTP 401.').waitFor();
    expect(await dialog(page).getByLabel('Since').isVisible()).toBe(false);
    await dialog(page).getByText('Choose a period or event types').click();
    await dialog(page).getByLabel('All event types').uncheck();
    await dialog(page).getByText('Choose at least one event type.').waitFor();
    await dialog(page).getByLabel('sync.completed').check();
    await dialog(page).getByText('There is nothing to send again.').waitFor();
    await dialog(page).getByLabel('All event types').check();
    await dialog(page).getByText('2 deliveries will be sent again.').waitFor();
    await dialog(page).getByRole('button', { name: 'Enable and recover anyway' }).click();
    await dialog(page).locator('.badge.bad', { hasText: '2 sent: 0 delivered, 2 failed' }).waitFor();
    await dialog(page).getByText('The endpoint returned HTTP 401.').waitFor();
    await dialog(page).getByText('The recovery ended on').waitFor();
    await dialog(page).getByRole('link', { name: 'View the failed deliveries' }).click();
    await expect.poll(() => page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr').count()).toBe(3); // with the test event

    expect(await fact(page, 'Undelivered now').locator('.badge.waiting').textContent()).toBe('2');

    // Repaired, it is delivered.
    failing.behave(200);
    await page.getByRole('button', { name: 'Enable and recover' }).click();
    await dialog(page).getByText('The endpoint accepts events now.').waitFor();
    await dialog(page).getByRole('button', { name: 'Enable and recover' }).click();
    await dialog(page).locator('.badge.good', { hasText: '2 sent: 2 delivered, 0 failed' }).waitFor();
    await dialog(page).getByRole('button', { name: 'Done' }).click();
    await page.getByLabel('Status').selectOption('');
    await expect.poll(() => page.locator('.badge.good', { hasText: 'succeeded' }).count()).toBe(3);
    await page.getByText(/Last recovery, .*: 2 sent: 2 delivered, 0 failed\./).waitFor();
    await expect.poll(() => fact(page, 'Undelivered now').textContent()).toBe('0 deliveries');
    expect(await badge(page)).toBe('enabled'); // although most attempts of the day failed
    await page.getByRole('link', { name: 'Overview' }).click();
    // The other four webhooks, without what the paused one has chosen to miss.
    await expect.poll(() => fact(page, 'Undelivered now').textContent()).toBe('8 deliveries, 2 while paused');
    expect(await page.locator('.attention').getByText('Billing').count()).toBe(0);
    expect(await page.locator('.attention .badge').allTextContents()).toEqual(Array(4).fill('disabled'));
  });
});
