import { beforeEach, describe, expect, it } from 'vitest';
import { ON_CONFLICT } from '../../../lib/documents/document.ts';
import { MAX_EVENT_BYTES } from '../../../lib/events/event.ts';
import { code, get, listed, mint, put, sync } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
let client: Client;

beforeEach(async () => {
  client = await (await service.project()).client('live');
});

const theirs = { 'X-Node-Id': 'phone' };
const patch = (fields: object, more: object = {}) => ({
  op: 'patch',
  document_key: 'd',
  base_revision: 1,
  fields,
  ...more,
});
const outcomes = ({ body }: Awaited<ReturnType<Client>>) =>
  body.results.map(({ status, code, revision }: Record<string, unknown>) => code ?? `${status} ${revision}`);
const conflicts = () => listed(client, '/v1/events?type=sync.conflict');

describe('two pushes of one request to one document', () => {
  it.each(ON_CONFLICT)('have no conflict with each other: %s', async (on_conflict) => {
    await put(client, 'd', { a: 1 });
    const push = [1, 2, 3].map((n) => patch({ a: `edit ${n}` }, { on_conflict }));
    expect(outcomes(await sync(client, { push }))).toEqual(['applied 2', 'applied 3', 'applied 4']);
    expect(await get(client, 'd')).toMatchObject({ fields: { a: 'edit 3' } });
    expect(await conflicts()).toEqual([]);
  });

  it.each(ON_CONFLICT)('can create, change, delete and create again: %s', async (on_conflict) => {
    const more = { base_revision: 0, on_conflict };
    const created = { ...patch({ a: 1 }, more), op: 'put' };
    const removed = { op: 'delete', document_key: 'd', ...more };
    const push = [created, patch({ a: 2 }, more), removed, patch({ b: 1 }, more), removed];
    const expected = [1, 2, 3, 4, 5].map((revision) => `applied ${revision}`);
    expect(outcomes(await sync(client, { push }))).toEqual(expected);
    expect((await client('GET', '/v1/documents/d')).status).toBe(404);
    expect(await conflicts()).toEqual([]);
  });

  it.each([
    ['keep_server', ['unchanged 2', 'applied 3', 'unchanged 3'], { a: 'theirs', b: 'mine' }],
    ['reject', ['conflict', 'applied 3', 'conflict'], { a: 'theirs', b: 'mine' }],
    ['last_write_wins', ['merged 3', 'applied 4', 'applied 5'], { a: 'later', b: 'mine' }],
  ])('still have a conflict with a change of another node: %s', async (on_conflict, expected, fields) => {
    await put(client, 'd', { a: 1, b: 1 });
    await client('PATCH', '/v1/documents/d', { body: { fields: { a: 'theirs' } }, headers: theirs });
    const push = [{ a: 'mine' }, { b: 'mine' }, { a: 'later' }].map((each) => patch(each, { on_conflict }));
    expect(outcomes(await sync(client, { push }))).toEqual(expected);
    expect(await get(client, 'd')).toMatchObject({ fields });
  });

  it('do not hide a conflict with a change between the requests, in a repeat either', async () => {
    await put(client, 'd', { a: 1 });
    const cycle = { sync_id: 'own', push: [patch({ a: 'first' })] };
    await sync(client, cycle);
    await client('PATCH', '/v1/documents/d', { body: { fields: { a: 'theirs' } }, headers: theirs });
    const longer = { ...cycle, push: [...cycle.push, patch({ a: 'second' })] };
    expect(outcomes(await sync(client, longer))).toEqual(['applied 2', 'merged 4']);
  });
});

