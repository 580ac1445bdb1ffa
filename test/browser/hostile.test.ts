import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { printable, visible } from '../../lib/printable.ts';
import { CHARACTERS } from '../support/adversarial.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, publishAll, settled } from '../support/requests.ts';
import { FAST_DELAYS, useService } from '../support/service.ts';
import { heading, useDashboard } from './browser.ts';

const service = useService(FAST_DELAYS);
const dashboard = useDashboard(service);

/** Sets `pwned` if any part of the text becomes markup, a URL or a script. */
const HOSTILE = `"'></code></pre><script>window.pwned=1</script><img src=x onerror="window.pwned=1">{{7*7}}javascript:window.pwned=1`;
const MARKER = 'This is text';
const RIGHT_TO_LEFT = '\u202egnp.exe';

async function expectText(page: Page, text = HOSTILE): Promise<void> {
  await page.getByText(text).first().waitFor();
  expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
  expect(await page.locator('main script, main img, main iframe, main [onerror]').count()).toBe(0);
}

describe('untrusted text', () => {
  it('stays text in the name of a key, and in the description and URL of a webhook', async () => {
    const project = await service.project();
    const { body: key } = await project.admin('POST', '/v1/keys', {
      body: { type: 'live', name: HOSTILE.slice(0, 100) },
    });
    const receiver = await startReceiver();
    const url = `${receiver.url}?"><script>window.pwned=1</script>`;
    const { id } = await createWebhook(project.admin, url, { description: HOSTILE });
    const page = await dashboard.signIn(project.adminKey, '/live/keys');
    await expectText(page, HOSTILE.slice(0, 100));
    await page.goto(`${service.stack.baseUrl}/dashboard#/live/keys/${key.id}`);
    await expectText(page, HOSTILE.slice(0, 100));
    await page.goto(`${service.stack.baseUrl}/dashboard#/live/webhooks`);
    await expectText(page);
    await page.goto(`${service.stack.baseUrl}/dashboard#/live/webhooks/${id}`);
    await expectText(page);
    await page.getByText(new URL(url).href).first().waitFor();
  });

  it('stays visible text in lists, in details and in a CSV file, without a change of the layout', async () => {
    const text = MARKER + CHARACTERS.filter((character) => !/\p{Cc}/u.test(character)).join('');
    const name = text.slice(0, 99).toWellFormed();
    const project = await service.project();
    const { body: key } = await project.admin('POST', '/v1/keys', { body: { type: 'live', name } });
    const receiver = await startReceiver();
    const { id } = await createWebhook(project.admin, receiver.url, { description: text });
    const texts = [`${RIGHT_TO_LEFT}${text}`, ...CHARACTERS, MARKER + 'W'.repeat(100_000)];
    const data = (document_key: string) => ({ document_key, revision: 1, origin: 'n' });
    const events = texts.map((text) => ({ type: 'document.deleted', data: data(text) }));
    const ids: string[] = [];
    // The last event alone, so that it is the first one of the list.
    while (events.length > 0)
      ids.push(...(await publishAll(project.admin, events.splice(0, Math.max(1, events.length - 1)))));
    for (const event of ids) await settled(project.admin, id, event);

    const page = await dashboard.signIn(project.adminKey, '/live/keys');
    const [first = '', last] = [texts[0], texts.at(-1)];
    const places = [
      ['/live/keys', printable(name)],
      [`/live/keys/${key.id}`, printable(name)],
      ['/live/settings', `name: ${printable(name)}`],
      ['/live/webhooks', printable(text)],
      [`/live/webhooks/${id}`, printable(text)],
      [`/live/events/${ids[0]}`, visible(first)],
      [`/live/webhooks/${id}/deliveries/${ids[0]}`, visible(first)],
      [`/live/events/${ids.at(-1)}`, last],
      ['/live/events', last],
    ] as const;
    for (const width of [1200, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const [place, shown = ''] of places) {
        await page.goto(`${service.stack.baseUrl}/dashboard#${place}`);
        await page.reload();
        const textContent = () => page.locator('main').textContent();
        await expect.poll(textContent, { message: place }).toContain(shown);
        const content = (await textContent()) ?? '';
        expect(printable(content), place).toBe(content);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, `${place} at ${width} px`).toBeLessThanOrEqual(0);
      }
    }

    await page.goto(`${service.stack.baseUrl}/dashboard#/live/webhooks/${id}`);
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByLabel('Format').selectOption('CSV');
    const downloaded = page.waitForEvent('download');
    await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
    const file = readFileSync(await (await downloaded).path(), 'utf8');
    const cells = [...file.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell = '']) => cell.replaceAll('""', '"'));
    const exported = new Set(cells);
    expect(texts.slice(0, -1).filter((text) => !exported.has(text) && !exported.has(`'${text}`))).toEqual([]);
    expect(cells.filter((cell) => /^[=+\-@\t\r\n\0]/.test(cell))).toEqual([]);
  });

  it('stays text in the payload and the response of a delivery', async () => {
    const project = await service.project();
    const receiver = await startReceiver((response) => {
      response.writeHead(500, { 'Content-Type': 'text/html' }).end(`${HOSTILE}${RIGHT_TO_LEFT}`);
    });
    const { id } = await createWebhook(project.admin, receiver.url);
    const fields = { [HOSTILE]: HOSTILE, [`__proto__`]: [HOSTILE], plain: RIGHT_TO_LEFT };
    const data = { document_key: 'a:b', revision: 1, fields, origin: HOSTILE };
    const { body: event } = await project.admin('POST', '/v1/events', { body: { type: 'document.created', data } });
    await settled(project.admin, id, event.id);
    const page = await dashboard.signIn(project.adminKey, `/live/webhooks/${id}/deliveries/${event.id}`);
    await expectText(page);
    await expectText(page, JSON.stringify(HOSTILE));
    expect(await page.getByRole('region', { name: 'Payload' }).textContent()).toContain('\\u202egnp.exe');
    expect(await page.locator('main').textContent()).not.toContain(RIGHT_TO_LEFT);
  });

  it('stays text in the names and values of document fields', async () => {
    const project = await service.project();
    const fields = { [HOSTILE]: HOSTILE, text: RIGHT_TO_LEFT };
    await project.admin('PUT', '/v1/documents/a:b', { body: { fields } });
    const page = await dashboard.signIn(project.adminKey, '/live/documents');
    await page.getByRole('link', { name: 'a:b' }).click();
    await expectText(page, JSON.stringify(HOSTILE));
    expect(await page.locator('main').textContent()).not.toContain(RIGHT_TO_LEFT);

    // Also in the editor, where it is the same JSON.
    await page.getByRole('button', { name: 'Edit' }).click();
    const text = await page.getByLabel('Fields', { exact: true }).inputValue();
    expect(text).not.toContain(RIGHT_TO_LEFT);
    expect(JSON.parse(text)).toEqual(fields);
  });

  it('stays text in the content of a pasted token', async () => {
    const { adminKey } = await service.project();
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const texts = [HOSTILE, RIGHT_TO_LEFT];
    const claims = {
      sub: HOSTILE,
      jti: RIGHT_TO_LEFT,
      env: HOSTILE,
      documents: texts,
      permissions: texts,
      iat: 0,
      exp: 1,
    };
    const page = await dashboard.signIn(adminKey, '/live/tokens');
    await page.getByLabel('Token', { exact: true }).fill(`${encoded({ typ: 'svc-doc+jwt' })}.${encoded(claims)}.x`);
    await expectText(page);
    await page.getByText('expired').waitFor();
    expect(await page.locator('main').textContent()).not.toContain(RIGHT_TO_LEFT);
  });

  it('does not break the page with its size, depth or large numbers', async () => {
    const project = await service.project();
    const deep = `${'['.repeat(150)}${']'.repeat(150)}`;
    const body = `{"fields":{"big":12345678901234567890,"small":1.10,"long":"${'x'.repeat(60_000)}","deep":${deep}}}`;
    await project.admin('PUT', '/v1/documents/a:b', { body });
    const page = await dashboard.signIn(project.adminKey, '/live/documents/a%3Ab');
    const text = page.getByLabel('Fields');
    await expect.poll(() => text.textContent()).toContain('12345678901234567890');
    expect(await text.textContent()).toContain('1.10');
    expect((await text.textContent())?.length).toBeLessThan(30_000);
    await page.getByRole('button', { name: /^Show all/ }).click();
    await expect.poll(async () => (await text.textContent())?.length).toBeGreaterThan(60_000);
  });

  it('in the URL shows an error and does not become part of the page', async () => {
    const { adminKey } = await service.project();
    const page = await dashboard.signIn(adminKey, `/live/webhooks/${encodeURIComponent(HOSTILE)}`);
    await page.getByText('no such webhook').waitFor();
    await page.goto(`${service.stack.baseUrl}/dashboard#/live/%E0%A4%A/nowhere`);
    await heading(page, 'Not found').waitFor();
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
  });
});
