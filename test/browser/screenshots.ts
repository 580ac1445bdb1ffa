import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { chromium } from 'playwright-core';
import { assemble } from '../../infra/local/assembly.ts';
import { dynamoDbClient } from '../../infra/local/services/table.ts';
import type { LocalStack } from '../../infra/local/stack.ts';
import { itemKey, statusIndexEntry } from '../../lib/aws/items.ts';
import type { Attempt } from '../../lib/deliveries/attempt.ts';
import { LATENCY_BOUNDS_MS } from '../../lib/deliveries/latency.ts';
import type { DeliveryStatus } from '../../lib/deliveries/retry-schedule.ts';
import { type Counter, countName, PERIOD_MS, PERIODS, periodStart } from '../../lib/deliveries/stats.ts';
import { newEvent } from '../../lib/events/event.ts';
import { createProject } from '../measure/bench/project.ts';
import { startBench } from '../measure/bench/stack.ts';
import { writeItems } from '../support/items.ts';
import { CHROMIUM } from './browser.ts';

// `npx node test/browser/screenshots.ts` takes the screenshots of the README from a local stack with a day of sample traffic.

const MINUTE_MS = 60_000;
const TYPES = ['document.created', 'document.changed', 'document.deleted'] as const;

const WEBHOOKS = [
  { description: 'Search index', url: 'https://search.acme-docs.com/hooks/documents', perHour: 620 },
  { description: 'Billing', url: 'https://billing.acme-docs.com/webhooks/sync', perHour: 410 },
  { description: 'Analytics warehouse', url: 'https://ingest.acme-analytics.com/v2/events', perHour: 620 },
  { description: 'Mobile push', url: 'https://push.acme-docs.com/document-events', perHour: 8 },
];
/** The webhook that has been failing for some minutes, and the one that the service disabled. */
const [FAILING, DISABLED] = [1, 3];

/** More traffic by day than by night, in UTC. */
const shareOf = (hourMs: number): number =>
  0.55 - 0.45 * Math.cos(((new Date(hourMs).getUTCHours() - 3) / 24) * 2 * Math.PI);

/** The counts of one hour, with 1 to 2 % of failed attempts. */
function countsOf(total: number): Record<string, number> {
  const ofType = { 'document.created': 0.2, 'document.changed': 0.74, 'document.deleted': 0.06 } as const;
  const latency: Record<number, number> = {
    20: 0.1,
    30: 0.24,
    50: 0.36,
    75: 0.17,
    100: 0.08,
    200: 0.03,
    500: 0.015,
    1000: 0.005,
  };
  return Object.fromEntries(
    TYPES.flatMap((type) => {
      const delivered = Math.round(total * ofType[type]);
      return [
        [countName(type, 'delivered'), delivered],
        [countName(type, 'attempts_failed'), Math.round(delivered * 0.014)],
        ...LATENCY_BOUNDS_MS.map((bound) => [
          countName(type, `le_${bound}`),
          Math.round(delivered * (latency[bound] ?? 0)),
        ]),
      ];
    }),
  );
}

/** How long ago the service disabled the webhook, and how long the six attempts before that took. */
const DISABLED_MS = 95 * MINUTE_MS;

const EVENTS = 41;
/** From the first attempt. */
const ATTEMPT_DELAYS_MS = [0, 1, 6, 36, 156, 876].map((minutes) => minutes * MINUTE_MS);
const OUTAGE_MS = DISABLED_MS + 876 * MINUTE_MS;

/** The counts of one hour of the disabled webhook, whose endpoint fails every attempt. */
function outageCountsOf(total: number, start: number, now: number): Record<string, number> {
  const count = (counter: Counter, value: number) => ({ [countName('document.changed', counter)]: Math.round(value) });
  const disabledAt = now - DISABLED_MS;
  if (start > disabledAt) return count('skipped', total);
  const isEnd = start + PERIOD_MS.hour > disabledAt;
  return {
    ...count('attempts_failed', 3 * total),
    ...(isEnd && { ...count('failed', 1), ...count('canceled', 15 * total) }),
  };
}

function statsItems(webhookId: string, perHour: number, now: number, isDisabled: boolean) {
  return PERIODS.flatMap((period) =>
    Array.from({ length: period === 'hour' ? 24 : 30 }, (_, i) => {
      const start = periodStart(period, now) - i * PERIOD_MS[period];
      const total = period === 'hour' ? perHour * shareOf(start) : perHour * 13 * (i === 0 ? 0.6 : 1 - (i % 7) * 0.07);
      const isOutage = isDisabled && period === 'hour' && start > now - OUTAGE_MS;
      const counts = isOutage ? outageCountsOf(total, start, now) : countsOf(total);
      return { ...itemKey.stats(webhookId, period, start), ...counts };
    }),
  );
}

/** Events of the last half hour, newest first, and the one whose delivery failed. */
function recentEvents(projectId: string, now: number) {
  return Array.from({ length: EVENTS }, (_, i) => {
    const isRecent = i < 3;
    const age = isRecent ? 7 * MINUTE_MS + i * 4000 : 9 * MINUTE_MS + i * 41_000 + (i % 5) * 3700;
    const at = now - (i === EVENTS - 1 ? OUTAGE_MS : age);
    const documentKey = `org:acme:${['contract', 'invoice', 'handbook', 'roadmap'][i % 4]}-${1204 + ((i * 37) % 61)}`;
    const changes = [{ field: 'title', old_value: 'Draft', new_value: 'Signed', origin: 'laptop-4' }];
    const data = { document_key: documentKey, revision: 3 + (i % 9), changes };
    return newEvent({ projectId, environment: 'live', type: 'document.changed', at, data }, randomBytes);
  });
}

