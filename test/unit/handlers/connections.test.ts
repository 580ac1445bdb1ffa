import { describe, expect, it } from 'vitest';
import { connectionHandlers } from '../../../lib/documents/connection-handlers.ts';
import type { ConnectionsDeps } from '../../../lib/documents/lost-connections.ts';
import { code, listed } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';
import { requestOf } from './requests.ts';

const service = memoryService();
const live = async () => (await service.project()).client('live');
const renew = (client: Client, id: string, body: object = {}) =>
  client('PUT', `/v1/connections/${id}`, { body: { node_id: 'node-1', lease_seconds: 60, ...body } });
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

  it('is rejected with a lease out of range or an invalid node or id', async () => {
    const client = await live();
    for (const body of [{ lease_seconds: 9 }, { lease_seconds: 901 }, { node_id: 'x'.repeat(65) }, { node_id: 'ä' }])
      expect(code(await renew(client, 'c', body))).toEqual([400, 'invalid_request']);
    expect(code(await renew(client, 'a.b'))).toEqual([404, 'not_found']);
  });
});

it('schedules the check of a connection before it stores the connection', async () => {
  const calls: string[] = [];
  const connections = { get: async () => undefined, put: async () => calls.push('stored') > 0 };
  const scheduleCheck = async () => void calls.push('scheduled');
  const deps = { connections, scheduleCheck, clock: () => 0 } as unknown as ConnectionsDeps;
  const request = requestOf(
    { projectId: 'prj_1' },
    { body: { node_id: 'node-1', lease_seconds: 60 }, path: { id: 'c' } },
  );
  const renewed = await connectionHandlers(deps).renewConnection(request, () => [], undefined);
  expect(renewed).toMatchObject({ body: { connection_id: 'c', expires_at: '1970-01-01T00:01:00.000Z' } });
  expect(calls).toEqual(['scheduled', 'stored']);
});
