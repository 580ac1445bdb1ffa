import { describe, expect, it } from 'vitest';
import { code, listed, mint } from '../../support/documents.ts';
import { queueRecord } from '../../support/entries.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
const live = async () => (await service.project()).client('live');
const renew = (client: Client, id: string, body: object = {}) =>
  client('PUT', `/v1/connections/${id}`, { body: { node_id: 'node-1', lease_seconds: 60, ...body } });
const lost = (client: Client) => listed(client, '/v1/events?type=connection.lost');

describe('a connection', () => {
  it.each([
    ['Az09_-'.padEnd(64, 'x'), 200],
    ['x'.repeat(65), 404],
  ])('has an id of at most 64 characters: %s', async (id, status) => {
    expect((await renew(await live(), id)).status).toBe(status);
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
});

/** What a caller does with a connection. `renews` keeps the connection, and `opens` makes a new one. */
const ACT = /^(\w+) (opens|renews|closes|cannot renew|cannot close|does not find)(?: at (\S+))?(?: with (\S+))?$/;

describe('the owner of a connection', () => {
  async function callers(): Promise<Record<string, Client>> {
    const { admin, ...project } = await service.project();
    const [key, other] = [await project.client('live'), await project.client('live')];
    const token = async (permissions: string[], documents = ['*'], of = key, user?: string) =>
      service.as(await mint(of, documents, permissions, 600, user));
    const both = ['read', 'write'];
    return {
      ...{ admin, key, other, sandbox: await project.client('test') },
      ...{ writer: await token(both), writer2: await token(both), foreign: await token(both, ['*'], other) },
      ...{ reader: await token(['read']), reader2: await token(['read']) },
      ...{ ann: await token(both, ['a:*'], key, 'ann'), ann2: await token(both, ['a:*', 'b:*'], key, 'ann') },
      ...{ bob: await token(both, ['*'], key, 'bob'), foreignAnn: await token(both, ['*'], other, 'ann') },
      ...{ readerAnn: await token(['read'], ['*'], key, 'ann'), readerAnn2: await token(['read'], ['*'], key, 'ann') },
    };
  }

  it.each([
    'writer opens, other renews at engine, writer cannot renew, writer cannot close, admin renews, key closes',
    // A token without write has its own ids.
    'reader opens, other renews at engine, reader opens, reader closes, admin renews, key closes',
    'reader opens, writer opens, writer closes, reader renews, reader closes',
    'reader opens, writer opens, key renews, key closes, reader renews, key closes, key does not find',
    'writer opens, sandbox does not find, key closes, key does not find',
    'reader opens, sandbox does not find, key closes, key does not find',
    'writer opens, writer2 cannot renew, writer2 cannot close, ann cannot renew, ann cannot close, writer renews, writer closes',
    'reader opens, reader2 cannot renew, reader2 cannot close, readerAnn cannot renew, reader renews, reader closes',
    'writer opens, foreign cannot renew, key renews, writer cannot renew, writer2 cannot renew, key closes',
    // The user counts, and not the node.
    'ann opens, writer cannot renew, bob cannot renew, bob cannot close, foreignAnn cannot renew, foreignAnn cannot close, ann2 renews at node-2, ann renews, ann2 closes',
    'readerAnn opens, reader cannot renew, readerAnn2 renews at node-2, readerAnn renews, readerAnn2 closes',
    'ann2 opens with b:1, ann cannot renew, ann cannot renew with a:1, ann cannot close, ann2 renews with a:1, ann renews, ann closes',
    'ann opens, key renews, ann cannot renew, ann cannot close, key closes',
    // The check of an expired lease is late here.
    'reader opens, the lease ends, reader2 opens at node-2, reader cannot renew, reader2 closes',
    'reader opens, the lease ends, key opens, reader opens, reader closes, key closes',
    'key opens, the lease ends, key closes',
    'reader opens, key renews at engine, the lease ends, sandbox does not find',
  ])('is the key, user or token of its last renewal: %s', async (acts) => {
    const clients = await callers();
    const known = new Set<string>();
    let lease = {};
    const ended: object[] = [];
    for (const text of acts.split(', ')) {
      if (text === 'the lease ends') {
        ended.push(lease);
        service.clock.skip(60_000);
        continue;
      }
      const [, who = '', act = '', node_id = 'node-1', document_key] = ACT.exec(text) ?? [];
      const client = clients[who] ?? expect.fail(text);
      const isRenewal = /opens|renew/.test(act);
      const body = { node_id, document_key };
      const answer = await (isRenewal ? renew(client, 'socket-1', body) : client('DELETE', '/v1/connections/socket-1'));
      const expected = { opens: 200, renews: 200, closes: 204, 'does not find': 404 }[act] ?? 409;
      expect(answer.status, text).toBe(expected);
      if (expected !== 200) continue;
      expect(known.has(answer.body.connected_at), text).toBe(act === 'renews');
      expect(answer.body, text).toMatchObject({ connection_id: 'socket-1', node_id });
      known.add(answer.body.connected_at);
      lease = { node_id, connected_at: answer.body.connected_at, lost_at: answer.body.expires_at };
    }
    await service.settle();
    const events = await lost(clients.key as Client);
    expect(events.map(({ data }) => data)).toMatchObject(ended);
    for (const { timestamp, data } of events) expect(timestamp > data.lost_at).toBe(true);
  });
});

describe('the document and the user of a connection', () => {
  const named = { document_key: 'org:acme:doc-1', user: 'Ann 👩‍💻' };

  it('are in its response and in its event, until a renewal replaces them', async () => {
    const client = await live();
    expect((await renew(client, 'c', named)).body).toMatchObject(named);
    expect((await renew(client, 'c')).body).toMatchObject({ document_key: null, user: null });
    const { lease_seconds, expires_at, ...last } = (await renew(client, 'c', named)).body;
    expect(last).toMatchObject(named);
    expect([lease_seconds, Date.parse(expires_at) - Date.parse(last.last_seen_at)]).toEqual([60, 60_000]);
    expect((await renew(client, 'd', { lease_seconds: undefined })).body.lease_seconds).toBe(300);
    await service.settle();
    const events = await lost(client);
    const dataOf = (id: string) => events.find(({ data }) => data.connection_id === id)?.data;
    expect(dataOf('c')).toEqual({ ...last, lost_at: expires_at });
    expect(Object.keys(dataOf('d'))).toEqual(['connection_id', 'node_id', 'connected_at', 'last_seen_at', 'lost_at']);
    expect((await listed(client, `/v1/events?document_key=${named.document_key}`)).map(({ data }) => data)).toEqual([
      dataOf('c'),
    ]);
  });

  it('are rejected if a token does not cover the document', async () => {
    const client = await live();
    const token = service.as(await mint(client, ['org:acme:*'], ['read']));
    expect(code(await renew(token, 'c', { document_key: 'org:other:doc-1' }))).toEqual([403, 'document_not_allowed']);
    expect(code(await client('DELETE', '/v1/connections/c'))).toEqual([404, 'not_found']);
    expect((await renew(token, 'c', { document_key: 'org:acme:doc-1', user: 'x'.repeat(128) })).status).toBe(200);
  });

  it('are those of the token if it has a user, and another user is rejected', async () => {
    const client = await live();
    const token = service.as(await mint(client, ['*'], ['read'], 60, 'ann'));
    const { status, body } = await renew(token, 'c', { user: 'bob' });
    const detail = 'must be the user of the token, or absent';
    expect([status, body.errors]).toEqual([400, [{ field: 'user', detail }]]);
    expect((await client('DELETE', '/v1/connections/c')).status).toBe(404);
    for (const user of ['ann', undefined]) expect((await renew(token, 'c', { user })).body.user).toBe('ann');
    await service.settle();
    expect((await lost(client)).map(({ data }) => data.user)).toEqual(['ann']);
  });
});

describe('a check', () => {
  it('schedules the next one of a renewed lease, unless a later one is pending or a recovery sent it', async () => {
    const project = await service.project();
    const client = await project.client('live');
    const before = service.checks.length;
    const scheduled = () => service.checks.slice(before);
    for (const lease_seconds of [60, 30]) await renew(client, 'c', { lease_seconds });
    await service.clock.advance(20_000);
    await renew(client, 'c', { lease_seconds: 900 });
    await service.clock.advance(60_000); // the check after a minute is outdated
    expect(scheduled()).toEqual([60, 30, 891]);
    service.clock.skip(-70_000); // the clock of the API was ahead
    const sent = { connectionId: 'c', projectId: project.id, environment: 'live' };
    await service.invoke('check-connection', { Records: [queueRecord('1', JSON.stringify(sent))] });
    expect(scheduled()).toEqual([60, 30, 891, 900]); // the maximum delay of a queue
  });

  it('ends each connection of its batch, also those with one id in several projects and environments', async () => {
    const clients: Client[] = [];
    const Records: object[] = [];
    for (const project of [await service.project(), await service.project()])
      for (const [type, environment] of Object.entries({ live: 'live', test: 'sandbox' })) {
        const client = await project.client(type as 'live' | 'test');
        await renew(client, 'laptop-1');
        clients.push(client);
        const check = { connectionId: 'laptop-1', projectId: project.id, environment };
        Records.push(queueRecord(environment + project.id, JSON.stringify(check)));
      }
    service.clock.skip(60_000);
    expect(await service.invoke('check-connection', { Records })).toEqual({ batchItemFailures: [] });
    for (const client of clients) expect(await lost(client)).toHaveLength(1);
  });

  it('schedules another one for a lease that is renewed while it ends', async () => {
    const client = await live();
    const { connected_at } = (await renew(client, 'c')).body;
    service.faults.aroundAll = async ({ name }, act) => {
      if (name === 'TransactWrite') {
        delete service.faults.aroundAll;
        service.clock.skip(-1000);
        expect((await renew(client, 'c')).body.connected_at).toBe(connected_at);
        service.clock.skip(1000);
      }
      return act();
    };
    await service.clock.advance(60_000);
    expect(await lost(client)).toEqual([]);
    await service.settle();
    expect(await lost(client)).toHaveLength(1);
  });
});
