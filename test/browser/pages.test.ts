import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { useService } from '../support/service.ts';
import { signInWith, useDashboard } from './browser.ts';
import { distinctResponse, idOf, NOW } from './distinct.ts';

/*
 * What every page shows and sends, in files that Vitest compares (`--update` writes them). In a review of a change, read them:
 * each value has the name of its member.
 */

const dashboard = useDashboard(useService());

/** A place of each page, and of several statuses. */
const PLACES: readonly (readonly [name: string, place: string])[] = [
  ['overview', ''],
  ['events', '/events'],
  ['event-0', `/events/${idOf.event(0)}`],
  ['event-delivery', `/events/${idOf.event(0)}?delivery=${idOf.webhook(1)}`],
  ['webhooks', '/webhooks'],
  ['webhook-new', '/webhooks/new'],
  ...[0, 1, 2].map((index) => [`webhook-${index}`, `/webhooks/${idOf.webhook(index)}`] as const),
  ...[0, 1].map((index) => [`webhook-settings-${index}`, `/webhooks/${idOf.webhook(index)}/settings`] as const),
  ['delivery', `/webhooks/${idOf.webhook(0)}/deliveries/${idOf.event(0)}`],
  ['keys', '/keys'],
  ['key-new', '/keys/new'],
  ...[0, 1, 2, 3].map((index) => [`key-${index}`, `/keys/${idOf.key(index)}`] as const),
  ['tokens', '/tokens'],
  ['documents', '/documents'],
  ['document-new', '/documents?new=1'],
  ['document', `/documents/${idOf.document(0)}`],
  ['settings', '/settings'],
];

/** An event of each other type has the same buttons. */
const OTHERS = [1, 2, 3, 4, 5].map((index) => [`event-${index}`, `/events/${idOf.event(index)}`] as const);

/** Signs in to an imaginary service. */
async function openDashboard(place: string) {
  const requests = new Set<string>();
  let pending = 0;
  const page = await dashboard.open(`/dashboard#/live${place}`, { timezoneId: 'UTC', locale: 'en-GB' });
  await page.clock.setFixedTime(NOW);
  await page.route('**/v1/**', async (route) => {
    pending++;
    const request = route.request();
    const url = new URL(request.url());
    const body = request.postData();
    requests.add(`${request.method()} ${decodeURIComponent(url.pathname + url.search)}${body ? ` ${body}` : ''}`);
    const json = distinctResponse(request.method(), url);
    await route.fulfill(json ? { status: 200, json } : { status: 204 }).finally(() => pending--);
  });
  /** Waits until the page shows everything that it loads. Returns the requests since the last call. */
  const settled = async (): Promise<string[]> => {
    do await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    while (pending > 0 || (await page.locator('.skeleton').count()) > 0);
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    const sent = [...requests].sort();
    requests.clear();
    return sent;
  };
  await signInWith(page, `svc_admin_${'0'.repeat(50)}`);
  await page.locator('main').waitFor();
  await settled();
  const url = page.url();
  const reload = async (): Promise<string[]> => {
    await page.goto('about:blank');
    await page.goto(url);
    return settled();
  };
  return { page, settled, reload };
}

it.each(OTHERS)('%s', async (name, place) => {
  const { page, reload } = await openDashboard(place);
  const text = [...(await reload()), await shownIn(page.locator('main')), ''];
  await expect(text.join('\n')).toMatchFileSnapshot(`pages/${name}.yaml`);
});

it.each(PLACES)('%s', async (name, place) => {
  const { page, settled, reload } = await openDashboard(place);
  const dialogs = page.getByRole('dialog');
  const text = await reload();
  const isDrawer = (await dialogs.count()) > 0;
  const main = isDrawer ? dialogs : page.locator('main');
  const before = await shownIn(main);
  text.push(before);

  // Each button, what it changes, and the request of its form.
  const names = await main
    .getByRole('button')
    .evaluateAll((buttons) => buttons.map((each) => each.ariaLabel ?? each.textContent));
  for (const [i, button] of names.entries()) {
    if (names.findIndex((each) => withoutDigits(each) === withoutDigits(button)) !== i) continue;
    if (i > 0) await reload();
    await fill(main);
    await main.getByRole('button').nth(i).click();
    text.push('', `# ${button}`, ...(await settled()));
    if ((await dialogs.count()) <= Number(isDrawer)) {
      if (!(await main.isVisible())) continue;
      const known = new Set(before.split('\n'));
      text.push(...(await shownIn(main)).split('\n').filter((line) => !known.has(line)));
      continue;
    }
    const dialog = dialogs.last();
    text.push(await shownIn(dialog));
    const submit = dialog.locator('button[type=submit]');
    if ((await submit.count()) === 0) continue;
    await fill(dialog);
    await submit.click();
    text.push(...(await settled()));
    if ((await dialogs.count()) > Number(isDrawer)) text.push(await shownIn(dialog));
  }
  await expect([...text, ''].join('\n')).toMatchFileSnapshot(`pages/${name}.yaml`);
});

/** Fills the empty fields of forms. */
async function fill(within: Locator): Promise<void> {
  const fields = within.locator('form:not([role=search]) :is(input[type=text],input[type=url],textarea):visible');
  for (const field of await fields.all()) {
    if ((await field.inputValue()) !== '') continue;
    const label = await field.evaluate((element) => (element as HTMLInputElement).labels?.[0]?.textContent);
    await field.fill(`typed as ${label}`);
  }
}

/** What a page shows to assistive technology, without the names of rows, which repeat their cells. */
const shownIn = async (place: Locator) => (await place.ariaSnapshot()).replace(/- row ".*"/g, '- row');

const withoutDigits = (text: string | null) => text?.replace(/\d/g, '');
