import { describe, expect, it } from 'vitest';
import { create } from '../../../functions/check-connection.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import type { ConnectionRecord } from '../../../lib/documents/connections.ts';
import { newConnection, now, recordOf } from '../../memory/contracts/builders.ts';
import { code, listed, mint } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import { createWebhook } from '../../support/requests.ts';
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

  it('is renewed or closed in time without an event, and is lost once when its lease expires', async () => {
    const client = await (await service.project()).client('test');
    expect((await renew(client, 'closed', { lease_seconds: undefined })).body.lease_seconds).toBe(300);
    const opened = (await renew(client, 'kept')).body;
    expect(Date.parse(opened.expires_at) - Date.parse(opened.last_seen_at)).toBe(60_000);
    await renew(client, 'lost', { node_id: 'node-2' });
    await service.clock.advance(36_000);
    expect((await renew(client, 'kept')).body.connected_at).toBe(opened.connected_at);
    expect((await client('DELETE', '/v1/connections/closed')).status).toBe(204);
    await service.clock.advance(36_000);
    const [event, ...others] = await lost(client);
    expect([event.data, others]).toMatchObject([{ connection_id: 'lost', node_id: 'node-2' }, []]);
    await service.clock.advance(120_000);
    const leases = (await lost(client)).map(({ data }) => [
      data.connection_id,
      Date.parse(data.lost_at) - Date.parse(data.last_seen_at),
    ]);
    expect(leases).toEqual([
      ['kept', 60_000],
      ['lost', 60_000],
    ]);
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
    const events = await lost(client);
    expect(events.map(({ data }) => data)).toMatchObject(expected);
    expect(Date.parse(events[0]?.timestamp)).toBeGreaterThan(Date.parse(first.expires_at));
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
});

/** What a caller does with a connection. `renews` keeps the connection, and `opens` makes a new one. */
const ACT = /^(\w+) (opens|renews|closes|cannot renew|cannot close|does not find)(?: at (\S+))?(?: with (\S+))?$/;

