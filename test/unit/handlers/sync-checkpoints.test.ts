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
    const { items, ...snapshot } = await service.snapshot();
    const others = items.filter(({ pk }) => pk !== LAYOUT_KEY.pk);
    const from = { ...snapshot, items: [...others, { ...LAYOUT_KEY, layout: LAYOUT, epoch: 7 }] };
    const restored = memoryService({ from });
    client = restored.as(project.adminKey);
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
});
