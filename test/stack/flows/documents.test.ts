import { describe, expect, it } from 'vitest';
import { code, eventsOf, get, put } from '../../support/documents.ts';
import { useService } from '../../support/service.ts';

const service = useService();
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
    expect((await put(client, 'org:acme:d', { a: 1 })).body).toEqual(created.body);
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
    expect(code(await client('GET', '/v1/documents/org%253Aacme%253Ad'))).toEqual([404, 'not_found']);
    expect((await client('DELETE', '/v1/documents/org:acme:d')).status).toBe(204);
    expect(code(await client('GET', '/v1/documents/org:acme:d'))).toEqual([404, 'not_found']);
    expect(code(await client('DELETE', '/v1/documents/org:acme:d'))).toEqual([404, 'not_found']);
    expect(code(await client('PATCH', '/v1/documents/org:acme:d', { body: { fields: {} } }))).toEqual([
      404,
      'not_found',
    ]);
    expect(await put(client, 'org:acme:d', {})).toMatchObject({ status: 201, body: { revision: 5 } });
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
    expect((await put(client, 'd', { a: 2 }, { 'If-Match': '"1"' })).status).toBe(200);
    expect(
      code(await client('PATCH', '/v1/documents/d', { body: { fields: { a: 3 } }, headers: { 'If-Match': '"1"' } })),
    ).toEqual(failed);
    expect(code(await client('DELETE', '/v1/documents/d', { headers: { 'If-Match': '"1"' } }))).toEqual(failed);
    const unchanged = await client('GET', '/v1/documents/d', { headers: { 'If-None-Match': '"1", W/"2"' } });
    expect([unchanged.status, unchanged.text, unchanged.headers.etag]).toEqual([304, '', '"2"']);
    expect((await client('GET', '/v1/documents/d', { headers: { 'If-None-Match': '"1"' } })).status).toBe(200);
  });

  it('is listed by prefixes that end at a segment, in pages, without deleted documents', async () => {
    const client = await live();
    for (const key of ['org', 'org:a', 'org:a:1', 'org:a:2', 'org:ab', 'org:b']) await put(client, key, {});
    await client('DELETE', '/v1/documents/org:a:1');
    const keys = async (query: string) => {
      const { body } = await client('GET', `/v1/documents?${query}`);
      return [body.data.map(({ document_key }: { document_key: string }) => document_key), body.next_cursor] as const;
    };
    expect((await keys(''))[0]).toEqual(['org', 'org:a', 'org:a:2', 'org:ab', 'org:b']);
    expect((await keys('prefix=org:a'))[0]).toEqual(['org:a', 'org:a:2']);
    const [first, cursor] = await keys('limit=3');
    expect([...first, ...(await keys(`limit=3&cursor=${cursor}`))[0]]).toEqual([
      'org',
      'org:a',
      'org:a:2',
      'org:ab',
      'org:b',
    ]);
    expect(code(await client('GET', '/v1/documents?prefix=org:'))).toEqual([400, 'invalid_request']);
  });

  it('is rejected over its limits', async () => {
    const client = await live();
    expect(code(await put(client, 'd', { a: 'x'.repeat(128 * 1024) }))).toEqual([413, 'payload_too_large']);
    expect((await put(client, 'd', { a: 'x'.repeat(128 * 1024 - 8) })).status).toBe(201);
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}`, 0]));
    expect(code(await put(client, 'd', many))).toEqual([400, 'invalid_request']);
    for (const body of [{}, { fields: [] }, { fields: null }, { fields: {}, more: 1 }]) {
      expect(code(await client('PUT', '/v1/documents/d', { body }))).toEqual([400, 'invalid_request']);
    }
    for (const base_revision of [-1, 1.5, '1', 99]) {
      expect(code(await client('PATCH', '/v1/documents/d', { body: { fields: { b: 1 }, base_revision } }))).toEqual([
        400,
        'invalid_request',
      ]);
    }
    expect(code(await put(client, 'a:'.repeat(16).concat('a'), {}))).toEqual([404, 'not_found']);
    for (const node of ['', 'x'.repeat(65)]) {
      expect(code(await put(client, 'd', {}, { 'X-Node-Id': node }))).toEqual([400, 'invalid_request']);
    }
  });

  it('loses no write and no event of concurrent writers', async () => {
    const client = await live();
    const events = await eventsOf(client);
    let calls = 0;
    service.stack.endpoints.intercept = ({ principal, action }) =>
      principal.startsWith('Documents') && action === 'TransactWriteItems' && calls++ % 3 === 0
        ? 'conflict'
        : undefined;
    const writers = Array.from({ length: 6 }, (_, writer) =>
      (async () => {
        for (let i = 0; i < 5; i++) {
          const call = {
            body: { fields: { [`w${writer}`]: i, shared: `${writer}-${i}` } },
            headers: { 'X-Node-Id': `n${writer}` },
          };
          // A 503 has changed nothing: the same request may go out again.
          const statuses: number[] = [];
          do statuses.push((await client('PATCH', '/v1/documents/d', call)).status);
          while (statuses.at(-1) === 503 && statuses.length < 5);
          expect([200, 201]).toContain(statuses.at(-1));
        }
      })(),
    );
    await Promise.all(writers);
    service.stack.endpoints.intercept = undefined;
    expect(calls).toBeGreaterThan(30);
    const document = await get(client, 'd');
    expect(document.revision).toBe(30);
    const all = (await events.until(30)).sort((a, b) => a.data.revision - b.data.revision);
    expect(all.map(({ data }) => data.revision)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    let folded: Record<string, unknown> = {};
    for (const { type, data } of all) {
      if (type === 'document.created') folded = { ...data.fields };
      else
        for (const { field, old_value, new_value } of data.changes) {
          expect(old_value).toEqual(folded[field] ?? null);
          folded[field] = new_value;
        }
    }
    expect(folded).toEqual(document.fields);
  });
});

describe('a document with too many concurrent writes', () => {
  it('returns 503 and does not change', async () => {
    const client = await live();
    await put(client, 'd', { a: 1 });
    const events = await eventsOf(client);
    service.stack.endpoints.intercept = ({ principal, action }) =>
      principal.startsWith('Documents') && action === 'TransactWriteItems' ? 'conflict' : undefined;
    const answer = await put(client, 'd', { a: 2 });
    service.stack.endpoints.intercept = undefined;
    expect([code(answer), answer.headers['retry-after']]).toEqual([[503, 'unavailable'], '1']);
    expect(await get(client, 'd')).toMatchObject({ revision: 1, fields: { a: 1 } });
    expect(await put(client, 'd', { a: 3 })).toMatchObject({ status: 200, body: { revision: 2 } });
    expect((await events.until(1)).map(({ data }) => data.revision)).toEqual([2]);
  });
});
