import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, deliveryOf, publish } from '../support/requests.ts';
import { eventually, useService } from '../support/service.ts';
import { heading, useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);
const drawer = (page: Page) => page.getByRole('dialog');
const closed = (page: Page) => drawer(page).waitFor({ state: 'detached' });
const rows = (page: Page) => page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
const shown = async (page: Page) =>
  page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('delivery'));
/** Waits for the drawer to render an event, which happens after the change of the URL. */
const showing = (page: Page, event = '') =>
  drawer(page).locator(`[aria-label="Open page"][href*="${event}"]`).waitFor();
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('title') ?? document.activeElement?.textContent);

/** A webhook with three deliveries, newest first. */
async function threeDeliveries() {
  const project = await service.project();
  const receiver = await startReceiver();
  const { id } = await createWebhook(project.admin, receiver.url);
  const deliver = async (): Promise<string> => {
    const { body } = await publish(project.admin);
    await eventually(() => deliveryOf(project.admin, id, body.id));
    return body.id;
  };
  const [oldest, middle, newest] = [await deliver(), await deliver(), await deliver()];
  return { project, id, events: [newest, middle, oldest] as const };
}

describe('a row of the delivery log', () => {
  it('opens the delivery next to the list, and is part of the URL, so that reload keeps it, Back closes it, and a link opens it', async () => {
    const { project, id, events } = await threeDeliveries();
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}?type=document.changed`);
    await rows(page).nth(1).getByText('HTTP 200').click();
    await drawer(page).getByRole('heading', { name: 'document.changed' }).waitFor();
    expect(await rows(page).count()).toBe(3); // the filtered list
    expect(await shown(page)).toBe(events[1]);
    expect(await page.locator('tbody [aria-current] th a').getAttribute('title')).toBe(events[1]);
    await page.reload();
    await drawer(page).getByText(events[1]).first().waitFor();
    await page.goBack();
    await closed(page);
    expect(page.url()).toMatch(/\?type=document\.changed$/);
    await page.goForward();
    await drawer(page).waitFor();

    const other = await dashboard.openBeside(page, `/dashboard#/live/webhooks/${id}?delivery=${events[2]}`);
    await drawer(other).getByText(events[2]).first().waitFor();
    await rows(other).nth(2).waitFor();
    await drawer(other).getByRole('button', { name: 'Close' }).click();
    await closed(other);
    await expect.poll(() => shown(other)).toBe(null);
    await expect.poll(() => focused(other)).toBe(events[2]);
  });

  it('links to its page, which links back to the list', async () => {
    const { project, id } = await threeDeliveries();
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`);
    await rows(page).first().locator('th a').click();
    await drawer(page).waitFor();
    expect(await page.locator('main .panel h2').first().textContent()).toBe('Health'); // as without the drawer
    await drawer(page).getByRole('link', { name: 'Open page' }).click();
    await heading(page, 'document.changed').waitFor();
    await page.getByRole('button', { name: 'Redeliver' }).click();
    await page.getByText('Redelivery queued.').waitFor();
    await page.route('**/redeliver?*', (route) => route.fulfill({ status: 503, body: '' }));
    await page.getByRole('button', { name: 'Redeliver' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByText('Redelivery queued.').count()).toBe(0);
    await heading(page, 'document.changed').waitFor(); // and stays there
    await page.goBack();
    await drawer(page).getByText('Your endpoint accepted the event.').waitFor();
    await page.keyboard.press('Escape');
    await closed(page);
    expect(await shown(page)).toBe(null);
  });

  it('opens and closes by keyboard, and restores the focus', async () => {
    const { project, id, events } = await threeDeliveries();
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`);
    await rows(page).first().locator('th a').focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toBe('document.changed');
    for (const [key, event] of [
      ['j', events[1]],
      ['j', events[2]],
      ['j', events[2]], // the last one
      ['k', events[1]],
      ['Control+k', events[1]], // shortcuts of the browser
      ['Alt+k', events[1]],
      ['Meta+k', events[1]],
      ['ArrowDown', events[1]], // scrolls
      ['ArrowUp', events[1]],
    ] as const) {
      await page.keyboard.press(key);
      await showing(page, event);
    }
    await drawer(page).getByText(events[1]).first().waitFor();
    expect(await shown(page)).toBe(events[1]);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await drawer(page).evaluate((each) => getComputedStyle(each).animationDuration)).toBe('0s');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await closed(page);
    await expect.poll(() => focused(page)).toBe(events[1]);
    expect(new URL(page.url()).hash).toBe(`#/live/webhooks/${id}`); // one step back, not two
    await page.goForward(); // closing left no entry of its own
    await drawer(page).waitFor();
    await page.keyboard.press('Escape');
    await closed(page);
    await rows(page).first().locator('th a').press('Enter');
    await drawer(page).getByRole('button', { name: 'Previous' }).press('Enter');
    expect(await shown(page)).toBe(events[0]); // the first one
    await drawer(page).getByRole('button', { name: 'Next' }).press('Enter');
    await expect.poll(() => shown(page)).toBe(events[1]);
    await page.mouse.click(20, 400); // outside the drawer
    await closed(page);
  });

  it('opens its page in a new tab with Ctrl or the middle button, except on controls and selected text', async () => {
    const { project, id } = await threeDeliveries();
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}`);
    for (const click of [{ modifiers: ['Control' as const] }, { button: 'middle' as const }]) {
      const opened = page.context().waitForEvent('page');
      await rows(page).first().locator('th a').click(click);
      const tab = await opened;
      await heading(tab, 'document.changed').waitFor();
      expect(await drawer(page).count()).toBe(0);
    }
    await page.getByLabel('Select document.changed').first().check();
    await page.getByText('1 selected').waitFor();
    const outcome = rows(page).first().getByText('HTTP 200');
    for (const key of ['metaKey', 'shiftKey', 'altKey']) await outcome.dispatchEvent('click', { [key]: true });
    await outcome.selectText();
    await outcome.dispatchEvent('click');
    expect(await shown(page)).toBe(null);
    await rows(page).first().locator('td a').click();
    await page.waitForURL(/events\?document_key=/);
  });

  it('shows a message when the delivery in the URL does not exist', async () => {
    const { project, id } = await threeDeliveries();
    const hostile = encodeURIComponent('"><img src=x onerror=alert(1)>');
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}?delivery=${hostile}`);
    await drawer(page).getByRole('alert').waitFor();
    await drawer(page).getByRole('button', { name: 'Close' }).click();
    await closed(page);
    await expect.poll(() => rows(page).count()).toBe(3);
  });
});

