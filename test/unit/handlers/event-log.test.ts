import { beforeAll, describe, expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { code, pagesOf, put } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook, publishAll } from '../../support/requests.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
let live: Client;

const deleted = (document_key: string, revision: number) => ({
  type: 'document.deleted',
  data: { document_key, revision, origin: 'n' },
});

/** Returns every event of a list, page by page. */
const all = async (client: Client, query: string) => (await pagesOf(client, `/v1/events?${query}`)).flat();

describe('events', () => {
  let ids: string[];
  let document: { created_at: string; updated_at: string };

  beforeAll(async () => {
    live = await (await service.project()).client('live');
    await put(live, 'org:acme:a', { title: 'Draft' });
    ({ body: document } = await put(live, 'org:acme:a', { title: 'Final' }));
    ids = await publishAll(
      live,
      Array.from({ length: 30 }, (_, i) => deleted(`org:acme:${i % 3}`, i + 1)),
    );
    const { id } = await createWebhook(live, 'http://127.0.0.1:9/');
    await live('POST', `/v1/webhooks/${id}/test`, { body: { type: 'document.deleted' } });
  });

  it('are listed newest first, including events of writes, but without test events', async () => {
    const found = await all(live, 'limit=7');
    expect(found).toHaveLength(32);
    expect(found.map(({ timestamp }) => timestamp)).toEqual(
      found
        .map(({ timestamp }) => timestamp)
        .sort()
        .reverse(),
    );
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set([...ids, ...found.slice(-2).map(({ id }) => id)]));
  });

  it('list the changes of a document', async () => {
    const found = await all(live, 'document_key=org:acme:a');
    expect(found.map(({ type, data, timestamp }) => [type, data.revision, timestamp])).toEqual([
      ['document.changed', 2, document.updated_at],
      ['document.created', 1, document.created_at],
    ]);
    expect(await all(live, 'document_key=org:acme:1&type=document.deleted')).toHaveLength(10);
    expect(await all(live, 'document_key=org:acme:1&type=sync.conflict')).toEqual([]);
  });

  it('are found by type and time', async () => {
    const [newest] = await all(live, 'type=document.deleted&limit=100');
    const between = `since=${newest?.timestamp}&until=9999-12-31T00:00:00Z`;
    expect((await all(live, between)).map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(await all(live, `until=${newest?.timestamp}&type=document.deleted`)).toEqual([]);
  });

  it('are listed by any text that an event can have as its document key', async () => {
    const client = await (await service.project()).client('live');
    for (const key of ['folder/Entwurf 1 é', 'a:*', ':', 'x'.repeat(512)]) {
      const { body } = await client('POST', '/v1/events', { body: deleted(key, 1) });
      const found = await all(client, `document_key=${encodeURIComponent(key)}`);
      expect(found.map(({ id }) => id)).toEqual([body.id]);
    }
  });
});

describe('an event', () => {
  it('is listed as it is delivered, with the deepest values and every digit', async () => {
    const client = await (await service.project()).client('live');
    const write = async (method: string, value: string, members = '') => {
      const body = `{"fields":{"a":${'['.repeat(198)}${value}${']'.repeat(198)}}${members}}`;
      expect((await client(method, '/v1/documents/deep', { body })).status).toBeLessThan(300);
    };
    await write('PUT', '12345678901234567890,1e400,1.0');
    await write('PATCH', '2');
    await write('PATCH', '3', ',"base_revision":1');
    const { text, body } = await client('GET', '/v1/events');
    const types = ['document.changed', 'document.changed', 'document.created', 'sync.conflict'];
    expect(body.data.map(({ type }: { type: string }) => type).sort()).toEqual(types);
    expect(text).toContain('12345678901234567890,1e400,1.0');
    for (const { id } of body.data) expect(text).toContain((await client('GET', `/v1/events/${id}`)).text);
  });
});

describe('a large event', () => {
  it('is rejected alone and in a batch, and nothing is stored', async () => {
    const client = await (await service.project()).client('live');
    const event = (bytes: number) => changed({ note: 'x'.repeat(bytes) });
    for (const [path, body] of [
      ['/v1/events', event(256 * 1024)],
      ['/v1/events/batch', { events: [changed(), event(256 * 1024)] }],
    ] as const)
      expect(code(await client('POST', path, { body }))).toEqual([413, 'payload_too_large']);
    expect(await all(client, '')).toEqual([]);
    expect((await client('POST', '/v1/events', { body: event(255 * 1024) })).status).toBe(202);
  });
});
