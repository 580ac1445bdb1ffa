import { describe, expect, it } from 'vitest';
import { put } from '../support/documents.ts';
import { useService } from '../support/service.ts';
import { fact, heading, useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);

describe('the documents', () => {
  it('are browsed by prefix, and viewed', async () => {
    const project = await service.project();
    for (const key of ['org:acme:doc-1', 'org:acme:doc-2', 'org:acmecorp:doc', 'user:1']) {
      await put(project.admin, key, { title: key });
    }
    await put(project.admin, 'org:acme:doc-1', { title: 'Final' });
    const page = await dashboard.signIn(project.adminKey, '/live/documents');
    const rows = page.getByRole('table', { name: 'Documents' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(4);
    await page.getByLabel('Prefix', { exact: true }).fill('org:acme:');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('link', { name: 'org:acme:doc-1' }).click();
    await heading(page, 'org:acme:doc-1').waitFor();
    await expect.poll(() => fact(page, 'Revision').textContent()).toBe('2');
    expect(await page.getByLabel('Fields').textContent()).toContain('"Final"');
    await page.getByRole('link', { name: 'org:acme', exact: true }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('navigation', { name: 'Prefix' }).getByRole('link', { name: 'org' }).click();
    await expect.poll(() => rows.count()).toBe(3);
  });

  it('come in pages, and an invalid prefix is reported', async () => {
    const project = await service.project();
    for (let i = 0; i < 26; i++) await put(project.admin, `doc-${String(i).padStart(2, '0')}`, { i });
    const page = await dashboard.signIn(project.adminKey, '/live/documents');
    const rows = page.getByRole('table', { name: 'Documents' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(25);
    await page.getByRole('link', { name: 'Next page' }).click();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('link', { name: 'First page' }).click();
    await expect.poll(() => rows.count()).toBe(25);
    await page.getByLabel('Prefix', { exact: true }).fill('no key/');
    await page.keyboard.press('Enter');
    await page.getByText('Prefix must be 1 to 16 segments').waitFor();
  });

  it('of an empty environment say what to do', async () => {
    const { adminKey } = await service.project();
    const page = await dashboard.signIn(adminKey, '/sandbox/documents');
    await page.getByText('No documents yet.').waitFor();
  });
});
