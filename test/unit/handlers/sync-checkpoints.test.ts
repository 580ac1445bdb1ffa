import { beforeEach, describe, expect, it } from 'vitest';
import { LAYOUT, LAYOUT_KEY } from '../../../lib/deployment.ts';
import { OVERLAP_MS } from '../../../lib/documents/change-log.ts';
import { changesOf, checkpointOf, code, mint, put, resumeSync, sync } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
let project: Awaited<ReturnType<typeof service.project>>;
let client: Client;

beforeEach(async () => {
  project = await service.project();
  client = await project.client('live');
});

const resume = (since: string, more: object = {}) => resumeSync(client, since, more);

describe('a checkpoint', () => {
  it('is that of the last page, and no token without read receives one', async () => {
    for (const key of ['a', 'b', 'c']) await put(client, key, {});
    const first = await sync(client, { limit: 2 });
    expect([first.body.has_more, first.body.checkpoint]).toEqual([true, null]);
    const last = await sync(client, { limit: 2, cursor: first.body.cursor });
    expect([last.body.has_more, typeof last.body.checkpoint]).toEqual([false, 'string']);
    const writer = service.as(await mint(client, ['*'], ['write']));
    const push = [{ op: 'delete', document_key: 'a', base_revision: 1 }];
    expect((await sync(writer, { push })).body).toMatchObject({ has_more: false, checkpoint: null, changes: [] });
  });

  it('starts a cycle with the documents that changed since, deleted ones included, and no others', async () => {
    for (const key of ['a', 'b', 'c', 'd']) await put(client, key, { n: 1 });
    await service.clock.advance(OVERLAP_MS + 1000);
    const first = await sync(client);
    expect(changesOf(first)).toHaveLength(4);
    await service.clock.advance(1000);
    await put(client, 'b', { n: 2 });
    await client('DELETE', '/v1/documents/c');
    await put(client, 'e', {});
    await put(client, 'd', { n: 1 }); // changes nothing
    const second = await resume(checkpointOf(first));
    expect(changesOf(second)).toEqual(['b 2', 'c 2', 'e 1']);
    await service.clock.advance(OVERLAP_MS + 1000);
    const third = await resume(checkpointOf(second));
    expect(changesOf(third)).toEqual(['b 2', 'c 2', 'e 1']); // of the minute before the checkpoint
    expect(changesOf(await resume(checkpointOf(third)))).toEqual([]);
  });

  it('continues in pages, to which neither it nor the pushes of the first page belong', async () => {
    const checkpoint = checkpointOf(await sync(client));
    const push = ['a', 'b', 'c'].map((document_key) => ({ op: 'put', document_key, base_revision: 0, fields: {} }));
    const first = await resume(checkpoint, { limit: 2, push });
    expect(changesOf(first)).toEqual(['a 1', 'b 1']);
    const { cursor } = first.body;
    for (const more of [{}, { known: undefined }, { since: checkpoint, known: undefined }])
      expect(changesOf(await sync(client, { limit: 2, cursor, ...more }))).toEqual(['c 1']);
  });

  it('can be sent with an empty list of known documents', async () => {
    const since = checkpointOf(await sync(client));
    await put(client, 'a', {});
    expect(changesOf(await sync(client, { since, known: {} }))).toEqual(['a 1']);
  });

  it('is valid for every credential that covers the same patterns, in any order', async () => {
    const patterns = ['a:*', 'b:*'];
    const several = { pattern: undefined, patterns };
    const checkpoint = checkpointOf(await sync(client, several));
    const reader = service.as(await mint(client, ['*'], ['read']));
    const again = {
      ...several,
      patterns: patterns.toReversed(),
      node_id: 'other',
      known: undefined,
      since: checkpoint,
    };
    expect((await sync(reader, again)).status).toBe(200);
    const single = checkpointOf(await sync(client, { pattern: 'a:*' }));
    expect((await resume(single, { pattern: undefined, patterns: ['a:*'] })).status).toBe(200);
  });

  it('is invalid for other patterns, environments and projects, and so is anything else', async () => {
    for (const key of ['a:1', 'a:2']) await put(client, key, {});
    const { admin } = project;
    const body = { node_id: 'node-1', pattern: 'a:*', push: [] };
    const { body: first } = await sync(client, { pattern: 'a:*' });
    const { cursor } = (await sync(client, { pattern: 'a:*', limit: 1 })).body;
    const invalid = [400, 'invalid_cursor'];
    const since = first.checkpoint;
    for (const other of [{ pattern: 'a:1' }, { pattern: '*' }, { pattern: undefined, patterns: ['a:*', 'b'] }])
      expect(code(await resume(since, other))).toEqual(invalid);
    const send = (from: Client, query = '') => from('POST', `/v1/sync${query}`, { body: { ...body, since } });
    expect((await send(admin)).status).toBe(200);
    expect(code(await send(admin, '?environment=sandbox'))).toEqual(invalid);
    expect(code(await send((await service.project()).admin))).toEqual(invalid);
    for (const text of ['', 'x.y', `${since}A`, since.slice(1), cursor])
      expect(code(await resume(text, { pattern: 'a:*' })), text).toEqual(invalid);
    expect(code(await sync(client, { pattern: 'a:*', cursor: since }))).toEqual(invalid);
    expect(code(await sync(client, { pattern: 'a:*', since, known: { 'a:1': 1 } }))).toEqual([400, 'invalid_request']);
  });

  it('needs the epoch of the table, which a restore raises', async () => {
    for (const key of ['a', 'c']) await put(client, key, { n: 1 });
    const since = checkpointOf(await sync(client));
    const { cursor } = (await sync(project.admin, { limit: 1 })).body;
    client = (await restored()).as(project.adminKey);
    for (const { status, body } of [await resume(since), await sync(client, { cursor })]) {
      expect([status, body.code]).toEqual([409, 'resync_required']);
      expect(body.detail).toMatch(/without since and cursor/);
    }
    const push = [{ op: 'patch', document_key: 'a', base_revision: 1, fields: { n: 2 } }];
    const { results, changes, checkpoint } = (await sync(client, { pattern: 'a', push, known: { a: 1 } })).body;
    const revision = 700_000_000_001;
    expect(results).toMatchObject([{ status: 'applied', revision }]);
    expect(changes).toMatchObject([{ document_key: 'a', revision, fields: { n: 2 } }]);
    expect((await put(client, 'b', {})).body.revision).toBe(revision);
    expect((await put(client, 'b', { n: 1 })).body.revision).toBe(revision + 1);
    expect((await resume(checkpoint, { pattern: 'a' })).status).toBe(200);
  });

  describe('of an earlier epoch', () => {
    const push = [{ op: 'patch', document_key: 'a', base_revision: 1, fields: { n: 2 } }];
    const named = { sync_id: 'cycle-1', pattern: 'a', push };

    beforeEach(async () => {
      client = project.admin;
      await put(client, 'a', { n: 1 });
    });

    it('is rejected together with pushes that had no effect', async () => {
      const since = checkpointOf(await sync(client, { pattern: 'a' }));
      client = (await restored()).as(project.adminKey);
      expect(code(await resume(since, named))).toEqual([409, 'resync_required']);
      expect((await client('GET', '/v1/documents/a')).body.revision).toBe(1);
    });

    it('does not hide the results of a repeated push, and does not apply it again', async () => {
      const since = checkpointOf(await sync(client, { pattern: 'a' }));
      const first = await resume(since, named);
      client = (await restored()).as(project.adminKey);
      await put(client, 'a', { n: 3 });
      const again = await resume(since, named);
      expect(again.body).toMatchObject({ results: first.body.results, changes: [], checkpoint: null, has_more: true });
      expect((await client('GET', '/v1/documents/a')).body.fields).toEqual({ n: 3 });
      const next = await resume(since, { ...named, push: [], cursor: again.body.cursor });
      expect(code(next)).toEqual([409, 'resync_required']);
    });

    it('lets a later page push, once, and return its results', async () => {
      await put(client, 'b', {});
      const { cursor } = (await sync(client, { limit: 1 })).body;
      const page = { limit: 1, push, cursor };
      const first = await sync(client, page);
      client = (await restored()).as(project.adminKey);
      await put(client, 'a', { n: 3 });
      const again = await sync(client, page);
      expect(again.body).toMatchObject({ results: first.body.results, changes: [], has_more: true });
      expect((await client('GET', '/v1/documents/a')).body.fields).toEqual({ n: 3 });
    });
  });
});

/** The service after a restore to the present state. */
async function restored() {
  const { items, ...snapshot } = await service.snapshot();
  const others = items.filter(({ pk }) => pk !== LAYOUT_KEY.pk);
  return memoryService({ from: { ...snapshot, items: [...others, { ...LAYOUT_KEY, layout: LAYOUT, epoch: 7 }] } });
}