describe('a push with a defect', () => {
  const fields = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}`, 0]));
  const DEFECTS: [string, unknown, code: string, detail: RegExp][] = [
    ['a key with a space', patch({}, { document_key: 'a b' }), 'invalid_request', /document_key must be 1 to 16/],
    ['a key with an empty segment', patch({}, { document_key: 'a::b' }), 'invalid_request', /document_key/],
    ['a key of 600 characters', patch({}, { document_key: 'a'.repeat(600) }), 'invalid_request', /document_key/],
    ['no key', { op: 'delete', base_revision: 0 }, 'invalid_request', /document_key is required/],
    ['a key that is no text', patch({}, { document_key: 7 }), 'invalid_request', /document_key must be a string/],
    ['1,001 fields', patch(fields), 'invalid_request', /fields must have at most 1000/],
    ['no fields', { ...patch({}), fields: undefined }, 'invalid_request', /fields is required/],
    ['an unknown op', patch({}, { op: 'merge' }), 'invalid_request', /op must be one of/],
    ['an unknown member', patch({}, { more: 1 }), 'invalid_request', /more is not a known field/],
    ['a negative revision', patch({}, { base_revision: -1 }), 'invalid_request', /base_revision/],
    ['a later revision than that of the document', patch({}, { base_revision: 9 }), 'conflict', /after a restore/],
    ['no content', null, 'invalid_request', /./],
    ['a list as content', [], 'invalid_request', /./],
    ['over 128 KiB', patch({ a: 'x'.repeat(128 * 1024) }), 'payload_too_large', /131072 bytes/],
  ];

  it.each(DEFECTS)('is rejected alone, with a key and with a token: %s', async (_, push, expected, detail) => {
    await put(client, 'd', { a: 1 });
    const good = (n: number) => patch({ [`good${n}`]: n });
    const token = service.as(await mint(client, ['*', 'a:*'], ['read', 'write'], 600));
    for (const [i, caller] of [client, token].entries()) {
      const answer = await sync(caller, { push: [good(2 * i), push, good(2 * i + 1)] });
      expect(answer.status).toBe(200);
      const [before, rejected, after] = answer.body.results;
      expect([before.status, after.status]).toEqual(['applied', 'applied']);
      expect(rejected).toMatchObject({ status: 'rejected', revision: null, conflicts: [], code: expected });
      expect(rejected.detail).toMatch(detail);
    }
  });

  it('states at most five of its violations, and is the same in a repeat', async () => {
    const many = { op: 1, document_key: 1, base_revision: '', fields: 1, on_conflict: 1, more: 1 };
    const cycle = { sync_id: 'defect', push: [many] };
    const [result] = (await sync(client, cycle)).body.results;
    expect(result.detail.split(';')).toHaveLength(5);
    expect((await sync(client, cycle)).body.results).toEqual([result]);
  });

  it('does not excuse defects of the request', async () => {
    for (const members of [{ node_id: '' }, { pattern: 'a b' }, { limit: 0 }, { known: { a: -1 } }, { push: {} }])
      expect(code(await sync(client, { push: [null], ...members }))).toEqual([400, 'invalid_request']);
  });

  it.each(
    ON_CONFLICT,
  )('is rejected if its conflicts have more bytes than an event, also with a name: %s', async (on_conflict) => {
    await put(client, 'd', { a: 1 });
    await put(client, 'd', { a: 2 }, theirs);
    for (const bytes of [MAX_EVENT_BYTES, 900_000])
      for (const cycle of [{}, { sync_id: `large-${bytes}` }]) {
        const push = [patch({ a: 'x'.repeat(bytes) }, { on_conflict })];
        expect(outcomes(await sync(client, { push, ...cycle }))).toEqual(['payload_too_large']);
      }
    expect(service.failures).toEqual([]);
  });
});

describe('a patch of a document that was deleted after its revision', () => {
  beforeEach(async () => {
    await put(client, 'd', { a: 1, b: 1 });
    await client('DELETE', '/v1/documents/d', { headers: theirs });
  });

  it.each(['last_write_wins', 'keep_server'])('loses, with a conflict for each field: %s', async (on_conflict) => {
    const change = { fields: { a: 2, c: 3, missing: null }, base_revision: 1, on_conflict };
    const lost = (field: string, value: number) => ({
      field,
      winner: { value: null, origin: 'phone', revision: 2 },
      loser: { value, origin: 'node-1', revision: 1 },
    });
    const expected = [lost('a', 2), lost('c', 3)];
    const patched = await client('PATCH', '/v1/documents/d', { body: change, headers: { 'X-Node-Id': 'node-1' } });
    expect([patched.status, patched.body.deleted, patched.body.fields]).toEqual([200, true, {}]);
    expect(patched.body.conflicts).toEqual(expected);
    const { results, changes } = (await sync(client, { push: [{ op: 'patch', document_key: 'd', ...change }] })).body;
    expect(results).toMatchObject([{ status: 'unchanged', revision: 2, conflicts: expected }]);
    expect(changes).toEqual([{ document_key: 'd', revision: 2, deleted: true, fields: null }]);
    const data = { document_key: 'd', revision: 2, base_revision: 1, resolution: on_conflict, conflicts: expected };
    expect(await conflicts()).toMatchObject([{ data }, { data }]);
    expect((await client('GET', '/v1/documents/d')).status).toBe(404);
  });

  it('is rejected with reject, without an event', async () => {
    const change = { fields: { a: 2 }, base_revision: 1, on_conflict: 'reject' };
    expect(code(await client('PATCH', '/v1/documents/d', { body: change }))).toEqual([409, 'conflict']);
    expect(outcomes(await sync(client, { push: [{ op: 'patch', document_key: 'd', ...change }] }))).toEqual([
      'conflict',
    ]);
    expect(await conflicts()).toEqual([]);
  });

  it('creates it again at the revision of the deletion or without one, and so does a put', async () => {
    const body = { fields: { a: 2 } };
    expect((await client('PATCH', '/v1/documents/d', { body: { ...body, base_revision: 2 } })).status).toBe(201);
    await client('DELETE', '/v1/documents/d', { headers: theirs });
    expect((await client('PATCH', '/v1/documents/d', { body })).body).toMatchObject({ revision: 5, deleted: false });
    await client('DELETE', '/v1/documents/d', { headers: theirs });
    expect(outcomes(await sync(client, { push: [{ ...patch({ a: 3 }), op: 'put' }] }))).toEqual(['merged 7']);
  });

  it('changes nothing if it only removes fields', async () => {
    const push = [patch({ a: null })];
    expect(outcomes(await sync(client, { push }))).toEqual(['unchanged 2']);
    expect(await conflicts()).toEqual([]);
  });
});