describe('the owner of a connection', () => {
  async function callers(): Promise<Record<string, Client>> {
    const { admin, ...project } = await service.project();
    const [key, other] = [await project.client('live'), await project.client('live')];
    const token = async (permissions: string[], documents = ['*'], of = key) =>
      service.as(await mint(of, documents, permissions, 600));
    const both = ['read', 'write'];
    return {
      ...{ admin, key, other, sandbox: await project.client('test') },
      ...{ writer: await token(both), writer2: await token(both), foreign: await token(both, ['*'], other) },
      ...{ reader: await token(['read']), reader2: await token(['read']) },
      ...{ a: await token(both, ['a:*']), b: await token(both, ['b:*']) },
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
    'writer opens, writer2 cannot renew at node-2, writer2 cannot close, writer2 renews, writer cannot close, writer2 closes',
    'reader opens, reader2 cannot renew at node-2, reader2 cannot close, reader2 renews, reader cannot close, reader2 closes',
    'writer opens, writer2 renews, writer renews, writer closes',
    'writer opens, foreign cannot renew, key renews, writer cannot renew, writer2 cannot renew, key closes',
    'a opens with a:1, b cannot renew, b cannot renew with b:1, a renews with a:2, a closes',
  ])('is the credential of its last renewal, of which others can take its place: %s', async (acts) => {
    const clients = await callers();
    const known = new Set<string>();
    for (const text of acts.split(', ')) {
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
    }
    await service.settle();
    expect(await lost(clients.key as Client)).toEqual([]);
  });

  it('is checked for a connection that a key took over from a token without write', async () => {
    const client = await live();
    await renew(service.as(await mint(client, ['*'], ['read'])), 'socket-1');
    expect((await renew(client, 'socket-1', { node_id: 'engine' })).status).toBe(200);
    await service.settle();
    expect((await lost(client)).map(({ data }) => data.node_id)).toEqual(['engine']);
  });

  it('closes a connection whose lease has expired, with its event', async () => {
    const client = await live();
    const token = service.as(await mint(client, ['*'], ['read'], 600));
    const first = (await renew(token, 'socket-1', { document_key: 'a:1' })).body;
    service.clock.skip(60_000);
    expect((await renew(client, 'socket-1')).body.connected_at).not.toBe(first.connected_at);
    const lease = { connection_id: 'socket-1', document_key: 'a:1', node_id: 'node-1' };
    expect((await lost(client)).map(({ data }) => data)).toMatchObject([lease]);
    expect((await renew(token, 'socket-1')).status).toBe(200);
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

const record = newConnection({
  connectedAt: now - 600_000,
  lastSeenAt: now - 60_000,
  leaseSeconds: 60,
  expiresAt: now,
  checkAt: now,
});
const { id: connectionId, projectId, environment } = record;
const message = { connectionId, projectId, environment, checkAt: now };

/** Checks a stored connection. The connections `between` replace it, one before each write of the check. */
async function checked(
  stored: ConnectionRecord | undefined,
  between: (ConnectionRecord | undefined)[] = [],
  sent: object = message,
) {
  const delays: number[] = [];
  const waiting = [...between];
  let result: unknown;
  const info = (_: string, fields: Record<string, unknown>) => {
    result = fields.result;
  };
  const log = { info, warn() {}, error() {} };
  const { db, runtime } = memoryBackend({ clock: () => now, log }, ({ name, input }) => {
    if (name === 'SendMessageBatch') {
      for (const { MessageBody, DelaySeconds } of input.Entries) {
        expect(JSON.parse(MessageBody).checkAt).toBe(current()?.expiresAt);
        delays.push(DelaySeconds);
      }
      return {};
    }
    if (name !== 'Get' && waiting.length > 0) set(waiting.shift());
    return undefined;
  });
  const key = itemKey.connection(record, connectionId);
  const current = () => {
    const { writeId: _, ...stored } = db.get(key.pk, key.sk) ?? {};
    return 'id' in stored ? recordOf(stored as unknown as ConnectionRecord) : undefined;
  };
  const set = (to: ConnectionRecord | undefined) =>
    db.execute(
      to
        ? { name: 'Put', input: { TableName: 'table', Item: { ...key, ...to } } }
        : { name: 'Delete', input: { TableName: 'table', Key: key } },
    );
  set(stored);
  const delivered = { messageId: '1', body: JSON.stringify(sent), eventSource: 'aws:sqs' };
  await create(runtime)({ Records: [delivered] } as never, {} as never);
  const events = [...db.items()].filter(({ pk }) => String(pk).startsWith('EVENT#'));
  return { result, delays, lost: events.map(({ type }) => type), current: current() };
}
const renewed = { ...record, lastSeenAt: now - 1, expiresAt: now + 59_400 };

describe('a check', () => {
  it('schedules another check for a lease that is renewed while it ends', async () => {
    const current = { ...renewed, checkAt: renewed.expiresAt };
    expect(await checked(record, [renewed])).toEqual({ result: 'open', delays: [60], lost: [], current });
  });

  it('waits no longer than a queue can if the clock of the API is ahead', async () => {
    expect((await checked({ ...renewed, expiresAt: now + 900_001 })).delays).toEqual([900]);
  });

  it('does nothing if the connection was closed before or during the check', async () => {
    const gone = { result: 'gone', delays: [], lost: [], current: undefined };
    expect(await checked(undefined)).toEqual(gone);
    expect(await checked(record, [undefined])).toEqual(gone);
  });

  it('schedules no check if a later one is pending, unless it was sent by a recovery', async () => {
    const expected = { ...renewed, checkAt: now + 1 };
    expect(await checked(expected)).toEqual({ result: 'open', delays: [], lost: [], current: expected });
    expect((await checked({ ...renewed, checkAt: now - 1 })).delays).toEqual([60]);
    expect((await checked(record, [expected])).delays).toEqual([]);
    const ofRecovery = { connectionId, projectId, environment };
    expect((await checked(expected, [], ofRecovery)).delays).toEqual([60]);
  });
});