describe('a delivery of an event', () => {
  it('opens next to the event, one for each webhook', async () => {
    const { project, id } = await threeDeliveries();
    const failing = await startReceiver(500);
    const { id: otherId } = await createWebhook(project.admin, failing.url);
    const { body: event } = await publish(project.admin);
    for (const each of [id, otherId]) await eventually(() => deliveryOf(project.admin, each, event.id));
    const page = await dashboard.signIn(project.adminKey, `/live/events/${event.id}`);
    await rows(page).filter({ hasText: 'succeeded' }).locator('th a').click();
    await drawer(page).getByText('Your endpoint accepted the event.').waitFor();
    expect(await drawer(page).getByRole('heading', { name: 'Schedule' }).count()).toBe(0);
    expect(await shown(page)).toBe(id);
    const neighbor = drawer(page).getByRole('button', { name: /^(Previous|Next)/, disabled: false });
    await neighbor.click();
    await drawer(page).getByText('Your endpoint failed.').waitFor();
    expect(await shown(page)).toBe(otherId);
    await page.route(`**/deliveries/${event.id}*`, (route) => route.fulfill({ status: 503, body: '' }), { times: 1 });
    await drawer(page).getByRole('alert').waitFor();
    await drawer(page).getByRole('alert').waitFor({ state: 'detached' });
    await drawer(page).getByRole('button', { name: 'Redeliver' }).click();
    await failing.until(2);
    await neighbor.click();
    await drawer(page).getByText('Your endpoint accepted the event.').waitFor();
    await page.keyboard.press('Escape');
    await closed(page);
    await heading(page, 'document.changed').waitFor();
  });
});
