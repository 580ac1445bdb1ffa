import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { printable, visible } from '../../lib/printable.ts';
import { CHARACTERS } from '../support/adversarial.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, publishAll, settled } from '../support/requests.ts';
import { useService } from '../support/service.ts';
import { useDashboard } from './browser.ts';

const service = useService({ speed: 20_000 });
const dashboard = useDashboard(service);

const MARKER = 'This is text';
const RIGHT_TO_LEFT = '\u202egnp.exe';
/** Document keys that a spreadsheet would run. */
const FORMULAS = ['-1', '@a'];

describe('untrusted text', () => {
  it('stays visible in lists, in details and in a CSV file, without a change of the layout', async () => {
    const text = MARKER + CHARACTERS.filter((character) => !/\p{Cc}/u.test(character)).join('');
    const name = text.slice(0, 99).toWellFormed();
    const project = await service.project();
    const { body: key } = await project.admin('POST', '/v1/keys', { body: { type: 'live', name } });
    const time = '2026-99-99T9Z';
    await project.admin('POST', '/v1/keys', { body: { type: 'live', name: time } });
    const receiver = await startReceiver((response) => response.end(RIGHT_TO_LEFT));
    const { id } = await createWebhook(project.admin, receiver.url, { description: text });
    const texts = [`${RIGHT_TO_LEFT}${text}`, ...CHARACTERS, MARKER + 'W'.repeat(100_000)];
    const at = new Date().toISOString();
    const cycle = { sync_id: 's', node_id: 'n', pattern: '*', started_at: at, completed_at: at };
    const synced = texts.map((document_key) => ({ type: 'sync.completed', data: { ...cycle, document_key } }));
    const deleted = FORMULAS.map((document_key) => ({
      type: 'document.deleted',
      data: { document_key, revision: 1, origin: 'n' },
    }));
    const events = [...synced.slice(0, -1), ...deleted, ...synced.slice(-1)];
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
      ['/live/settings', `name: ${time}`],
      ['/live/webhooks', printable(text)],
      [`/live/webhooks/${id}`, printable(text)],
      [`/live/events/${ids[0]}`, visible(first)],
      [`/live/webhooks/${id}/deliveries/${ids[0]}`, visible(first)],
      [`/live/events/${ids.at(-1)}`, last],
      ['/live/events', last],
    ] as const;
    for (const [place, shown = ''] of places) {
      await page.goto(`${service.stack.baseUrl}/dashboard#${place}`);
      await page.reload();
      const textContent = () => page.locator('main').textContent();
      await expect.poll(textContent, { message: place }).toContain(shown);
      const content = (await textContent()) ?? '';
      expect(printable(content), place).toBe(content);
      for (const width of [1200, 390]) {
        await page.setViewportSize({ width, height: 900 });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, `${place} at ${width} px`).toBeLessThanOrEqual(0);
      }
    }

    await page.goto(`${service.stack.baseUrl}/dashboard#/live/webhooks/${id}`);
    const exports = page.getByRole('button', { name: 'Export' });
    await exports.waitFor();
    await expect.poll(() => page.locator('.skeleton').count()).toBe(0); // what loads above moves the button
    await exports.click();
    await page.getByLabel('Format').selectOption('CSV');
    const downloaded = page.waitForEvent('download');
    await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
    const file = readFileSync(await (await downloaded).path(), 'utf8');
    const cells = [...file.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell = '']) => cell.replaceAll('""', '"'));
    expect(cells).toEqual(expect.arrayContaining(FORMULAS.map((key) => `'${key}`)));
    expect(cells.filter((cell) => /^[=+\-@\t\r\n\0]/.test(cell))).toEqual([]);
  });

  it('stays visible in the fields of a document, also in the editor, where it is the same JSON', async () => {
    const project = await service.project();
    const fields = { [RIGHT_TO_LEFT]: RIGHT_TO_LEFT };
    await project.admin('PUT', '/v1/documents/a:b', { body: { fields } });
    const page = await dashboard.signIn(project.adminKey, '/live/documents/a%3Ab');
    await page.getByText(visible(RIGHT_TO_LEFT)).first().waitFor();
    expect(await page.locator('main').textContent()).not.toContain(RIGHT_TO_LEFT);
    await page.getByRole('button', { name: 'Edit' }).click();
    const text = await page.getByLabel('Fields', { exact: true }).inputValue();
    expect(text).not.toContain(RIGHT_TO_LEFT);
    expect(JSON.parse(text)).toEqual(fields);
  });

  it('stays visible in the content of a pasted token', async () => {
    const { adminKey } = await service.project();
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const texts = [RIGHT_TO_LEFT];
    const ids = { sub: RIGHT_TO_LEFT, jti: RIGHT_TO_LEFT, env: RIGHT_TO_LEFT };
    const claims = { ...ids, documents: texts, permissions: texts, iat: 0, exp: 1 };
    const page = await dashboard.signIn(adminKey, '/live/tokens');
    await page.getByLabel('Token', { exact: true }).fill(`${encoded({ typ: 'svc-doc+jwt' })}.${encoded(claims)}.x`);
    await page.getByText('expired').waitFor();
    await page.getByText(visible(RIGHT_TO_LEFT)).first().waitFor();
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
    // A browser without JSON.rawJSON rounds the number.
    await page.addInitScript(() => {
      const { parse } = JSON;
      JSON.parse = (text, reviver) => parse(text, reviver && ((name, value) => reviver(name, value)));
      Reflect.deleteProperty(JSON, 'rawJSON');
    });
    await page.reload();
    await expect.poll(() => text.textContent()).toContain('12345678901234567000');
  });
});
