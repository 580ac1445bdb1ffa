import { describe, expect, it } from 'vitest';
import { connectionHandlers } from '../../../lib/documents/connection-handlers.ts';
import { code, listed, mint } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import { createWebhook } from '../../support/requests.ts';
import type { Client } from '../../support/service.ts';
import { requestOf } from './requests.ts';

const service = memoryService();
const live = async () => (await service.project()).client('live');
const renew = (client: Client, id: string, body: object = {}) =>
  client('PUT', `/v1/connections/${id}`, { body: { node_id: 'node-1', lease_seconds: 60, ...body } });
const tokenBody = { documents: ['*'], permissions: ['read', 'write'], ttl: 600 };
const lost = (client: Client) => listed(client, '/v1/events?type=connection.lost');

describe('a connection', () => {
  it('is renewed or closed in time without an event, and is lost once when its lease expires', async () => {
    const client = await live();
    const opened = (await renew(client, 'kept')).body;
    expect(Date.parse(opened.expires_at) - Date.parse(opened.last_seen_at)).toBe(60_000);
    await renew(client, 'lost', { node_id: 'node-2' });
    await renew(client, 'closed');
    await service.clock.advance(36_000);
    expect((await renew(client, 'kept')).body.connected_at).toBe(opened.connected_at);
    expect((await client('DELETE', '/v1/connections/closed')).status).toBe(204);
    expect(code(await client('DELETE', '/v1/connections/closed'))).toEqual([404, 'not_found']);
    await service.clock.advance(36_000);
    const [event, ...others] = await lost(client);
    expect([event.data, others]).toMatchObject([{ connection_id: 'lost', node_id: 'node-2' }, []]);
    expect(Date.parse(event.data.lost_at) - Date.parse(event.data.last_seen_at)).toBe(60_000);
    await service.clock.advance(120_000);
    expect((await lost(client)).map(({ data }) => data.connection_id)).toEqual(['kept', 'lost']);
  });

  it.each([
    ['renewal', (client: Client) => renew(client, 'c')],
    ['close', (client: Client) => client('DELETE', '/v1/connections/c')],
  ])('was lost before a %s that comes after its lease', async (_, act) => {
    const client = await live();
    const first = (await renew(client, 'c', { lease_seconds: 900 })).body;
    service.clock.skip(900_000); // its check is late
    const { status, body } = await act(client);
    expect(status).toBeLessThan(300);
    if (body) expect(body.connected_at).not.toBe(first.connected_at);
    const expected = [{ connected_at: first.connected_at, lost_at: first.expires_at }];
    expect((await lost(client)).map(({ data }) => data)).toMatchObject(expected);
    await service.settle();
    expect((await lost(client)).filter(({ data }) => data.connected_at === first.connected_at)).toHaveLength(1);
  });

  it('schedules one check until a lease ends earlier or the check is late', async () => {
    const client = await live();
    const checksOf = async (...leases: number[]) => {
      const before = service.checks.length;
      for (const lease_seconds of leases) await renew(client, 'c', { lease_seconds });
      return service.checks.slice(before);
    };
    expect(await checksOf(60, 60, 600)).toEqual([60]);
    expect(await checksOf(10)).toEqual([10]);
    service.clock.skip(1999);
    expect(await checksOf(60)).toEqual([]);
    service.clock.skip(7999); // the check is due now
    expect(await checksOf(58)).toEqual([58]);
    service.clock.skip(10_999);
    expect(await checksOf(47)).toEqual([]); // the lease ends when the check is due
  });

  it('is not found with an invalid id', async () => {
    expect(code(await renew(await live(), 'a.b'))).toEqual([404, 'not_found']);
  });
});

