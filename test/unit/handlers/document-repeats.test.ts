import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_DOCUMENT_BYTES } from '../../../lib/documents/document.ts';
import { REPLAY_MS } from '../../../lib/http/replay.ts';
import { code, get, listed, mint, put } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
let project: Awaited<ReturnType<typeof service.project>>;
let client: Client;

beforeEach(async () => {
  project = await service.project();
  client = await project.client('live');
});

type Call = [method: 'PUT' | 'PATCH' | 'DELETE', body?: object];
const send = (from: Client, [method, body]: Call, headers: Record<string, string> = {}) =>
  from(method, '/v1/documents/d', { ...(body && { body }), headers: { 'Idempotency-Key': 'save-1', ...headers } });
const edit = { fields: { s: 'review' } };

describe('a repeated write with its Idempotency-Key', () => {
  it.each<[string, Call, after: (from: Client) => Promise<unknown>, expected: object]>([
    ['a PUT', ['PUT', edit], (from) => put(from, 'd', { s: 'published' }), { revision: 3, fields: { s: 'published' } }],
    [
      'a PATCH',
      ['PATCH', { ...edit, base_revision: 1 }],
      (from) => from('PATCH', '/v1/documents/d', { body: { fields: { s: 'published' }, base_revision: 2 } }),
      { revision: 3, fields: { s: 'published' } },
    ],
    [
      'a PATCH that had a conflict',
      ['PATCH', { ...edit, base_revision: 0 }],
      (from) => from('PATCH', '/v1/documents/d', { body: { fields: { s: 'published' } } }),
      { revision: 3, fields: { s: 'published' } },
    ],
    ['a DELETE', ['DELETE'], (from) => put(from, 'd', { s: 'new' }), { revision: 3, fields: { s: 'new' } }],
    [
      'a PUT of a document that is deleted since',
      ['PUT', edit],
      (from) => from('DELETE', '/v1/documents/d'),
      { code: 'not_found' },
    ],
  ])('returns the first response, and keeps a later change: %s', async (_, call, after, expected) => {
    await put(client, 'd', { s: 'draft' });
    const first = await send(client, call);
    expect(first.status).toBeLessThan(300);
    await after(await project.client('live'));
    const events = await listed(client, '/v1/events');
    const again = await send(client, call);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers).toMatchObject({
      'idempotency-replayed': 'true',
      ...(first.headers.etag && { etag: first.headers.etag }),
    });
    expect(await get(client, 'd')).toMatchObject(expected);
    expect(await listed(client, '/v1/events')).toHaveLength(events.length);
    await service.clock.advance(REPLAY_MS);
    expect((await send(client, call)).headers['idempotency-replayed']).toBeUndefined();
  });

  it.each([
    ['{"fields":{"b":[{"y":1.0,"x":2}],"a":{"__proto__":1,"1":12345678901234567890}}}', 200],
    ['{"fields" : {"a":{"1":12345678901234567890,"__proto__":1}, "b":[{"x":2,"y":1.0}]}}', 200],
    ['{"fields":{"a":{"__proto__":1,"1":12345678901234567891},"b":[{"x":2,"y":1.0}]}}', 422],
    ['{"fields":{"a":{"__proto__":1,"1":12345678901234567890},"b":[{"x":2,"y":1}]}}', 422],
    ['{"fields":{"a":{"2":1,"1":12345678901234567890},"b":[{"x":2,"y":1.0}]}}', 422],
  ])('ignores the order of members and white space, and nothing else: %s', async (body, status) => {
    await put(client, 'd', {});
    const first = '{"fields":{"a":{"__proto__":1,"1":12345678901234567890},"b":[{"x":2,"y":1.0}]}}';
    const write = (text: string) =>
      client('PUT', '/v1/documents/d', { body: text, headers: { 'Idempotency-Key': 'save-1' } });
    const { text } = await write(first);
    const again = await write(body);
    expect(again.status).toBe(status);
    if (status === 200) expect(again.text).toBe(text);
    expect((await get(client, 'd')).revision).toBe(2);
  });

  it('returns 422 for another body, document or operation', async () => {
    await send(client, ['PUT', edit]);
    for (const call of [['PUT', { fields: {} }], ['PATCH', edit], ['DELETE']] as Call[])
      expect(code(await send(client, call))).toEqual([422, 'idempotency_key_reused']);
    const other = await client('PUT', '/v1/documents/e', { body: edit, headers: { 'Idempotency-Key': 'save-1' } });
    expect(code(other)).toEqual([422, 'idempotency_key_reused']);
  });

  it.each<[string, Call, Record<string, string>, number]>([
    ['the document has another revision', ['PUT', edit], { 'If-Match': '"9"' }, 412],
    ['the document exists', ['PUT', edit], { 'If-None-Match': '*' }, 412],
    ['a field has a conflict', ['PATCH', { ...edit, base_revision: 0, on_conflict: 'reject' }], {}, 409],
    ['the document is too large', ['PUT', { fields: { a: 'x'.repeat(MAX_DOCUMENT_BYTES) } }], {}, 413],
  ])('runs again if it was rejected because %s', async (_, call, headers, status) => {
    await put(client, 'd', { s: 'draft' });
    expect((await send(client, call, headers)).status).toBe(status);
    expect((await send(client, ['PUT', { fields: { s: 'other' } }])).status).toBe(200);
  });

  it('repeats a response of the maximum size, whose request has stopped after its transaction', async () => {
    const fields = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, '"'.repeat(645)]));
    await put(client, 'd', { f0: 'theirs' }, { 'X-Node-Id': 'phone' });
    const call: Call = ['PATCH', { fields, base_revision: 0 }];
    let isStored = false;
    const stopped = new Promise<void>((resolve) => {
      service.faults.around = async ({ name }, act) => {
        if (isStored) return new Promise(() => {}); // the function has ended
        const result = await act();
        if (name !== 'TransactWrite') return result;
        isStored = true;
        resolve();
        return new Promise(() => {});
      };
      void send(client, call);
    });
    await stopped;
    delete service.faults.around;
    await client('PATCH', '/v1/documents/d', { body: { fields: { f1: 'later' } } });
    const again = await send(client, call);
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
    expect(again.body).toMatchObject({ revision: 2, fields, conflicts: [{ field: 'f0' }] });
    expect(again.text.length).toBeGreaterThan(MAX_DOCUMENT_BYTES);
    expect((await get(client, 'd')).fields).toEqual({ ...fields, f1: 'later' });
  });
});

