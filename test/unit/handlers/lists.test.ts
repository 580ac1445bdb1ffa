import { beforeAll, describe, expect, it } from 'vitest';
import { itemKey, LOG_PARTITIONS, logPartitionOf, logPartitions, statusIndexEntry } from '../../../lib/aws/items.ts';
import { earliestId } from '../../../lib/ids.ts';
import { mint, pagesOf, put, sync } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook } from '../../support/requests.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
let live: Client;
let webhookId: string;

const DOCUMENTS = 1500;
const DELIVERIES = 4000;
const number = (i: number) => String(i).padStart(6, '0');

beforeAll(async () => {
  const project = await service.project();
  live = await project.client('live');
  webhookId = (await createWebhook(live, 'https://example.com/')).id;
  const space = { projectId: project.id, environment: 'live' } as const;
  const now = service.clock.now();
  const document = (i: number) => ({
    ...itemKey.document(space, `many:${number(i)}:d`),
    ...{ revision: 1, fields: '{"a":1}', marks: '{}', floor: [0, ''], deleted: false, createdAt: now, updatedAt: now },
  });
  const revision = (i: number) => ({ ...itemKey.revision(space, `many:${number(i)}:d`), revision: 1 });
  const eventIdOf = (i: number) => `${earliestId('evt', now - i)}${'0'.repeat(16)}`;
  // One in each thousand, each in a separate partition, because two in one partition can need another query.
  const failed = logPartitions()
    .slice(0, DELIVERIES / 1000)
    .map((partition, k) => {
      const candidates = Array.from({ length: 1000 }, (_, i) => 1000 * k + i);
      return candidates.find((i) => logPartitionOf(eventIdOf(i)) === partition);
    });
  const delivery = (i: number) => {
    const eventId = eventIdOf(i);
    const status = failed.includes(i) ? 'failed' : 'succeeded';
    const record = { webhookId, eventId, eventType: 'document.deleted', status, run: 0, attempt: 1, attempts: [] };
    const { byStatus } = statusIndexEntry(webhookId, eventId, status);
    return {
      ...itemKey.delivery(webhookId, eventId),
      ...record,
      ...(byStatus && { byStatus }),
      createdAt: now - i,
      expires: now,
    };
  };
  const items = [
    ...Array.from({ length: DOCUMENTS }, (_, i) => [document(i), revision(i)]).flat(),
    ...Array.from({ length: DELIVERIES }, (_, i) => delivery(i)),
  ];
  service.db.put(items);
  await put(live, 'zz:nothing', {});
});

/** Reads a complete list. Returns its entries and the maximum number of queries per page. */
async function walk(client: Client, path: string): Promise<{ items: string[]; pages: number; queriesMax: number }> {
  let queriesMax = 0;
  const counting: Client = async (...request) => {
    let queries = 0;
    service.faults.command = (name) => {
      if (name === 'Query') queries++;
      return undefined;
    };
    const answer = await client(...request);
    delete service.faults.command;
    queriesMax = Math.max(queriesMax, queries);
    return answer;
  };
  const pages = await pagesOf(counting, path);
  const items = pages.flat().map(({ document_key, event_id }) => document_key ?? event_id);
  return { items, pages: pages.length, queriesMax };
}

describe('a list', () => {
  it('needs few queries and is complete for a token whose pattern matches few of many documents', async () => {
    const token = service.as(await mint(live, ['*:nothing'], ['read'], 600));
    const found = await walk(token, '/v1/documents?limit=1');
    expect(found.items).toEqual(['zz:nothing']);
    expect(found.queriesMax).toBeLessThanOrEqual(10);
  });

  it('reads little more than the matching documents for a token with narrow patterns', async () => {
    const patterns = [`many:${number(17)}:d`, 'many:001499:*', 'zz:*', 'none:*'];
    const token = service.as(await mint(live, patterns, ['read'], 600));
    const found = await walk(token, '/v1/documents?limit=100');
    expect(found).toMatchObject({ items: ['many:000017:d', 'many:001499:d', 'zz:nothing'], pages: 1 });
    expect(found.queriesMax).toBeLessThanOrEqual(patterns.length);
    expect((await walk(token, '/v1/documents?prefix=many:001499')).items).toEqual(['many:001499:d']);
  });

  it('lists all documents once, in pages of any size', async () => {
    const { items, pages } = await walk(live, '/v1/documents?prefix=many&limit=97');
    expect(new Set(items).size).toBe(DOCUMENTS);
    expect([items.length, pages]).toEqual([DOCUMENTS, Math.ceil(DOCUMENTS / 97)]);
  });

  it('reads only matching deliveries, with one query for each partition and page', async () => {
    for (const limit of [1, 3, 100]) {
      const found = await walk(live, `/v1/webhooks/${webhookId}/deliveries?status=failed&limit=${limit}`);
      expect(found.items).toHaveLength(DELIVERIES / 1000);
      expect(found.queriesMax).toBe(LOG_PARTITIONS);
    }
    const found = await walk(live, `/v1/webhooks/${webhookId}/deliveries?type=connection.lost&limit=100`);
    expect(found.items).toEqual([]);
    expect(found.queriesMax).toBeLessThanOrEqual(4 * LOG_PARTITIONS);
  });
});

it('a sync ends page by page for a pattern that matches few of many documents, and has 50 changes in a page by default', async () => {
  const changes: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { body } = await sync(live, { pattern: '*:nothing', limit: 1, ...(cursor && { cursor }) });
    changes.push(...body.changes.map(({ document_key }: { document_key: string }) => document_key));
    if (!body.has_more) break;
    cursor = body.cursor;
  }
  expect(changes).toEqual(['zz:nothing']);
  expect((await sync(live)).body.changes).toHaveLength(50);
});

const wide = (value: string) =>
  Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${number(i)}`, value.repeat(112)]));

it('a write is rejected if its events would be too large, and nothing is stored', async () => {
  const client = await (await service.project()).client('live');
  expect((await put(client, 'wide', wide('a'), { 'X-Node-Id': 'n'.repeat(64) })).status).toBe(201);
  const refused = await put(client, 'wide', wide('b'), { 'X-Node-Id': 'n'.repeat(64) });
  expect([refused.status, refused.body.code]).toEqual([413, 'payload_too_large']);
  expect(refused.body.detail).toContain('events');
  expect((await client('GET', '/v1/documents/wide')).body.revision).toBe(1);

  // The event of the change is too large, but that of the conflict is not.
  await client('PATCH', '/v1/documents/wide', { body: { fields: { f000000: 'b' } } });
  const pushes = ['wide', 'small'].map((document_key) => ({
    ...{ op: 'patch', document_key, base_revision: document_key === 'wide' ? 1 : 0 },
    fields: document_key === 'wide' ? wide('c') : { a: 1 },
  }));
  const { body } = await sync(client, { push: pushes });
  expect(body.results.map(({ status, code }: Record<string, string>) => [status, code])).toEqual([
    ['rejected', 'payload_too_large'],
    ['applied', undefined],
  ]);
});
