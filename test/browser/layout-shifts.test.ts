import { describe, expect, it } from 'vitest';
import { useService } from '../support/service.ts';
import { useDashboard } from './browser.ts';

const service = useService();
const dashboard = useDashboard(service);

/** A third of the limit for a good page (Core Web Vitals, "Cumulative Layout Shift"). */
const MAX_SHIFT = 0.05;
const PAINT_MS = 300;

const SIZES = {
  phone: { width: 390, height: 844 },
  tablet: { width: 800, height: 1100 },
  desktop: { width: 1400, height: 900 },
};
/** Pages with code in several languages, forms, long tables and few of them. The second is open at a section. */
const PAGES = [
  '/docs',
  '/docs/receiving#verify-by-hand',
  '/docs/keys',
  '/docs/troubleshooting',
  '/docs/api-webhooks',
  '/docs/api-events#publishEvent',
];

interface Shift extends PerformanceEntry {
  value: number;
  sources: { node: Node | null }[];
}

describe.each(Object.entries(SIZES))('on a %s', (_, viewport) => {
  it.each(PAGES)('%s stays where it is when its program arrives after the first paint', async (path) => {
    const page = await dashboard.open('/docs/versions', { viewport });
    await page.route(/\/docs\/app-\w+\.js$/, async (route) => {
      await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
      await page.waitForTimeout(PAINT_MS); // the reader has begun to read
      await route.continue();
    });
    await page.addInitScript(() => {
      const shifts: string[] = [];
      Object.assign(globalThis, { shifts });
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries() as Shift[])
          shifts.push(
            `${value.toFixed(4)} ${sources.map(({ node }) => (node as Element | null)?.className ?? node?.nodeName).join()}`,
          );
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.goto(service.stack.baseUrl + path);
    await page.getByRole('combobox').waitFor(); // the program has run
    await page.waitForTimeout(PAINT_MS);
    const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: string[] }).shifts);
    const sum = shifts.reduce((total, shift) => total + Number.parseFloat(shift), 0);
    expect(sum, shifts.join('\n')).toBeLessThanOrEqual(MAX_SHIFT);
  });
});
