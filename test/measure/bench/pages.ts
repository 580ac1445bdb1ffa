import { randomBytes } from 'node:crypto';
import { type Browser, chromium } from 'playwright-core';
import type { LocalStack } from '../../../infra/local/stack.ts';
import { itemKey, statusIndexEntry } from '../../../lib/aws/dynamodb/items.ts';
import { countName, PERIOD_MS, PERIODS, type Period, startOf } from '../../../lib/deliveries/stats.ts';
import { newEvent } from '../../../lib/events/events.ts';
import { newEventId } from '../../../lib/events/placement.ts';
import { writeItems } from '../../support/items.ts';
import { median } from './median.ts';
import { createProject } from './project.ts';
import { startBench } from './stack.ts';

const WEBHOOKS = 100;
/** The deliveries of one webhook in 29 days. Every hundredth failed. */
const DELIVERIES = 100_000;
const DELIVERY_INTERVAL_MS = 25_000;
/** The events of the newest deliveries. */
const EVENTS = 10_000;
const PERIODS_KEPT: Readonly<Record<Period, number>> = { hour: 24, day: 30 };
const REPEATS = 5;

/** Measures the milliseconds until each page of the dashboard is complete in Chromium. */
export async function measurePages(assembly: string) {
  const { stack, databaseEndpoint, stop } = await startBench(assembly, { spares: true });
  const { adminKey, webhookId, eventId } = await fill(stack, databaseEndpoint);
  const webhook = `webhooks/${webhookId}`;
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  const rows: Record<string, object> = {};
  const cases: [name: string, place: string, period?: string][] = [
    ['overview', ''],
    ['overview, 30 days', '', '30 days'],
    ['events', 'events'],
    ['webhooks', 'webhooks'],
    ['a webhook', webhook],
    ['a webhook, 30 days', webhook, '30 days'],
    ['a webhook, failed', `${webhook}?status=failed`],
    ['a webhook, succeeded', `${webhook}?status=succeeded`],
    ['a webhook, a type without any', `${webhook}?type=sync.conflict`],
    ['its settings', `${webhook}/settings`],
    ['a delivery', `${webhook}/deliveries/${eventId}`],
    ['keys', 'keys'],
    ['documents', 'documents'],
    ['settings', 'settings'],
  ];
  for (const [name, place, period] of cases) {
    const times: number[] = [];
    for (let i = 0; i < REPEATS; i++)
      times.push(await completeAfter(browser, adminKey, `${stack.baseUrl}/dashboard#/live/${place}`, period));
    rows[name] = { ms: Math.round(median(times)), best: Math.round(Math.min(...times)) };
  }
  await browser.close();
  await stop();
  return rows;
}

/** Measures from opening the page, or selecting a period, until all data is loaded. */
async function completeAfter(browser: Browser, adminKey: string, url: string, period?: string): Promise<number> {
  const context = await browser.newContext();
  await context.addInitScript((key) => sessionStorage.setItem('admin-key', key), adminKey);
  const page = await context.newPage();
  await page.goto(url);
  const complete = () => page.evaluate(untilComplete);
  let ms = await complete();
  if (period) {
    const before = await page.evaluate(() => performance.now());
    await page.getByLabel(period).check();
    ms = (await complete()) - before;
  }
  await context.close();
  return ms;
}

/** Runs in the page: the time when it is complete. */
const untilComplete = () =>
  new Promise<number>((resolve) => {
    const look = () => {
      const isComplete =
        document.querySelector('main h1') !== null &&
        document.querySelector('main .skeleton, main [aria-busy="true"]') === null;
      if (isComplete) resolve(performance.now());
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });

/** Fills a project with the data of a busy time. */
async function fill(stack: LocalStack, databaseEndpoint: string) {
  const { id: projectId, adminKey, post } = await createProject(stack);
  const ids: string[] = [];
  for (let i = 0; i < WEBHOOKS; i++) {
    const { id = '' } = await post('/v1/webhooks', { url: `http://127.0.0.1:9/${i}`, events: ['document.created'] });
    ids.push(id);
  }
  const [webhookId = ''] = ids;
  const now = Date.now();
  const stats = ids.flatMap((id) => PERIODS.flatMap((period) => statsOf(id, period, now)));
  const deliveries = Array.from({ length: DELIVERIES }, (_, i) =>
    deliveryAt(webhookId, now - i * DELIVERY_INTERVAL_MS, i),
  );
  const space = { projectId, environment: 'live' } as const;
  const events = deliveries.slice(0, EVENTS).map(({ sk: id, eventType: type, documentKey, createdAt: at }) => {
    const data = { document_key: documentKey, revision: 2, changes: [] };
    const { body } = newEvent({ ...space, id, type: 'document.changed', at, data });
    return { ...itemKey.event(space, id), at, type, documentKey, body };
  });
  await writeItems(stack, databaseEndpoint, [...stats, ...deliveries, ...events]);
  return { adminKey, webhookId, eventId: deliveries[1]?.sk ?? '' };
}

const statsOf = (webhookId: string, period: Period, now: number) =>
  Array.from({ length: PERIODS_KEPT[period] }, (_, i) => ({
    ...itemKey.stats(webhookId, period, startOf(period, now) - i * PERIOD_MS[period]),
    ...Object.fromEntries(
      (['document.created', 'document.changed', 'document.deleted'] as const).flatMap((type) =>
        (['delivered', 'attempts_failed', 'failed', 'le_20', 'le_50', 'le_100', 'le_500'] as const).map((count) => [
          countName(type, count),
          100 + i,
        ]),
      ),
    ),
  }));

function deliveryAt(webhookId: string, at: number, i: number) {
  const documentKey = `org:acme:doc-${i % 100}`;
  const eventId = newEventId('document.changed', { document_key: documentKey }, at, randomBytes);
  const status = i % 100 === 99 ? 'failed' : 'succeeded';
  const { byStatus } = statusIndexEntry(webhookId, eventId, status);
  const attempt = {
    ...{ number: 1, trigger: 'schedule', at, statusCode: 200, error: null, durationMs: 50, excerpt: null },
    ...{ url: 'http://127.0.0.1:9/0', sent: { 'X-Service-Signature': `sha256=${'a'.repeat(64)}` } },
  };
  return {
    ...itemKey.delivery(webhookId, eventId),
    ...{ eventType: 'document.changed', documentKey, status, run: 0, attempt: 1 },
    ...(byStatus && { byStatus }),
    attempts: [attempt],
    createdAt: at,
  };
}
