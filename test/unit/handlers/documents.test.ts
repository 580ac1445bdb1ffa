import { describe, expect, it } from 'vitest';
import { canceled, code, get, listed, put } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';

const service = memoryService();
const live = async () => (await service.project()).client('live');

describe('a document', () => {
  it('is created, replaced, merged, read and deleted', async () => {
    const client = await live();
    const created = await put(client, 'org:acme:d', { a: 1 });
    expect([created.status, created.headers.etag]).toEqual([201, '"1"']);
    expect(created.body).toEqual({
      document_key: 'org:acme:d',
      revision: 1,
      fields: { a: 1 },
      created_at: created.body.updated_at,
      updated_at: created.body.updated_at,
    });
    expect(await put(client, 'org:acme:d', { b: 2 })).toMatchObject({
      status: 200,
      body: { revision: 2, fields: { b: 2 } },
    });
    const patched = await client('PATCH', '/v1/documents/org:acme:d', { body: { fields: { b: null, c: [3] } } });
    expect(patched).toMatchObject({
      status: 200,
      headers: { etag: '"3"' },
      body: { revision: 3, fields: { c: [3] }, conflicts: [] },
    });
    expect(await get(client, 'org%3Aacme%3Ad')).toMatchObject({ revision: 3 });
    expect(code(await client('GET', '/v1/documents/org%253Aacme%253Ad'))).toEqual([400, 'invalid_request']);
    expect((await client('DELETE', '/v1/documents/org:acme:d')).status).toBe(204);
    for (const [method, call] of [['GET'], ['PATCH', { body: { fields: {} } }]] as const)
      expect(code(await client(method, '/v1/documents/org:acme:d', call))).toEqual([404, 'not_found']);
    const again = await put(client, 'org:acme:d', {});
    expect(again).toMatchObject({ status: 201, body: { revision: 5, created_at: again.body.updated_at } });
  });

  it('keeps every number, text and name unchanged', async () => {
    const client = await live();
    const nested = '['.repeat(150) + ']'.repeat(150);
    const fields = `{"n":[12345678901234567890,1e400,-0,1.0,0.1],"":"","__proto__":{"x":1},"u":"\\ud800😀\\u0000","deep":${nested}}`;
    await client('PUT', '/v1/documents/d', { body: `{"fields":${fields}}` });
    expect((await client('GET', '/v1/documents/d')).text).toContain(`"fields":${fields}`);
    await client('PATCH', '/v1/documents/d', { body: '{"fields":{"more":-0.0}}' });
    expect((await client('GET', '/v1/documents/d')).text).toContain('12345678901234567890,1e400,-0,1.0');
  });

  it('applies preconditions', async () => {
    const client = await live();
    const failed = [412, 'precondition_failed'];
    expect(code(await put(client, 'd', {}, { 'If-Match': '*' }))).toEqual(failed);
    expect((await put(client, 'd', { a: 1 }, { 'If-None-Match': '*' })).status).toBe(201);
    expect(code(await put(client, 'd', { a: 2 }, { 'If-None-Match': '*' }))).toEqual(failed);
    expect(code(await put(client, 'd', { a: 2 }, { 'If-Match': '"2"' }))).toEqual(failed);
    expect(code(await put(client, 'd', { a: 2 }, { 'If-Match': '"1"', 'If-None-Match': '*' }))).toEqual(failed);
    expect((await put(client, 'd', { a: 2 }, { 'If-Match': '"1"' })).status).toBe(200);
    expect(
      code(await client('PATCH', '/v1/documents/d', { body: { fields: { a: 3 } }, headers: { 'If-Match': '"1"' } })),
    ).toEqual(failed);
    expect(code(await client('DELETE', '/v1/documents/d', { headers: { 'If-Match': '"1"' } }))).toEqual(failed);
    const unchanged = await client('GET', '/v1/documents/d', { headers: { 'If-None-Match': '"1", W/"2"' } });
    expect([unchanged.status, unchanged.text, unchanged.headers.etag]).toEqual([304, '', '"2"']);
    // If-Match compares strongly, and If-None-Match weakly.
    expect(code(await put(client, 'd', { a: 3 }, { 'If-Match': 'W/"2"' }))).toEqual(failed);
    for (const tag of ['"1"', '"W/2"', 'w/"2"', '"2']) {
      const { status } = await client('GET', '/v1/documents/d', { headers: { 'If-None-Match': tag } });
      expect(status, tag).toBe(200);
    }
    expect((await put(client, 'd', { a: 3 }, { 'If-Match': '"7",,"2",' })).status).toBe(200);
    expect((await put(client, 'd', { a: 4 }, { 'If-Match': '*' })).status).toBe(200);
    expect(code(await put(client, 'd', { a: 5 }, { 'If-None-Match': '"4"' }))).toEqual(failed);
    expect((await put(client, 'd', { a: 5 }, { 'If-None-Match': '"3"' })).status).toBe(200);
    await client('DELETE', '/v1/documents/d');
    expect(code(await put(client, 'd', {}, { 'If-Match': '*' }))).toEqual(failed);
    expect((await put(client, 'd', {}, { 'If-None-Match': '*' })).status).toBe(201);
  });

  it.each([
    '3',
    '',
    '"3',
    "'3'",
    'w/"3"',
    '"3" "4"',
    '"*"',
    ',',
    'W/3',
  ])('is not written with the precondition %s, which never matches', async (tag) => {
    const client = await live();
    await put(client, 'd', { a: 1 });
    for (const name of ['If-Match', 'If-None-Match']) {
      const { status, body } = await put(client, 'd', { a: 2 }, { [name]: tag });
      const detail = 'must be * or ETags in double quotes, as the service returns them, such as "3"';
      expect([status, body.errors]).toEqual([400, [{ field: name, detail }]]);
    }
    expect((await client('GET', '/v1/documents/d')).body.fields).toEqual({ a: 1 });
  });

  it.each([
    ['W/"1"', true],
    ['"1-gzip"', true],
    ['"7", W/"1"', true],
    ['"7"', false],
  ])('says whether a proxy changed the ETag: %s', async (tag, isForeign) => {
    const client = await live();
    await put(client, 'd', { a: 1 });
    const { status, body } = await put(client, 'd', { a: 2 }, { 'If-Match': tag });
    expect([status, body.detail.includes('Send the revision of the document')]).toEqual([412, isForeign]);
  });

  it('is listed by prefixes that end at a segment, until it is deleted', async () => {
    const client = await live();
    for (const key of ['org', 'org:a', 'org:a:1', 'org:a:2', 'org:ab', 'org:b']) await put(client, key, {});
    await client('DELETE', '/v1/documents/org:a:1');
    const keys = async (query = '') =>
      (await listed(client, `/v1/documents${query}`)).map(({ document_key }) => document_key);
    expect(await keys()).toEqual(['org', 'org:a', 'org:a:2', 'org:ab', 'org:b']);
    expect(await keys('?prefix=org:a')).toEqual(['org:a', 'org:a:2']);
  });

  it('is rejected over its limits', async () => {
    const client = await live();
    expect(code(await put(client, 'd', { a: 'x'.repeat(128 * 1024) }))).toEqual([413, 'payload_too_large']);
    expect((await put(client, 'd', { a: 'x'.repeat(128 * 1024 - 8) })).status).toBe(201);
    const merged = await client('PATCH', '/v1/documents/d', { body: { fields: { a: 'y'.repeat(100_000) } } });
    expect(merged.status).toBe(200);
    const large = await put(client, 'd', { a: 'x'.repeat(128 * 1024) });
    expect(large.body.detail).toMatch(/^Reduce the document/);
    // A request can be longer than the document.
    const escaped = `{"fields":{"a":"${'\\u0079'.repeat(100_000)}"}}`;
    for (const method of ['PATCH', 'PUT'])
      expect((await client(method, '/v1/documents/d', { body: escaped })).status).toBe(200);
    for (const node of ['', 'x'.repeat(65)]) {
      expect(code(await put(client, 'd', {}, { 'X-Node-Id': node }))).toEqual([400, 'invalid_request']);
    }
  });

  it('is written after a transaction conflict, and stays unchanged with 503 while other writers always win', async () => {
    const client = await live();
    let conflicts = 0;
    service.faults.command = (name) =>
      name === 'TransactWrite' && conflicts++ === 0 ? canceled('TransactionConflict') : undefined;
    expect((await put(client, 'd', { a: 1 })).status).toBe(201);
    service.faults.command = (name) => (name === 'TransactWrite' ? canceled('TransactionConflict') : undefined);
    const answer = await put(client, 'd', { a: 2 });
    service.faults.command = undefined;
    expect([code(answer), answer.headers['retry-after']]).toEqual([[503, 'unavailable'], '1']);
    expect(await get(client, 'd')).toMatchObject({ revision: 1, fields: { a: 1 } });
    expect(await put(client, 'd', { a: 3 })).toMatchObject({ status: 200, body: { revision: 2 } });
    expect((await listed(client, '/v1/events?document_key=d')).map(({ data }) => data.revision)).toEqual([2, 1]);
  });
});

it('a list of documents returns as many documents as fit in a response, and continues with the next one', async () => {
  const client = await live();
  const all = Array.from({ length: 25 }, (_, i) => `d:${String.fromCharCode(97 + i)}`);
  for (const key of all) await put(client, key, { a: '"'.repeat(65_000) }); // 260 kB in a response of at most 5 MiB
  const keysIn = async (query: string) => {
    const { data, next_cursor } = (await client('GET', `/v1/documents?limit=100${query}`)).body;
    return [data.map(({ document_key }: { document_key: string }) => document_key), next_cursor];
  };
  const [first, cursor] = await keysIn('');
  expect(first).toEqual(all.slice(0, 20));
  expect(await keysIn(`&cursor=${cursor}`)).toEqual([all.slice(20), null]);
});