const EXCERPTS: Record<number, string> = {
  200: '{"status":"queued"}',
  404: '{"error":"No such route"}',
  502: 'Bad gateway',
  503: '{"error":"The billing database is restarting"}',
};

type Target = { id: string; url: string; isFailing: boolean; isDisabled: boolean };

/** The status codes of the attempts. The latest three events fail if the webhook is failing. */
function outcomesOf(n: number, { isFailing, isDisabled }: Target): [DeliveryStatus, number[]] {
  if (isDisabled) return n === EVENTS - 1 ? ['failed', ATTEMPT_DELAYS_MS.map(() => 404)] : ['skipped', []];
  if (isFailing && n < 3) return ['retrying', [503, 503, 503]];
  return ['succeeded', n === 17 ? [502, 200] : [200]];
}

/** The delivery of the nth event to a webhook. */
function deliveryItem({ id, at, documentKey }: ReturnType<typeof recentEvents>[number], n: number, webhook: Target) {
  const [status, outcomes] = outcomesOf(n, webhook);
  const attempts: Attempt[] = outcomes.map((statusCode, i) => ({
    number: i + 1,
    trigger: 'schedule',
    at: at + (ATTEMPT_DELAYS_MS[i] ?? 0),
    statusCode,
    error: statusCode === 200 ? null : 'status_not_2xx',
    durationMs: 18 + ((n * 29 + i * 11) % 67),
    excerpt: EXCERPTS[statusCode] ?? '',
    headers: [
      ['content-type', 'application/json'],
      ...(statusCode === 200 ? [] : [['retry-after', '30'] as [string, string]]),
    ],
    url: webhook.url,
    sent: [['X-Service-Signature', `sha256=${randomBytes(32).toString('hex')}`]],
  }));
  const { byStatus } = statusIndexEntry(webhook.id, id, status);
  return {
    ...itemKey.delivery(webhook.id, id),
    ...{
      eventType: 'document.changed',
      documentKey,
      status,
      run: 0,
      attempt: attempts.length,
      attempts,
      createdAt: at,
    },
    ...(byStatus && { byStatus }),
    ...(status === 'retrying' && { nextAttemptAt: at + 36 * MINUTE_MS }),
  };
}

/** A project after a day of traffic. */
async function fill(stack: LocalStack, databaseEndpoint: string) {
  const project = await createProject(stack, 'Acme Docs');
  const now = Date.now();
  const events = recentEvents(project.id, now);
  const space = { projectId: project.id, environment: 'live' } as const;
  const items: Record<string, unknown>[] = events.map(({ id, type, at, documentKey, body }) => ({
    ...itemKey.event(space, id),
    ...{ at, type, documentKey, body },
  }));
  const ids: string[] = [];
  for (const [i, { perHour, ...webhook }] of WEBHOOKS.entries()) {
    const { id = '' } = await project.post('/v1/webhooks', { ...webhook, events: TYPES });
    ids.push(id);
    const target = { id, url: webhook.url, isFailing: i === FAILING, isDisabled: i === DISABLED };
    items.push(...statsItems(id, perHour, now, target.isDisabled));
    items.push(...events.map((event, n) => deliveryItem(event, n, target)));
  }
  await writeItems(
    databaseEndpoint,
    stack.tableName,
    items.map((item) => marshall(item)),
  );
  await changeItem(stack, databaseEndpoint, itemKey.webhook(space, ids[FAILING] ?? ''), {
    failingSince: now - 7 * MINUTE_MS,
    undeliveredSince: now - 7 * MINUTE_MS,
  });
  await changeItem(stack, databaseEndpoint, itemKey.webhook(space, ids[DISABLED] ?? ''), {
    status: 'disabled',
    disabledReason: 'deliveries_failed',
    disabledAt: now - DISABLED_MS,
    failingSince: now - OUTAGE_MS,
    undeliveredSince: now - OUTAGE_MS,
  });
  return { ...project, ids };
}

async function changeItem(stack: LocalStack, databaseEndpoint: string, key: object, change: Record<string, unknown>) {
  const client = dynamoDbClient(databaseEndpoint);
  const names = Object.keys(change);
  await client.send(
    new UpdateItemCommand({
      TableName: stack.tableName,
      Key: marshall(key),
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: marshall(Object.fromEntries(names.map((name) => [`:${name}`, change[name]]))),
    }),
  );
  client.destroy();
}

const { stack, databaseEndpoint, stop } = await startBench(await assemble());
const { adminKey, ids } = await fill(stack, databaseEndpoint);
const read = async (path: string) =>
  (await (await fetch(stack.baseUrl + path, { headers: { Authorization: `Bearer ${adminKey}` } })).json()).data;
const [retrying] = await read(`/v1/webhooks/${ids[FAILING]}/deliveries?status=retrying`);

const webhook = `/live/webhooks/${ids[FAILING]}`;
const delivery = `${webhook}/deliveries/${retrying.event_id}`;
const PICTURES = [
  ['overview', '/live', 'light'],
  ['webhook', webhook, 'light'],
  ['delivery', delivery, 'dark'],
] as const;
const DIRECTORY = '.github/screenshots';
mkdirSync(DIRECTORY, { recursive: true });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
for (const [name, place, colorScheme] of PICTURES) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 960 }, colorScheme });
  await context.addInitScript((key) => sessionStorage.setItem('admin-key', key), adminKey);
  const page = await context.newPage();
  await page.goto(`${stack.baseUrl}/dashboard#${place}`);
  await page.waitForFunction(
    () => document.querySelector('h1') && !document.querySelector('main .skeleton, main [aria-busy="true"]'),
  );
  await page.waitForTimeout(400); // until animations are over
  await page.screenshot({ path: `${DIRECTORY}/${name}.png` });
  await context.close();
}
await browser.close();
await stop();