describe('an Idempotency-Key of a scoped token', () => {
  const tokenOf = async (documents: string[], permissions: string[], user?: string) =>
    service.as(await mint(client, documents, permissions, 600, user));
  const both = ['read', 'write'];

  it('belongs to its user, so that no other token receives the response', async () => {
    await put(client, 'd', { secret: 'TOPSECRET' });
    const call: Call = ['PATCH', { fields: { s: 1 } }];
    const ada = await tokenOf(['*'], both, 'ada');
    expect((await send(ada, call)).body.fields.secret).toBe('TOPSECRET');
    const others = [await tokenOf(['other:*'], both, 'bob'), await tokenOf(['other:*'], both)];
    for (const other of others) expect(code(await send(other, call))).toEqual([403, 'document_not_allowed']);
    const writer = await tokenOf(['*'], ['write'], 'ada');
    expect(code(await send(writer, call))).toEqual([422, 'idempotency_key_reused']);
    const next = await send(await tokenOf(['*'], both, 'ada'), call);
    expect(next.headers['idempotency-replayed']).toBe('true');
    expect((await send(client, call)).headers['idempotency-replayed']).toBeUndefined();
  });

  it('is not taken by that of another user', async () => {
    const [ada, bob] = [await tokenOf(['*'], both, 'ada'), await tokenOf(['*'], both, 'bob')];
    expect((await send(ada, ['PUT', { fields: { by: 'ada' } }])).status).toBe(201);
    expect((await send(bob, ['PUT', { fields: { by: 'bob' } }])).status).toBe(200);
  });
});