describe('the owner of a connection', () => {
  const put = async (client: Client, body: object = {}) => code(await renew(client, 'socket-1', body));
  const remove = async (client: Client) => code(await client('DELETE', '/v1/connections/socket-1'));
  const conflict = [409, 'conflict'];
  const ok = [200, undefined];
  const closed = [204, undefined];
  const both = ['read', 'write'];

  it.each([
    ['with write', both, conflict, conflict],
    // These tokens have their own ids, so the token opens another connection.
    ['without write', ['read'], ok, closed],
  ])('can be any key of the environment, after a token %s', async (_, permissions, renewal, removal) => {
    const project = await service.project();
    const [client, other, sandbox] = await Promise.all([
      project.client('live'),
      project.client('live'),
      project.client('test'),
    ]);
    const token = service.as(await mint(client, ['*'], permissions));
    const opened = await renew(token, 'socket-1');
    const renewed = await renew(other, 'socket-1', { node_id: 'engine' });
    expect(renewed.body).toMatchObject({ connected_at: opened.body.connected_at, node_id: 'engine' });
    expect(await put(token)).toEqual(renewal);
    expect(await remove(token)).toEqual(removal);
    expect(await put(project.admin)).toEqual(ok);
    expect(await remove(sandbox)).toEqual([404, 'not_found']);
    expect(await remove(client)).toEqual(closed);
    await service.settle();
    expect(await lost(client)).toEqual([]);
  });

  it('is checked for a connection that a key took over from a token without write', async () => {
    const client = await live();
    await put(service.as(await mint(client, ['*'], ['read'])));
    expect(await put(client, { node_id: 'engine' })).toEqual(ok);
    await service.settle();
    expect((await lost(client)).map(({ data }) => data.node_id)).toEqual(['engine']);
  });

  it('can be a key that only closes the connection', async () => {
    const client = await live();
    for (const permissions of [['read'], both]) {
      await put(service.as(await mint(client, ['*'], permissions)));
      expect(await remove(client)).toEqual(closed);
      expect(await remove(client)).toEqual([404, 'not_found']);
    }
  });

  it.each([
    ['with write', both],
    ['without write', ['read']],
  ])('can be another token %s of the same parent key and node', async (_, permissions) => {
    const client = await live();
    const minted = async () => service.as(await mint(client, ['*'], permissions, 600));
    const [first, second] = [await minted(), await minted()];
    const opened = await renew(first, 'socket-1');
    expect(await put(second, { node_id: 'node-2' })).toEqual(conflict);
    expect(await remove(second)).toEqual(conflict);
    expect((await renew(second, 'socket-1')).body.connected_at).toBe(opened.body.connected_at);
    expect(await remove(first)).toEqual(conflict);
    expect(await put(first)).toEqual(ok);
    expect(await put(second)).toEqual(ok);
    expect(await remove(second)).toEqual(closed);
  });

  it('is never a token of another parent key, or one that follows a key', async () => {
    const project = await service.project();
    const [client, other] = [await project.client('live'), await project.client('live')];
    const token = service.as(await mint(client, ['*'], both));
    expect(await put(token)).toEqual(ok);
    expect(await put(service.as(await mint(other, ['*'], both)))).toEqual(conflict);
    expect(await put(client)).toEqual(ok);
    expect(await put(token)).toEqual(conflict);
    expect(await put(service.as(await mint(client, ['*'], both)))).toEqual(conflict);
  });

  it('is never a token that does not cover the document', async () => {
    const client = await live();
    const [first, second] = await Promise.all(
      ['a:*', 'b:*'].map(async (pattern) => service.as(await mint(client, [pattern], both))),
    );
    if (!first || !second) throw new Error('Two tokens were minted');
    expect(await put(first, { document_key: 'a:1' })).toEqual(ok);
    expect(await put(second)).toEqual(conflict);
    expect(await put(second, { document_key: 'b:1' })).toEqual(conflict);
    expect(await put(first, { document_key: 'a:2' })).toEqual(ok);
  });

  it('is known for a connection that the previous release stored', async () => {
    const client = await live();
    const minted = async () => (await client('POST', '/v1/tokens', { body: tokenBody })).body;
    const [first, second] = [await minted(), await minted()];
    await renew(service.as(first.token), 'socket-1');
    const item = [...service.db.items()].find(({ credentialId }) => credentialId === first.token_id);
    expect(Object.keys(item ?? {})).not.toContain('documentKey');
    expect(await put(service.as(second.token))).toEqual(ok);
  });

  it('closes a connection whose lease has expired, with its event', async () => {
    const client = await live();
    const token = service.as(await mint(client, ['*'], ['read'], 600));
    const first = (await renew(token, 'socket-1', { document_key: 'a:1' })).body;
    service.clock.skip(60_000);
    expect((await renew(client, 'socket-1')).body.connected_at).not.toBe(first.connected_at);
    expect((await lost(client)).map(({ data }) => data)).toMatchObject([{ document_key: 'a:1', node_id: 'node-1' }]);
    expect(code(await renew(token, 'socket-1'))).toEqual(ok);
  });
});

