import { describe, expect, it } from 'vitest';
import { startReceiver } from '../support/receiver.ts';
import { changed, createWebhook, publishAll, settled } from '../support/requests.ts';
import { type Client, eventually, useService } from '../support/service.ts';

// A whole schedule of retries passes in seconds.
const service = useService({ speed: 20_000, visibilitySpeed: 2000 });

interface Figure {
  at: string;
  webhook_id: string;
  type: string;
  delivered: number;
  attempts_failed: number;
  failed: number;
  skipped: number;
  canceled: number;
  latency_ms: { p50: number | null; p95: number | null; p99: number | null };
}
const deleted = { type: 'document.deleted', data: { document_key: 'a', revision: 1, origin: 'n' } };

async function figuresOf(client: Client, query = ''): Promise<Figure[]> {
  const { status, text, body } = await client('GET', `/v1/stats?${query}`);
  expect(status, text).toBe(200);
  expect(body.next_cursor).toBeNull();
  return body.data;
}

/** The sum over all hours or days, once it is what is expected. */
async function sumOf(client: Client, query: string, expected: Partial<Figure>): Promise<void> {
  let seen: object = {};
  await eventually(async () => {
    const rows = await figuresOf(client, query);
    const sum = (name: 'delivered') => rows.reduce((total, row) => total + row[name], 0);
    seen = Object.fromEntries(Object.keys(expected).map((name) => [name, sum(name as 'delivered')]));
    return JSON.stringify(seen) === JSON.stringify(expected);
  }).catch(() => expect(seen).toEqual(expected));
}

describe('the figures', () => {
  it('are what happened to every delivery, by webhook and type, by the hour and the day', async () => {
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
    const rows = await figuresOf(live, `by=day&webhook_id=${healthy.id}`);
    expect(new Set(rows.map(({ type }) => type))).toEqual(new Set(['document.changed', 'document.deleted']));
    for (const { at, webhook_id, latency_ms } of rows) {
      expect([at.slice(10), webhook_id]).toEqual(['T00:00:00.000Z', healthy.id]);
      expect(latency_ms.p50).toBeGreaterThan(0);
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

    expect(new Set((await figuresOf(live)).map(({ webhook_id }) => webhook_id))).toEqual(
      new Set([healthy.id, broken.id]),
    );
    expect(await figuresOf(project.admin, 'environment=sandbox')).toEqual([]);
    expect(await figuresOf(live, 'from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')).toEqual([]);
  });

  it('of a webhook that is not there, or of too long a time, are a problem', async () => {
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
    ]) {
      const { status, body } = await live('GET', `/v1/stats?${query}`);
      expect([status, body.code], query).toEqual([400, 'invalid_request']);
    }
  });
});
