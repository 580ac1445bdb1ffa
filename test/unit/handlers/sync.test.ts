import { afterEach, describe, expect, it } from 'vitest';
import { CYCLE_MS } from '../../../lib/documents/cycle.ts';
import { bytesSent, MAX_PAGE_BYTES } from '../../../lib/http/page.ts';
import { canceled, code, get, listed, mint, put, sync } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Answer } from '../../support/service.ts';

const service = memoryService();
afterEach(() => {
  service.faults.command = undefined;
});
const live = async () => (await service.project()).client('live');

describe('a sync', () => {
  it('pushes each change independently and pulls missing changes, including deletions', async () => {
    const client = await live();
    await put(client, 'org:a', { x: 1 });
    await put(client, 'org:b', { x: 1 });
    await put(client, 'other', { x: 1 });
    await client('DELETE', '/v1/documents/org:b');
    await client('PATCH', '/v1/documents/org:a', { body: { fields: { x: 2 } }, headers: { 'X-Node-Id': 'node-2' } });
    const push = [
      { op: 'patch', document_key: 'org:a', base_revision: 1, fields: { y: 1 } },
      { op: 'patch', document_key: 'org:a', base_revision: 1, fields: { x: 4 }, on_conflict: 'reject' },
      { op: 'patch', document_key: 'org:a', base_revision: 1, fields: { x: 3 } },
      { op: 'patch', document_key: 'org:a', base_revision: 99, fields: { x: 4 } },
      { op: 'put', document_key: 'org:c', base_revision: 0, fields: { z: 1 } },
      { op: 'put', document_key: 'org:c', base_revision: 0, fields: { z: 1 } },
      { op: 'delete', document_key: 'other', base_revision: 1 },
      { op: 'delete', document_key: 'org:none', base_revision: 0 },
      { op: 'put', document_key: 'org:big', base_revision: 0, fields: { a: 'x'.repeat(128 * 1024) } },
    ];
    const { status, body } = await sync(client, { pattern: 'org:*', push, known: { 'org:b': 1 } });
    expect(status).toBe(200);
    expect(
      body.results.map((result: { status: string; code?: string; revision: number }) => [
        result.status,
        result.revision,
        result.code,
      ]),
    ).toEqual([
      ['applied', 3, undefined],
      ['rejected', null, 'conflict'],
      ['merged', 4, undefined],
      ['rejected', null, 'conflict'],
      ['applied', 1, undefined],
      ['unchanged', 1, undefined],
      ['applied', 2, undefined],
      ['unchanged', null, undefined],
      ['rejected', null, 'payload_too_large'],
    ]);
    expect(body.results[2].conflicts).toEqual([
      {
        field: 'x',
        winner: { value: 3, origin: 'node-1', revision: 4 },
        loser: { value: 2, origin: 'node-2', revision: 2 },
      },
    ]);
    expect(body.changes).toEqual([
      { document_key: 'org:a', revision: 4, deleted: false, fields: { x: 3, y: 1 } },
      { document_key: 'org:b', revision: 2, deleted: true, fields: null },
      { document_key: 'org:c', revision: 1, deleted: false, fields: { z: 1 } },
    ]);
    expect([body.cursor, body.has_more]).toEqual([null, false]);
    expect(await listed(client, '/v1/events?type=sync.completed')).toMatchObject([
      { data: { sync_id: body.sync_id, pattern: 'org:*', pushed: 4, pulled: 3, conflicts: 2 } },
    ]);
    expect(await listed(client, '/v1/events?type=sync.conflict')).toMatchObject([
      { data: { sync_id: body.sync_id, document_key: 'org:a', base_revision: 1 } },
    ]);
    const again = '{"node_id":"n","pattern":"org:*","push":[],"known":{"org:a":4.0,"org:b":2,"org:c":1e0}}';
    expect((await client('POST', '/v1/sync', { body: again })).body.changes).toEqual([]);
  });

  it('has pages, completes once, and converges', async () => {
    const client = await live();
    for (let i = 0; i < 5; i++) await put(client, `d:${i}`, { i });
    const push = [{ op: 'put', document_key: 'd:0', base_revision: 0, fields: { i: 9 } }];
    const known: Record<string, number> = {};
    let cursor: string | null = null;
    for (let pages = 0; pages < 10; pages++) {
      const { body } = await sync(client, { limit: 2, ...(cursor ? { cursor } : { push }) });
      for (const { document_key, revision } of body.changes) known[document_key] = revision;
      cursor = body.cursor;
      if (!body.has_more) break;
    }
    expect(known).toEqual({ 'd:0': 2, 'd:1': 1, 'd:2': 1, 'd:3': 1, 'd:4': 1 });
    const completed = await listed(client, '/v1/events?type=sync.completed');
    const data = { node_id: 'node-1', pattern: '*', pushed: 1, pulled: 5, conflicts: 1 };
    expect(completed).toMatchObject([{ data }]);
    const { started_at, completed_at } = completed[0].data;
    expect(Date.parse(completed_at)).toBeGreaterThan(Date.parse(started_at));
    for (const cursor of ['', 'x.y']) expect(code(await sync(client, { cursor }))).toEqual([400, 'invalid_cursor']);
  });

  it('repeats the results of its pushes for a day under its sync_id, which then needs a new name', async () => {
    const client = await live();
    const push = [{ op: 'put', document_key: 'a', base_revision: 0, fields: { a: 1 } }];
    const cycle = { sync_id: 'nightly', push };
    const { results } = (await sync(client, cycle)).body;
    expect(results).toMatchObject([{ status: 'applied', revision: 1 }]);
    // The response was lost.
    expect((await sync(client, cycle)).body).toMatchObject({ sync_id: 'nightly', results, has_more: false });
    const other = { ...cycle, push: [{ ...push[0], document_key: 'b' }] };
    expect(code(await sync(client, other))).toEqual([409, 'conflict']);
    expect(await get(client, 'b')).toMatchObject({ code: 'not_found' });
    await service.clock.advance(CYCLE_MS - 10);
    expect((await sync(client, cycle)).body.results).toEqual(results);
    await service.clock.advance(10);
    expect(code(await sync(client, cycle))).toEqual([409, 'conflict']);
    expect((await sync(client, { ...cycle, sync_id: 'nightly-2' })).status).toBe(200);
    const completed = await listed(client, '/v1/events?type=sync.completed');
    expect(completed.map(({ data }) => data.sync_id)).toEqual(['nightly-2', 'nightly']);
  });

  it('can repeat each page, also after its end, and completes once', async () => {
    const client = await live();
    for (const key of ['a', 'b', 'c']) await put(client, key, {});
    const cycle = { sync_id: 'paged', limit: 2 };
    const changesOf = async (page: object) => (await sync(client, page)).body.changes;
    const { cursor, changes } = (await sync(client, cycle)).body;
    const last = { ...cycle, cursor };
    const rest = await changesOf(last);
    expect([...changes, ...rest]).toMatchObject(['a', 'b', 'c'].map((document_key) => ({ document_key })));
    await service.clock.advance(60 * 60 * 1000);
    expect(await changesOf(last)).toEqual(rest);
    expect(await changesOf(cycle)).toEqual(changes);
    expect(await listed(client, '/v1/events?type=sync.completed')).toHaveLength(1);
  });

  it('cannot be started again or continued by another credential, or continued as another cycle', async () => {
    const project = await service.project();
    const key = await project.client('live');
    const token = async () => service.as(await mint(key, ['*'], ['read', 'write']));
    const [client, otherToken, otherKey] = [await token(), await token(), await project.client('live')];
    for (const name of ['a', 'b']) await put(key, name, {});
    const cycle = { sync_id: 'of-a-token', limit: 1 };
    const { cursor } = (await sync(client, cycle)).body;
    for (const other of [otherToken, key, otherKey]) {
      expect(code(await sync(other, cycle))).toEqual([409, 'conflict']);
      expect(code(await sync(other, { ...cycle, cursor }))).toEqual([400, 'invalid_cursor']);
    }
    for (const other of [{ pattern: 'b' }, { node_id: 'node-2' }])
      expect(code(await sync(client, { ...cycle, ...other, cursor }))).toEqual([400, 'invalid_cursor']);
    const next = { push: [], known: { a: 1 }, limit: 2 };
    expect((await sync(client, { ...cycle, ...next, cursor })).status).toBe(200);
    const { cursor: ofLive } = (await sync(project.admin, { limit: 1 })).body;
    const body = { node_id: 'node-1', pattern: '*', push: [], known: {}, cursor: ofLive };
    const inSandbox = await project.admin('POST', '/v1/sync?environment=sandbox', { body });
    expect(code(inSandbox)).toEqual([400, 'invalid_cursor']);
  });

  it.each([
    ['fails internally, with a report', () => new Error('broken'), ['sync.push_failed']],
    ['AWS throttles, with a report', () => canceled('ThrottlingError'), ['sync.push_failed']],
    ['always loses to other writers, without a report', () => canceled('ConditionalCheckFailed'), []],
  ])('rejects a push that %s, and applies the others', async (_, fault, reported) => {
    const client = await live();
    const before = service.log.length;
    service.faults.command = (name, input) =>
      name === 'TransactWrite' && JSON.stringify(input).includes('"b"') ? fault() : undefined;
    const push = ['a', 'b', 'c'].map((document_key) => ({ op: 'put', document_key, base_revision: 0, fields: {} }));
    const outcomes = ({ body }: Answer) =>
      body.results.map(({ status, code }: Record<string, string>) => [status, code]);
    const partial = await sync(client, { push });
    expect(outcomes(partial)).toEqual([
      ['applied', undefined],
      ['rejected', 'unavailable'],
      ['applied', undefined],
    ]);
    const request_id = partial.headers['x-request-id'];
    expect(service.log.slice(before)).toEqual(reported.map((message) => JSON.stringify({ message, request_id })));
    service.faults.command = undefined;
    expect(outcomes(await sync(client, { push: push.slice(1, 2) }))).toEqual([['applied', undefined]]);
  });

  it('changes nothing in a document after a failed push to it, whose outcome is unknown', async () => {
    const client = await live();
    const failing = [new Error('The response is lost')];
    service.faults.around = async ({ name }, act) => {
      const result = await act();
      if (name === 'TransactWrite' && failing.length > 0) throw failing.pop();
      return result;
    };
    const push = [1, 2].map((n) => ({ op: 'put', document_key: 'e', base_revision: n - 1, fields: { n } }));
    const cycle = { sync_id: 'unknown-outcome', push };
    const results = async () => (await sync(client, cycle)).body.results;
    const failed = { status: 'rejected', code: 'unavailable', revision: null };
    expect(await results()).toMatchObject([failed, { ...failed, detail: expect.stringMatching(/earlier push/) }]);
    expect((await client('GET', '/v1/documents/e')).body).toMatchObject({ revision: 1, fields: { n: 1 } });
    service.faults.around = undefined;
    expect(await results()).toMatchObject([
      { status: 'applied', revision: 1 },
      { status: 'applied', revision: 2 },
    ]);
  });

  it('rejects pushes after the results have half the size of a response, and fills the rest with changes', async () => {
    const client = await live();
    await put(client, 'd', { a: 0 });
    await put(client, 'd', { a: 'x'.repeat(100_000) }, { 'X-Node-Id': 'node-2' });
    const pushes = (length: number, bytes: number) =>
      Array.from({ length }, () => ({
        ...{ op: 'patch', document_key: 'd', base_revision: 1, on_conflict: 'keep_server' },
        fields: { a: 'y'.repeat(bytes) },
      }));
    const [result] = (await sync(client, { push: pushes(1, 0) })).body.results;
    // 20 results have exactly half the size, so another push has room.
    const missing = MAX_PAGE_BYTES / 2 / 20 - bytesSent(result);
    const { body } = await sync(client, { push: pushes(23, missing) });
    const codes = body.results.map(({ code }: { code?: string }) => code);
    expect(codes).toEqual([...Array(21).fill(undefined), ...Array(2).fill('payload_too_large')]);
    // The changes share the response with the results.
    for (let i = 0; i < 30; i++) await put(client, `e${i}`, { a: 'x'.repeat(100_000) });
    const full = await sync(client, { push: pushes(23, missing) });
    expect(full.body.has_more).toBe(true);
    expect(bytesSent(full.body)).toBeLessThan(MAX_PAGE_BYTES + 1024);
  });
});