describe('the document and the user of a connection', () => {
  const named = { document_key: 'org:acme:doc-1', user: 'Ann 👩‍💻' };

  it('are in its response and in its event, until a renewal replaces them', async () => {
    const client = await live();
    expect((await renew(client, 'c', named)).body).toMatchObject(named);
    expect((await renew(client, 'c')).body).toMatchObject({ document_key: null, user: null });
    expect((await renew(client, 'c', named)).body).toMatchObject(named);
    await renew(client, 'd');
    await service.settle();
    const events = await lost(client);
    const dataOf = (id: string) => events.find(({ data }) => data.connection_id === id)?.data;
    expect(dataOf('c')).toMatchObject(named);
    expect(Object.keys(dataOf('d'))).toEqual(['connection_id', 'node_id', 'connected_at', 'last_seen_at', 'lost_at']);
    expect((await listed(client, `/v1/events?document_key=${named.document_key}`)).map(({ data }) => data)).toEqual([
      dataOf('c'),
    ]);
  });

  it('decide which webhooks receive its event', async () => {
    const client = await live();
    const endpoints = await Promise.all(
      [['org:acme:*'], ['org:other:*'], undefined].map(async (documents) => {
        const endpoint = service.endpoint();
        await createWebhook(client, endpoint.url, { events: ['connection.lost'], ...(documents && { documents }) });
        return endpoint;
      }),
    );
    await renew(client, 'c', named);
    await renew(client, 'without');
    await service.settle();
    expect(endpoints.map(({ received }) => received.length)).toEqual([1, 0, 2]);
    expect(JSON.parse(String(endpoints[0]?.received[0]?.body)).data).toMatchObject(named);
  });

  it('are rejected if a token does not cover the document', async () => {
    const client = await live();
    const token = service.as(await mint(client, ['org:acme:*'], ['read']));
    expect(code(await renew(token, 'c', { document_key: 'org:other:doc-1' }))).toEqual([403, 'document_not_allowed']);
    expect(code(await client('DELETE', '/v1/connections/c'))).toEqual([404, 'not_found']);
    expect((await renew(token, 'c', { document_key: 'org:acme:doc-1', user: 'x'.repeat(128) })).status).toBe(200);
  });
});

it('schedules the check of a connection before it stores the connection', async () => {
  const calls: string[] = [];
  const { renewConnection } = connectionHandlers(
    memoryBackend({ clock: () => 0 }, ({ name }) => {
      calls.push(name);
      return name === 'SendMessageBatch' ? {} : undefined;
    }),
  );
  const body = { node_id: 'node-1', lease_seconds: 60 };
  const request = requestOf({ projectId: 'prj_1' }, { body, path: { id: 'c' } });
  const renewed = await renewConnection(request, () => [], undefined);
  expect(renewed).toMatchObject({ body: { connection_id: 'c', expires_at: '1970-01-01T00:01:00.000Z' } });
  expect(calls.filter((name) => name !== 'Get')).toEqual(['SendMessageBatch', 'Put']);
});
