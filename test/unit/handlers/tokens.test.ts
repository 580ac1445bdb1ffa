import { describe, expect, it } from 'vitest';
import { code, listed, mint, put, sync } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
const live = async () => (await service.project()).client('live');

describe('a scoped token', () => {
  it('allows only its documents and permissions', async () => {
    const client = await live();
    await put(client, 'org:other:d', { a: 1 });
    const reader = service.as(await mint(client, ['org:acme:*'], ['read']));
    const writer = service.as(await mint(client, ['org:acme:*'], ['write']));
    const denied = [403, 'document_not_allowed'];
    expect((await put(writer, 'org:acme:e', { b: 1 })).status).toBe(201);
    for (const key of ['org:other:d', 'org:other:missing', 'org:acme']) {
      expect(code(await reader('GET', `/v1/documents/${key}`))).toEqual(denied);
      expect(code(await put(writer, key, {}))).toEqual(denied);
      expect(code(await writer('DELETE', `/v1/documents/${key}`))).toEqual(denied);
    }
    const push = (document_key: string) => [{ op: 'put', document_key, base_revision: 0, fields: { c: 1 } }];
    const pushes = [...push('org:acme:f'), ...push('org:other:f')];
    const { body: pushed } = await sync(writer, { pattern: 'org:acme:*', push: pushes });
    expect(pushed.results.map((result: { status: string; code?: string }) => [result.status, result.code])).toEqual([
      ['applied', undefined],
      ['rejected', 'document_not_allowed'],
    ]);
    expect((await sync(writer, { pattern: 'org:acme:*' })).body.code).toBe('insufficient_permissions');
    const both = service.as(await mint(client, ['a:*', 'org:other:*'], ['read']));
    expect((await sync(both, { pattern: 'org:other:*' })).body.changes).toHaveLength(1);
    expect(code(await sync(both, { pattern: '*' }))).toEqual(denied);
  });

  const inPath = (method: string) => (client: Client, name: string) =>
    client(
      method,
      `/v1/documents/${encodeURIComponent(name)}`,
      method[0] === 'P' ? { body: { fields: { a: 1 } } } : {},
    );
  it.each<[string, (client: Client, name: string) => ReturnType<Client>, also: string]>([
    ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => [`the path of a ${method}`, inPath(method), '*'] as never),
    ['the prefix of a list', (client, name) => client('GET', `/v1/documents?prefix=${encodeURIComponent(name)}`), ''],
    ['the pattern of a sync', (client, pattern) => sync(client, { pattern }), ''],
    [
      'a connection',
      (client, document_key) => client('PUT', '/v1/connections/c', { body: { node_id: 'n', document_key } }),
      '',
    ],
  ])('returns 403 for a name in %s that cannot be a document, and a key returns 400', async (_, request, also) => {
    const client = await live();
    const token = service.as(await mint(client, ['*', 'org:acme:*'], ['read', 'write']));
    for (const name of ['org:other:d 1', 'org:acme:d 1', 'org/acme', 'a*', 'a'.repeat(65), also]) {
      expect(code(await request(token, name)), name).toEqual([403, 'document_not_allowed']);
      expect(code(await request(client, name)), name).toEqual([400, 'invalid_request']);
    }
  });

  it('returns 400 for other violations, also in the place of a name', async () => {
    const token = service.as(await mint(await live(), ['*'], ['read', 'write']));
    const invalid = [400, 'invalid_request'];
    expect(code(await sync(token, { pattern: 1 }))).toEqual(invalid);
    expect(code(await token('GET', '/v1/documents?prefix=a&limit=0'))).toEqual(invalid);
    expect(code(await token('POST', '/v1/sync', { body: [] as never }))).toEqual(invalid);
  });

  it('lists an invalid document key together with all other violations of a request with a key', async () => {
    const client = await live();
    const { body } = await client('PUT', '/v1/documents/a%20b?x=1', { body: { fields: 1 } });
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual(['key', 'x', 'fields']);
    expect(Object.keys(body.errors[0])).toEqual(['field', 'detail']);
  });

  it('works only in its environment', async () => {
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

  it('is the origin of its changes, unless the request names a node', async () => {
    const project = await service.project();
    const client = await project.client('live');
    const { body: created } = await client('POST', '/v1/tokens', {
      body: { documents: ['*'], permissions: ['write'], ttl: 60 },
    });
    const writer = service.as(created.token);
    await put(writer, 'a', {});
    await put(writer, 'b', {}, { 'X-Node-Id': 'node-1' });
    await put(client, 'c', {});
    const events = await listed(client, '/v1/events');
    expect(Object.fromEntries(events.map(({ data }) => [data.document_key, data.origin]))).toEqual({
      a: created.token_id,
      b: 'node-1',
      c: expect.stringMatching(/^key_/),
    });
  });

  it('has at most 2,048 bytes', async () => {
    const client = await live();
    const mintFor = (last: number, user?: string) => {
      const documents = [...Array.from({ length: 18 }, (_, i) => `${'a'.repeat(58)}:${i}`), 'b'.repeat(last)];
      return client('POST', '/v1/tokens', { body: { documents, permissions: ['read'], ttl: 60, user } });
    };
    const longest = await mintFor(37);
    expect([longest.status, longest.body.token.length]).toEqual([201, 2048]);
    const read = await service.as(longest.body.token)('GET', `/v1/documents/${'b'.repeat(37)}`);
    expect(code(read)).toEqual([404, 'not_found']);
    const { status, body } = await mintFor(38);
    const detail = 'would make a token of 2,050 bytes; the limit is 2,048';
    expect([status, body.errors]).toEqual([400, [{ field: 'documents', detail }]]);
    expect((await mintFor(37, 'u')).body.errors[0].detail).toMatch('token of 2,063 bytes');
  });
});

describe('a token that is revoked', () => {
  const body = { documents: ['*'], permissions: ['read'], ttl: 3600 };
  const minted = async (client: Client) => (await client('POST', '/v1/tokens', { body })).body;
  const revoke = (client: Client, id: string) => client('POST', `/v1/tokens/${id}/revoke`);
  const works = async ({ token }: { token: string }) =>
    (await service.as(token)('GET', '/v1/documents')).status === 200;

  it('can belong to any key for an admin key, and to keys of its type for other keys', async () => {
    const { admin, ...project } = await service.project();
    const [client, other, test] = [
      await project.client('live'),
      await project.client('live'),
      await project.client('test'),
    ];
    const [a, b, c] = [await minted(client), await minted(client), await minted(admin)];
    expect(code(await revoke(test, a.token_id))).toEqual([404, 'not_found']);
    expect(code(await revoke(client, c.token_id))).toEqual([404, 'not_found']);
    expect(await works(a)).toBe(true);
    expect((await revoke(other, a.token_id)).status).toBe(204);
    expect((await revoke(admin, b.token_id)).status).toBe(204);
    expect((await revoke(admin, c.token_id)).status).toBe(204);
    expect([await works(a), await works(b), await works(c)]).toEqual([false, false, false]);
    const key = `key_${b.token_id.slice(-18, -6)}`;
    expect(await listed(admin, `/v1/audit?target=${b.token_id}`)).toMatchObject([{ detail: { key } }]);
  });

  it('returns 404 for an id that no key created', async () => {
    const { admin, ...project } = await service.project();
    const client = await project.client('live');
    const { token_id } = await minted(client);
    const { token_id: other } = await minted(await project.client('live'));
    const ofTomorrow = `tok_7ZZZZZZZZZ${token_id.slice(14)}`;
    const ofNobody = `${token_id.slice(0, 30)}000000000000${token_id.slice(42)}`;
    const ofAnotherKey = token_id.slice(0, 30) + other.slice(30);
    for (const id of [ofTomorrow, ofNobody, ofAnotherKey, 'tok_1', `${token_id}x`])
      for (const each of [client, admin]) expect(code(await revoke(each, id))).toEqual([404, 'not_found']);
  });

  it('creates no audit entry if it has already expired', async () => {
    const { admin, ...project } = await service.project();
    const client = await project.client('live');
    const { token_id } = (await client('POST', '/v1/tokens', { body: { ...body, ttl: 1 } })).body;
    await service.clock.advance(6000);
    expect((await revoke(client, token_id)).status).toBe(204);
    expect((await admin('GET', `/v1/audit?target=${token_id}`)).body.data).toEqual([]);
  });

  it('is one of at most 100 of a key, until one expires', async () => {
    const { admin, ...project } = await service.project();
    const [victim, client] = [await project.client('live'), await project.client('live')];
    const tokens = await Promise.all(Array.from({ length: 101 }, () => minted(victim)));
    const ids = tokens.map(({ token_id }) => token_id);
    for (const id of ids.slice(0, 100)) expect((await revoke(client, id)).status).toBe(204);
    const detail =
      'Wait until revoked tokens expire, or revoke the key itself. A key can have 100 revoked tokens that have not expired.';
    for (const each of [client, victim, admin])
      expect(await revoke(each, ids[100])).toMatchObject({ status: 409, body: { code: 'limit_reached', detail } });
    expect((await revoke(client, ids[0])).status).toBe(204);
    expect([await works(tokens[0]), await works(tokens[99]), await works(tokens[100])]).toEqual([false, false, true]);
    await service.clock.advance(3_606_000);
    expect((await revoke(client, (await minted(victim)).token_id)).status).toBe(204);
  });
});
