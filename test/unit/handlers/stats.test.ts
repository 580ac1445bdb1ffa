import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { periodStart } from '../../../lib/deliveries/stats.ts';
import { stats } from '../../../lib/deliveries/stats-store.ts';
import { changed } from '../../support/changed.ts';
import { pagesOf } from '../../support/documents.ts';
import { streamRecord } from '../../support/entries.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook, publish, publishAll } from '../../support/requests.ts';
import type { Answer, Client } from '../../support/service.ts';
import { record } from '../deliveries/builders.ts';

const service = memoryService();

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

type Stats = Answer['body'];
type Bucket = { le: number; count: number };
const deleted = { type: 'document.deleted', data: { document_key: 'a', revision: 1, origin: 'n' } };

const statsPages = (client: Client, query: string) => pagesOf(client, `/v1/stats?${query}`);

/** Adds counts of types to an hour of a webhook. */
function add(webhookId: string, start: number, counts: Record<string, number>, others: Record<string, number> = {}) {
  const named = Object.entries(counts).map(([name, count]) => [`document_changed_${name}`, count] as const);
  const entries = [{ sequence: '1', counts: { ...Object.fromEntries(named), ...others } }];
  return stats(service.table).add({ webhookId, period: 'hour', start, entries }, 'shard');
}

async function statsOf(client: Client, query = ''): Promise<Stats[]> {
  const [stats = [], ...others] = await statsPages(client, query);
  expect(others).toEqual([]);
  return stats;
}

