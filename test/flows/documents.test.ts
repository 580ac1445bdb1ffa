import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../lib/events.ts';
import { serviceSignature } from '../../lib/signature.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook } from '../support/requests.ts';
import { type Answer, type Client, eventually, useService } from '../support/service.ts';

// Checks of connections come soon; whether a lease is over is decided by the clock, which the tests move.
const service = useService({ speed: 50 });
const live = async () => (await service.project()).client('live');
const code = ({ status, body }: Answer) => [status, body?.code];
const put = (client: Client, key: string, fields: object, headers = {}) =>
  client('PUT', `/v1/documents/${key}`, { body: { fields }, headers });
const get = async (client: Client, key: string) => (await client('GET', `/v1/documents/${key}`)).body;
const sync = (client: Client, body: object = {}) =>
  client('POST', '/v1/sync', { body: { node_id: 'node-1', pattern: '*', push: [], known: {}, ...body } });
const mint = async (client: Client, documents: string[], permissions: string[], ttl = 60) => {
  const answer = await client('POST', '/v1/tokens', { body: { documents, permissions, ttl } });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.token as string;
};
/** All events of a space from now on, in the order of arrival. */
async function eventsOf(client: Client) {
  const receiver = await startReceiver();
  await createWebhook(client, receiver.url);
  return {
    receiver,
    all: () => receiver.received.map(({ body }) => JSON.parse(body)),
    until: async (count: number) => (await receiver.until(count)).map(({ body }) => JSON.parse(body)),
  };
}

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
    expect((await client('DELETE', '/v1/documents/org:acme:d')).status).toBe(204);
    expect(code(await client('GET', '/v1/documents/org:acme:d'))).toEqual([404, 'not_found']);
    expect(code(await client('DELETE', '/v1/documents/org:acme:d'))).toEqual([404, 'not_found']);
    expect(code(await client('PATCH', '/v1/documents/org:acme:d', { body: { fields: {} } }))).toEqual([
      404,
      'not_found',
    ]);
    expect(await put(client, 'org:acme:d', {})).toMatchObject({ status: 201, body: { revision: 5 } });
  });

  it('keeps every number, text and name as it was written', async () => {
    const client = await live();
    const nested = '['.repeat(150) + ']'.repeat(150);
    const fields = `{"n":[12345678901234567890,1e400,-0,1.0,0.1],"":"","__proto__":{"x":1},"u":"\\ud800😀\\u0000","deep":${nested}}`;
    await client('PUT', '/v1/documents/d', { body: `{"fields":${fields}}` });
    expect((await client('GET', '/v1/documents/d')).text).toContain(`"fields":${fields}`);
    await client('PATCH', '/v1/documents/d', { body: '{"fields":{"more":-0.0}}' });
    expect((await client('GET', '/v1/documents/d')).text).toContain('12345678901234567890,1e400,-0,1.0');
  });

  it('obeys preconditions', async () => {
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

  it('is listed below prefixes that end at a segment, in pages, without what was deleted', async () => {
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

  it('is refused past its limits', async () => {
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
  });

  it('of several writers at once loses no write and no event', { timeout: 60_000 }, async () => {
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

describe('a document that others keep changing', () => {
  it('answers 503 and is as it was', async () => {
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

describe('a sync', () => {
  it('pushes each change by itself and pulls what the node does not know, also what was deleted', async () => {
    const client = await live();
    await put(client, 'org:a', { x: 1 });
    await put(client, 'org:b', { x: 1 });
    await put(client, 'other', { x: 1 });
    await client('DELETE', '/v1/documents/org:b');
    await client('PATCH', '/v1/documents/org:a', { body: { fields: { x: 2 } }, headers: { 'X-Node-Id': 'node-2' } });
    const push = [
      { op: 'patch', document_key: 'org:a', base_revision: 1, fields: { y: 1 } },
      { op: 'patch', document_key: 'org:a', base_revision: 1, fields: { x: 3 } },
      { op: 'patch', document_key: 'org:a', base_revision: 1, fields: { x: 4 }, on_conflict: 'reject' },
      { op: 'patch', document_key: 'org:a', base_revision: 99, fields: { x: 4 } },
      { op: 'put', document_key: 'org:c', base_revision: 0, fields: { z: 1 } },
      { op: 'put', document_key: 'org:c', base_revision: 0, fields: { z: 1 } },
      { op: 'delete', document_key: 'other', base_revision: 1 },
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
      ['merged', 4, undefined],
      ['rejected', null, 'conflict'],
      ['rejected', null, 'invalid_request'],
      ['applied', 1, undefined],
      ['unchanged', 1, undefined],
      ['applied', 2, undefined],
      ['rejected', null, 'payload_too_large'],
    ]);
    expect(body.results[1].conflicts).toEqual([
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
    const known = { 'org:a': 4, 'org:b': 2, 'org:c': 1 };
    expect((await sync(client, { pattern: 'org:*', known })).body.changes).toEqual([]);
  });

  it('comes in pages, ends once, and converges', async () => {
    const client = await live();
    for (let i = 0; i < 5; i++) await put(client, `d:${i}`, { i });
    const events = await eventsOf(client);
    const known: Record<string, number> = {};
    let cursor: string | null = null;
    let last: object = {};
    for (let pages = 0; pages < 10; pages++) {
      last = { limit: 2, ...(cursor && { cursor }) };
      const { body } = await sync(client, last);
      for (const { document_key, revision } of body.changes) known[document_key] = revision;
      cursor = body.cursor;
      if (!body.has_more) break;
    }
    expect(known).toEqual({ 'd:0': 1, 'd:1': 1, 'd:2': 1, 'd:3': 1, 'd:4': 1 });
    await sync(client, last); // the last page once more
    const [completed] = await events.until(1);
    expect(completed).toMatchObject({
      type: 'sync.completed',
      data: { node_id: 'node-1', pattern: '*', pushed: 0, pulled: 5, conflicts: 0 },
    });
    expect(code(await sync(client, { cursor: 'x.y' }))).toEqual([400, 'invalid_cursor']);
    await put(client, 'after', {});
    await eventually(() => events.all().some(({ type }) => type === 'document.created'));
    expect(events.all().filter(({ type }) => type === 'sync.completed')).toHaveLength(1);
  });

  it('may be done by a read key, without pushes', async () => {
    const project = await service.project();
    await put(await project.client('live'), 'd', { a: 1 });
    const read = await project.client('read');
    expect((await sync(read)).body.changes).toHaveLength(1);
    expect((await get(read, 'd')).fields).toEqual({ a: 1 });
    const push = [{ op: 'delete', document_key: 'd', base_revision: 1 }];
    expect(code(await sync(read, { push }))).toEqual([403, 'insufficient_permissions']);
    for (const [method, path] of [
      ['PUT', '/v1/documents/d'],
      ['PATCH', '/v1/documents/d'],
      ['DELETE', '/v1/documents/d'],
      ['PUT', '/v1/connections/c'],
      ['POST', '/v1/tokens'],
    ] as const) {
      expect(code(await read(method, path, { body: {} }))).toEqual([403, 'insufficient_permissions']);
    }
    expect((await sync(await project.client('test'))).body.changes).toEqual([]);
  });

  it('is refused past its limits', async () => {
    const client = await live();
    const push = { op: 'put', document_key: 'd', base_revision: 0, fields: {} };
    const known = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i}`, 1]));
    expect((await sync(client, { push: Array(25).fill(push), known: known(2000) })).status).toBe(200);
    const { fields: _, ...bare } = push;
    for (const bad of [
      { push: Array(26).fill(push) },
      { known: known(2001) },
      { known: { 'a b': 1 } },
      { known: { a: '1' } },
      { limit: 101 },
      { pattern: '**' },
      { node_id: '' },
      { push: [bare] },
      { push: [{ ...push, op: 'delete' }] },
      { push: [{ ...push, base_revision: -1 }] },
    ]) {
      expect(code(await sync(client, bad))).toEqual([400, 'invalid_request']);
    }
  });
});

describe('a scoped token', () => {
  it('reaches its documents with its permissions, and nothing else', async () => {
    const client = await live();
    await put(client, 'org:acme:d', { a: 1 });
    await put(client, 'org:other:d', { a: 1 });
    const reader = service.as(await mint(client, ['org:acme:*'], ['read']));
    const writer = service.as(await mint(client, ['org:acme:*'], ['write']));
    const denied = [403, 'document_not_allowed'];
    const insufficient = [403, 'insufficient_permissions'];

    expect((await get(reader, 'org:acme:d')).fields).toEqual({ a: 1 });
    expect(code(await put(reader, 'org:acme:d', {}))).toEqual(insufficient);
    expect(code(await writer('GET', '/v1/documents/org:acme:d'))).toEqual(insufficient);
    expect((await put(writer, 'org:acme:e', { b: 1 })).status).toBe(201);
    for (const key of ['org:other:d', 'org:other:missing', 'org:acme']) {
      expect(code(await reader('GET', `/v1/documents/${key}`))).toEqual(denied);
      expect(code(await put(writer, key, {}))).toEqual(denied);
      expect(code(await writer('DELETE', `/v1/documents/${key}`))).toEqual(denied);
    }
    const { data } = (await reader('GET', '/v1/documents')).body;
    expect(data.map(({ document_key }: { document_key: string }) => document_key)).toEqual([
      'org:acme:d',
      'org:acme:e',
    ]);
    expect(code(await sync(reader))).toEqual(denied);
    expect((await sync(reader, { pattern: 'org:acme:*' })).body.changes).toHaveLength(2);
    const push = (document_key: string) => [{ op: 'put', document_key, base_revision: 0, fields: { c: 1 } }];
    expect(code(await sync(reader, { pattern: 'org:acme:*', push: push('org:acme:f') }))).toEqual(insufficient);
    const pushed = (
      await sync(writer, { pattern: 'org:acme:*', push: [...push('org:acme:f'), ...push('org:other:f')] })
    ).body;
    expect(pushed.results.map((result: { status: string; code?: string }) => [result.status, result.code])).toEqual([
      ['applied', undefined],
      ['rejected', 'document_not_allowed'],
    ]);
    expect(pushed.changes).toEqual([]);
    for (const [method, path] of [
      ['GET', '/v1/webhooks'],
      ['POST', '/v1/events'],
      ['GET', '/v1/keys'],
      ['POST', '/v1/tokens'],
    ] as const) {
      expect(code(await reader(method, path, method === 'POST' ? { body: {} } : {}))).toEqual(insufficient);
    }
  });

  it('dies with its parent, obeys its allowlist, and expires', async () => {
    const { admin, ...project } = await service.project();
    const parent = await project.key('live');
    const client = service.as(parent);
    await put(client, 'd', {});
    const token = service.as(await mint(client, ['*'], ['read'], 60));
    const long = service.as(await mint(client, ['*'], ['read'], 86_400));
    const status = async (each: Client) => (await each('GET', '/v1/documents/d')).status;
    expect(await status(token)).toBe(200);
    await admin('POST', `/v1/keys/${parent}/allowlist`, { body: { cidrs: ['127.0.0.9'] } });
    expect(code(await token('GET', '/v1/documents/d'))).toEqual([403, 'ip_not_allowed']);
    expect((await token('GET', '/v1/documents/d', { from: '127.0.0.9' })).status).toBe(200);
    await admin('POST', `/v1/keys/${parent}/allowlist`, { body: { cidrs: [] } });
    service.stack.clock.advance(60_000);
    expect([await status(token), await status(long)]).toEqual([401, 200]);
    await admin('POST', `/v1/keys/${parent}/revoke`);
    expect(await status(long)).toBe(401);
  });

  it('works in the environment it was minted for', async () => {
    const { admin } = await service.project();
    const minted = await admin('POST', '/v1/tokens?environment=sandbox', {
      body: { documents: ['*'], permissions: ['read', 'write'], ttl: 60 },
    });
    const token = service.as(minted.body.token);
    await put(token, 'd', { a: 1 });
    expect((await admin('GET', '/v1/documents/d?environment=sandbox')).status).toBe(200);
    expect((await admin('GET', '/v1/documents/d')).status).toBe(404);
    expect(code(await token('GET', '/v1/documents/d?environment=live'))).toEqual([403, 'insufficient_permissions']);
  });

  it('is minted only within the limits', async () => {
    const client = await live();
    const valid = { documents: ['org:*'], permissions: ['read'], ttl: 60 };
    const long = Array.from({ length: 32 }, (_, i) => `${'a'.repeat(60)}:${i}`);
    const bad = [
      ...[0, -1, 1.5, '60', 86_401, null].map((ttl) => ({ ...valid, ttl })),
      { ...valid, permissions: ['admin'] },
      { ...valid, permissions: [] },
      { ...valid, permissions: ['read', 'read'] },
      { ...valid, documents: [] },
      { ...valid, documents: Array.from({ length: 33 }, (_, i) => `d${i}`) },
      { ...valid, documents: ['org:*', 'org:*'] },
      { ...valid, documents: ['org:acm*'] },
      { ...valid, documents: long },
      { documents: ['*'] },
    ];
    for (const body of bad)
      expect(code(await client('POST', '/v1/tokens', { body }))).toEqual([400, 'invalid_request']);
    const refused = await client('POST', '/v1/tokens', { body: { ...valid, documents: long } });
    expect(refused.body.errors[0].detail).toMatch(/a token of \d+ bytes/);
    expect((await client('POST', '/v1/tokens', { body: { ...valid, ttl: 86_400 } })).status).toBe(201);
  });
});

describe('a connection', () => {
  const renew = (client: Client, id: string, body: object = {}) =>
    client('PUT', `/v1/connections/${id}`, { body: { node_id: 'node-1', lease_seconds: 10, ...body } });

  it('that is renewed or closed in time causes nothing; one that lapses is lost once', async () => {
    const client = await live();
    const events = await eventsOf(client);
    const opened = (await renew(client, 'kept')).body;
    expect(Date.parse(opened.expires_at) - Date.parse(opened.last_seen_at)).toBe(10_000);
    await renew(client, 'lost', { node_id: 'node-2' });
    await renew(client, 'closed');
    service.stack.clock.advance(6000);
    const renewed = (await renew(client, 'kept')).body;
    expect(renewed.connected_at).toBe(opened.connected_at);
    expect((await client('DELETE', '/v1/connections/closed')).status).toBe(204);
    expect(code(await client('DELETE', '/v1/connections/closed'))).toEqual([404, 'not_found']);
    service.stack.clock.advance(6000);
    const [lost] = await events.until(1);
    expect(lost).toMatchObject({ type: 'connection.lost', data: { connection_id: 'lost', node_id: 'node-2' } });
    expect(Date.parse(lost.data.lost_at) - Date.parse(lost.data.last_seen_at)).toBe(10_000);
    service.stack.clock.advance(20_000);
    await events.until(2);
    expect(events.all().map(({ data }) => data.connection_id)).toEqual(['lost', 'kept']);
  });

  it('that comes back after its lease was lost before', async () => {
    const client = await live();
    const events = await eventsOf(client);
    const first = (await renew(client, 'c', { lease_seconds: 900 })).body;
    service.stack.clock.advance(900_000);
    const second = (await renew(client, 'c')).body;
    expect(second.connected_at).not.toBe(first.connected_at);
    const [lost] = await events.until(1);
    expect(lost.data).toMatchObject({ connected_at: first.connected_at, lost_at: first.expires_at });
  });

  it('is refused with a lease out of range', async () => {
    const client = await live();
    for (const body of [{ lease_seconds: 9 }, { lease_seconds: 901 }, { node_id: 'x'.repeat(65) }, { node_id: 'ä' }]) {
      expect(code(await renew(client, 'c', body))).toEqual([400, 'invalid_request']);
    }
    expect(code(await renew(client, 'a.b'))).toEqual([404, 'not_found']);
  });
});

describe('the six events', () => {
  it('are each caused by a real operation and reach a webhook, signed and in their shape', async () => {
    const client = await live();
    const { receiver, all } = await eventsOf(client);
    const { secret } = await createWebhook(client, `${receiver.url}?second`);
    const token = service.as(await mint(client, ['org:acme:*'], ['read', 'write']));
    await put(token, 'org:acme:one', { title: 'Draft' });
    await put(token, 'org:acme:two', {});
    const edit = (node: string, title: string) =>
      token('PATCH', '/v1/documents/org:acme:one', {
        body: { fields: { title }, base_revision: 1 },
        headers: { 'X-Node-Id': node },
      });
    await edit('node-1', 'Mine');
    expect((await edit('node-2', 'Yours')).body.conflicts).toHaveLength(1);
    await sync(token, { pattern: 'org:acme:*' });
    await token('PUT', '/v1/connections/c', { body: { node_id: 'node-1', lease_seconds: 10 } });
    service.stack.clock.advance(10_000);
    await token('DELETE', '/v1/documents/org:acme:two');
    await eventually(
      () => new Set(all().map(({ type }) => type)).size === EVENT_TYPES.length && receiver.received.length === 16,
    );
    const own = receiver.received.filter(
      ({ body, headers }) => headers['x-service-signature'] === serviceSignature(secret, body),
    );
    expect(own).toHaveLength(8);
    for (const { body } of own) {
      const { type, data } = JSON.parse(body);
      expect((await client('POST', '/v1/events', { body: { type, data } })).status, body).toBe(202);
    }
  });
});
