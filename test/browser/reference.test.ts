import { describe, expect, it } from 'vitest';
import { allOperations } from '../../lib/api/operations.ts';
import { PROBLEMS } from '../../lib/api/problems.ts';
import { FAILURES } from '../../lib/delivery/failures.ts';
import { useService } from '../support/service.ts';
import { useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);

describe('the API reference', () => {
  it('shows every operation and the six webhooks, from this origin alone', async () => {
    const page = await dashboard.open('/docs');
    await page.getByText('Create a key, shown once').waitFor();
    await expect.poll(() => page.locator('.opblock').count()).toBe(allOperations.length + 6);
  });

  it('calls the API it is served from', async () => {
    const project = await service.project();
    const page = await dashboard.open('/docs');
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.locator('.auth-container input').first().fill(project.adminKey);
    await page.locator('.auth-btn-wrapper button[type=submit]').first().click();
    await page.locator('.btn-done').first().click();
    await page.locator('#operations-Keys-listKeys button').first().click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText('First admin key').first().waitFor();
  });

  it('explains every code where the errors point', async () => {
    const page = await dashboard.open('/docs/errors');
    for (const code of [...Object.keys(PROBLEMS), ...Object.keys(FAILURES), 'delivery-failures'])
      expect(await page.locator(`[id="${code}"]`).count(), code).toBe(1);
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByText('Create a key, shown once').waitFor();
  });
});