describe('the stats', () => {
  it('contain what happened to every delivery of the project, by webhook and type, by hour and day', async () => {
    const project = await service.project();
    const live = await project.client('live');
    const [healthy, broken] = await Promise.all([
      createWebhook(live, service.endpoint().url),
      createWebhook(live, service.endpoint(500).url, { events: ['document.deleted'] }),
    ]);
    await publishAll(live, [...Array(40).fill(changed()), ...Array(10).fill(deleted)]);
    await live('POST', `/v1/webhooks/${healthy.id}/test`, { body: { type: 'sync.conflict' } });
    await service.settle();
    await publishAll(live, [deleted, deleted]);
    await service.settle();
    for (const by of ['hour', 'day']) {
      const from = by === 'hour' ? `&from=${new Date(service.clock.now() - 2 * DAY_MS).toISOString()}` : '';
      const sums = async (query: string) => {
        const rows = await statsOf(live, `by=${by}${from}&${query}`);
        const sum = (name: 'delivered' | 'attempts_failed' | 'failed' | 'skipped' | 'canceled') =>
          rows.reduce((total, row) => total + row[name], 0);
        return [sum('delivered'), sum('attempts_failed'), sum('failed'), sum('skipped'), sum('canceled')];
      };
      expect(await sums(`webhook_id=${healthy.id}`)).toEqual([52, 0, 0, 0, 0]);
      expect(await sums(`webhook_id=${healthy.id}&type=document.deleted`)).toEqual([12, 0, 0, 0, 0]);
      // The first sixth failure disables the webhook.
      expect(await sums(`webhook_id=${broken.id}`)).toEqual([0, 51, 1, 2, 9]);
    }
    const rows = await statsOf(live, `by=day&webhook_id=${healthy.id}`);
    expect(new Set(rows.map(({ type }) => type))).toEqual(new Set(['document.changed', 'document.deleted']));
    for (const { at, webhook_id, latency_ms } of rows) {
      expect([at.slice(10), webhook_id, latency_ms.histogram]).toEqual(['T00:00:00.000Z', healthy.id, null]);
      expect(latency_ms.p50).toBeGreaterThan(0);
      expect(latency_ms.p99).toBeGreaterThanOrEqual(latency_ms.p50 ?? 0);
    }
    expect(await statsOf(project.admin, 'environment=sandbox')).toEqual([]);
    const other = (await service.project()).admin;
    expect((await other('GET', `/v1/stats?webhook_id=${healthy.id}`)).status).toBe(404);
    expect(await statsOf(live, 'from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')).toEqual([]);
  });

  it('are added up by webhook, or by hour or day, in pages of complete entries', async () => {
    const live = await (await service.project()).client('live');
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await createWebhook(live, service.endpoint().url)).id);
    await publishAll(live, [changed(), changed(), deleted]);
    await service.settle();
    const summary = ({ webhook_id, type, delivered }: Stats) => [webhook_id, type, delivered];
    const barsSum = ({ latency_ms }: Stats) =>
      latency_ms.histogram.reduce((sum: number, { count }: Bucket) => sum + count, 0);

    for (const by of ['hour', 'day']) {
      const byWebhook = await statsOf(live, `by=${by}&group_by=webhook_id`);
      expect(byWebhook.map(summary)).toEqual(ids.map((id) => [id, null, 3]));
      expect(byWebhook.map(barsSum)).toEqual(ids.map(() => 3));
      for (const { latency_ms } of byWebhook) {
        expect(latency_ms.histogram.map(({ le }: Bucket) => le)).toContain(latency_ms.p95);
        expect(latency_ms.histogram.every(({ count }: Bucket) => count > 0)).toBe(true);
      }
      const changes = await statsOf(live, `by=${by}&group_by=webhook_id&type=document.changed`);
      expect(changes.map(summary)).toEqual(ids.map((id) => [id, 'document.changed', 2]));
      expect(changes.map(barsSum)).toEqual(ids.map(() => 2));

      const total = async (query: string) => {
        const rows = await statsOf(live, `by=${by}&group_by=at&${query}`);
        expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).toSorted());
        return [rows[0]?.webhook_id, rows[0]?.type, rows.reduce((sum, { delivered }) => sum + delivered, 0)];
      };
      expect(await total('')).toEqual([null, null, 15]);
      expect(await total('type=document.deleted')).toEqual([null, 'document.deleted', 5]);
      expect(await total(`webhook_id=${ids[1]}`)).toEqual([ids[1], null, 3]);
    }

    // A page contains 720 hours of four webhooks, or 620 hours of five.
    const from = new Date(periodStart('hour', service.clock.now() - 30 * DAY_MS)).toISOString();
    const month = `from=${from.replace('.000Z', '.001Z')}&by=hour`; // contains the whole hour
    expect(
      (await statsPages(live, month)).map((page) => new Set(page.map(({ webhook_id }) => webhook_id)).size),
    ).toEqual([4, 1]);
    const [first, second, ...others] = await statsPages(live, `${month}&group_by=webhook_id`);
    expect([first?.map(summary), second?.map(summary), others]).toEqual([
      ids.slice(0, 4).map((id) => [id, null, 3]),
      [[ids[4], null, 3]],
      [],
    ]);
    expect(first?.map(({ at }) => at)).toEqual(Array(4).fill(from));
    const hours = [0, 619, 620].map((hour) => Date.parse(from) + hour * HOUR_MS);
    // The first webhook received nothing in the first hour.
    for (const [i, start] of hours.entries()) await add(ids[i === 0 ? 1 : 0] ?? '', start, { delivered: 1 });
    const sums = (await statsPages(live, `${month}&group_by=at`)).map((page) =>
      page.map(({ at, delivered }) => [(Date.parse(at) - Date.parse(from)) / HOUR_MS, delivered]),
    );
    expect(sums).toEqual([
      [
        [0, 1],
        [619, 1],
      ],
      [
        [620, 1],
        [720, 15],
      ],
    ]);
  });

  it.each(['', 'group_by=webhook_id'])('continue after a page of webhooks without deliveries: %s', async (group) => {
    const live = await (await service.project()).client('live');
    for (let i = 0; i < 4; i++) await createWebhook(live, service.endpoint().url, { events: ['sync.completed'] });
    const { id } = await createWebhook(live, service.endpoint().url, { events: ['document.changed'] });
    await publish(live);
    await service.settle();
    const from = new Date(service.clock.now() - 30 * DAY_MS).toISOString();
    const pages = await statsPages(live, `from=${from}&${group}`);
    expect(pages.map((page) => page.map(({ webhook_id }) => webhook_id))).toEqual([[], [id]]);
  });

  it('have percentiles of each type, also when few attempts took long, and none without a response', async () => {
    const live = await (await service.project()).client('live');
    const { id } = await createWebhook(live, service.endpoint().url);
    const bars = { le_10: 94, le_100: 4, le_5000: 2 };
    const others = { document_deleted_delivered: 1, document_deleted_le_300: 1, sync_completed_attempts_failed: 1 };
    await add(id, periodStart('hour', service.clock.now()), { delivered: 100, ...bars }, others);
    expect(await statsOf(live)).toMatchObject([
      { type: 'document.changed', latency_ms: { p50: 10, p95: 100, p99: 5000 } },
      { type: 'document.deleted', latency_ms: { p50: 300, p95: 300, p99: 300 } },
      { type: 'sync.completed', latency_ms: { p50: null, p95: null, p99: null } },
    ]);
  });

  it('contain the other changes of a batch when one cannot be read', async () => {
    const live = await (await service.project()).client('live');
    const { id: webhookId } = await createWebhook(live, service.endpoint().url);
    const key = itemKey.delivery(webhookId, 'evt_1');
    const skipped = { ...key, ...record({ webhookId, status: 'skipped', attempt: 0, endedAt: service.clock.now() }) };
    const Records = [streamRecord(undefined, { ...key }, '1'), streamRecord(undefined, skipped, '2')];
    await service.invoke('stats', { Records, shardId: 'shard' });
    expect(await statsOf(live)).toMatchObject([{ skipped: 1 }]);
    expect(service.failures).toEqual(['stats.change_unreadable']);
  });

  it('name what is missing when a batch names no shard, which its tumbling window adds', async () => {
    await expect(service.invoke('stats', { Records: [] })).rejects.toThrow('Set a tumbling window.');
    expect(service.failures.at(-1)).toBe('stats.adding_failed');
  });

  it.each([
    ['with changes', [streamRecord(undefined, { ...itemKey.delivery('whk_1', 'evt_1'), ...record() }, '1')]],
    ['at the end of a window, without changes', []],
  ])('accept a batch %s', async (_, Records) => {
    // Lambda repeats a batch whose response has no state ("Implementing stateful DynamoDB stream processing").
    const batch = { Records, shardId: 'shard', isFinalInvokeForWindow: Records.length === 0 };
    expect(await service.invoke('stats', batch)).toEqual({ state: {} });
  });

  it.each([
    [24, 'hour', HOUR_MS],
    [30, 'day', DAY_MS],
  ])('begin by default %i %ss ago', async (periods, by, periodMs) => {
    const live = await (await service.project()).client('live');
    await createWebhook(live, service.endpoint().url);
    await publish(live);
    await service.settle();
    const [{ at }] = await statsOf(live, `by=${by}`);
    await service.clock.advance(Date.parse(at) + (periods + 1) * periodMs - 10 - service.clock.now());
    expect(await statsOf(live, `by=${by}`)).toMatchObject([{ at }]);
    await service.clock.advance(10);
    expect(await statsOf(live, `by=${by}`)).toEqual([]);
  });

  it.each([
    ['hour', HOUR_MS, 720, 'must be at most 720 hours before to'],
    ['day', DAY_MS, 400, 'must be at most 400 days before to'],
  ])('accept from one moment to the retention and one more %s', async (by, periodMs, periods, tooLong) => {
    const live = await (await memoryService().project()).client('live');
    const end = Date.UTC(2026, 0, 31);
    const responseTo = async (from: number, to: number) => {
      const range = `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
      const { status, body } = await live('GET', `/v1/stats?by=${by}&${range}`);
      return [status, status === 200 ? body.data : body.errors];
    };
    const earliest = end - (periods + 1) * periodMs;
    expect(await responseTo(end, end)).toEqual([400, [{ field: 'from', detail: 'must be before to' }]]);
    expect(await responseTo(end, end + 1)).toEqual([200, []]);
    expect(await responseTo(earliest, end)).toEqual([200, []]);
    expect(await responseTo(earliest, end + 1)).toEqual([400, [{ field: 'from', detail: tooLong }]]);
  });
});
