import { describe, expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { writeItems } from '../../support/items.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publishAll, settled } from '../../support/requests.ts';
import { type Client, eventually, FAST, useService } from '../../support/service.ts';

// A whole schedule of retries passes in seconds.
const service = useService(FAST);

const DAY_MS = 24 * 60 * 60 * 1000;

interface Stats {
  at: string;
  webhook_id: string | null;
  type: string | null;
  delivered: number;
  attempts_failed: number;
  failed: number;
  skipped: number;
  canceled: number;
  latency_ms: {
    p50: number | null;
    p95: number | null;
    p99: number | null;
    histogram: { le: number; count: number }[] | null;
  };
}
const deleted = { type: 'document.deleted', data: { document_key: 'a', revision: 1, origin: 'n' } };

async function pagesOf(client: Client, query: string): Promise<Stats[][]> {
  const pages: Stats[][] = [];
  for (let cursor = ''; ; ) {
    const { status, text, body } = await client('GET', `/v1/stats?${query}${cursor}`);
    expect(status, text).toBe(200);
    pages.push(body.data);
    if (body.next_cursor === null) return pages;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}

async function statsOf(client: Client, query = ''): Promise<Stats[]> {
  const [stats = [], ...others] = await pagesOf(client, query);
  expect(others).toEqual([]);
  return stats;
}

/** The sum over all hours or days, once it is what is expected. */
async function sumOf(client: Client, query: string, expected: Partial<Stats>): Promise<void> {
  let seen: object = {};
  await eventually(async () => {
    const rows = await statsOf(client, query);
    const sum = (name: 'delivered') => rows.reduce((total, row) => total + row[name], 0);
    seen = Object.fromEntries(Object.keys(expected).map((name) => [name, sum(name as 'delivered')]));
    return JSON.stringify(seen) === JSON.stringify(expected);
  }).catch(() => expect(seen).toEqual(expected));
}

it('counts the other deliveries when the stream contains an unreadable change', async () => {
  const live = await (await service.project()).client('live');
  const receiver = await startReceiver();
  await createWebhook(live, receiver.url);
  await writeItems(service.stack, databaseEndpoint(), [{ pk: 'HOOK#whk_unreadable#0', sk: 'evt_1' }]);
  await publishAll(live, [changed(), deleted]);
  await sumOf(live, '', { delivered: 2 });
  expect(service.log.join('')).toContain('stats.change_unreadable');
});

describe('the stats', () => {
  it('match every delivery, by webhook and type, hour and day', async () => {
    const project = await service.project();
    const live = await project.client('live');
    const [good, bad] = [await startReceiver(), await startReceiver(500)];
    const healthy = await createWebhook(live, good.url);
    const broken = await createWebhook(live, bad.url, { events: ['document.deleted'] });
    await publishAll(live, [
      ...Array.from({ length: 40 }, () => changed()),
      ...Array.from({ length: 10 }, () => deleted),
    ]);
    await live('POST', `/v1/webhooks/${healthy.id}/test`, { body: { type: 'sync.conflict' } });

    for (const by of ['hour', 'day']) {
      const query = `by=${by}&webhook_id=${healthy.id}`;
      await sumOf(live, query, { delivered: 50, attempts_failed: 0, failed: 0, skipped: 0, canceled: 0 });
      await sumOf(live, `${query}&type=document.deleted`, { delivered: 10 });
    }
    const rows = await statsOf(live, `by=day&webhook_id=${healthy.id}`);
    expect(new Set(rows.map(({ type }) => type))).toEqual(new Set(['document.changed', 'document.deleted']));
    for (const { at, webhook_id, latency_ms } of rows) {
      expect([at.slice(10), webhook_id]).toEqual(['T00:00:00.000Z', healthy.id]);
      expect(latency_ms.p50).toBeGreaterThan(0);
      expect(latency_ms.histogram).toBeNull();
      expect(latency_ms.p99).toBeGreaterThanOrEqual(latency_ms.p50 ?? 0);
    }

    await eventually(async () => (await live('GET', `/v1/webhooks/${broken.id}`)).body.status === 'disabled');
    const [missed = ''] = await publishAll(live, [deleted]);
    expect((await settled(live, broken.id, missed)).status).toBe('skipped');
    const log = async () => (await live('GET', `/v1/webhooks/${broken.id}/deliveries?limit=100`)).body.data;
    await eventually(async () =>
      (await log()).every(({ status }: { status: string }) => ['failed', 'canceled', 'skipped'].includes(status)),
    );
    const deliveries: { status: string; attempts: unknown[] }[] = await log();
    const having = (status: string) => deliveries.filter((delivery) => delivery.status === status).length;
    await sumOf(live, `webhook_id=${broken.id}`, {
      delivered: 0,
      attempts_failed: deliveries.reduce((sum, { attempts }) => sum + attempts.length, 0),
      failed: having('failed'),
      skipped: 1,
      canceled: having('canceled'),
    });

    expect(new Set((await statsOf(live)).map(({ webhook_id }) => webhook_id))).toEqual(
      new Set([healthy.id, broken.id]),
    );
    expect(await statsOf(project.admin, 'environment=sandbox')).toEqual([]);
    expect(await statsOf(live, 'from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')).toEqual([]);
  });

  it('are added up by webhook, or by hour or day, in pages of complete entries', async () => {
    const live = await (await service.project()).client('live');
    const receiver = await startReceiver();
    const hooks: { id: string }[] = [];
    for (let i = 0; i < 5; i++) hooks.push(await createWebhook(live, `${receiver.url}/${i}`));
    const ids = hooks.map(({ id }) => id);
    await publishAll(live, [changed(), changed(), deleted]);
    await sumOf(live, '', { delivered: 15 });
    const summary = ({ webhook_id, type, delivered }: Stats) => [webhook_id, type, delivered];

    for (const by of ['hour', 'day']) {
      const byWebhook = await statsOf(live, `by=${by}&group_by=webhook_id`);
      expect(byWebhook.map(summary)).toEqual(ids.map((id) => [id, null, 3]));
      for (const { latency_ms } of byWebhook) {
        expect(latency_ms.histogram?.reduce((sum, { count }) => sum + count, 0)).toBe(3);
        expect(latency_ms.histogram?.map(({ le }) => le)).toContain(latency_ms.p95);
      }
      const changes = await statsOf(live, `by=${by}&group_by=webhook_id&type=document.changed`);
      expect(changes.map(summary)).toEqual(ids.map((id) => [id, 'document.changed', 2]));

      const total = async (query: string) => {
        const rows = await statsOf(live, `by=${by}&group_by=at&${query}`);
        expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).toSorted());
        return [rows[0]?.webhook_id, rows[0]?.type, rows.reduce((sum, { delivered }) => sum + delivered, 0)];
      };
      expect(await total('')).toEqual([null, null, 15]);
      expect(await total('type=document.deleted')).toEqual([null, 'document.deleted', 5]);
      expect(await total(`webhook_id=${ids[1]}`)).toEqual([ids[1], null, 3]);
      expect(await total(`to=${new Date(Date.now() - 2 * DAY_MS).toISOString()}`)).toEqual([undefined, undefined, 0]);
    }

    // Of 720 hours, four webhooks are a page, or 620 hours of five of them.
    const month = `from=${new Date(Date.now() - 30 * DAY_MS).toISOString()}&by=hour`;
    expect((await pagesOf(live, month)).map((page) => new Set(page.map(({ webhook_id }) => webhook_id)).size)).toEqual([
      4, 1,
    ]);
    const [first, second, ...others] = await pagesOf(live, `${month}&group_by=webhook_id`);
    expect([first?.map(summary), second?.map(summary), others]).toEqual([
      ids.slice(0, 4).map((id) => [id, null, 3]),
      [[ids[4], null, 3]],
      [],
    ]);
    const [older, newer = [], ...more] = await pagesOf(live, `${month}&group_by=at`);
    expect([older, newer.reduce((sum, { delivered }) => sum + delivered, 0), more]).toEqual([[], 15, []]);
  });

  it('return a problem for an unknown webhook or a range that is too long', async () => {
    const [live, other] = await Promise.all(
      [await service.project(), await service.project()].map((project) => project.client('live')),
    );
    if (!live || !other) throw new Error('No client');
    const { id } = await createWebhook(other, 'http://127.0.0.1:9/');
    expect((await live('GET', `/v1/stats?webhook_id=${id}`)).status).toBe(404);
    for (const query of [
      'from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z',
      'from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z',
      'by=day&from=2024-01-01T00:00:00Z&to=2026-01-01T00:00:00Z',
      'by=month&webhook_id=none&type=all&from=now',
      'group_by=type',
    ]) {
      const { status, body } = await live('GET', `/v1/stats?${query}`);
      expect([status, body.code], query).toEqual([400, 'invalid_request']);
    }
  });
});
