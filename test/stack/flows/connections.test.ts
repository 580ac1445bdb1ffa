import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../../lib/events/types.ts';
import { serviceSignature } from '../../../lib/webhooks/signature.ts';
import { code, eventsOf, mint, put, sync } from '../../support/documents.ts';
import { createWebhook } from '../../support/requests.ts';
import { type Client, eventually, useService } from '../../support/service.ts';

// Checks of connections come soon; whether a lease is over is decided by the clock, which the tests move.
const service = useService({ speed: 300 });
const live = async () => (await service.project()).client('live');

describe('a connection', () => {
  const renew = (client: Client, id: string, body: object = {}) =>
    client('PUT', `/v1/connections/${id}`, { body: { node_id: 'node-1', lease_seconds: 60, ...body } });

  it('publishes nothing if it is renewed or closed in time, and connection.lost once if it expires', async () => {
    const client = await live();
    const events = await eventsOf(client);
    const opened = (await renew(client, 'kept')).body;
    expect(Date.parse(opened.expires_at) - Date.parse(opened.last_seen_at)).toBe(60_000);
    await renew(client, 'lost', { node_id: 'node-2' });
    await renew(client, 'closed');
    service.stack.clock.advance(36_000);
    const renewed = (await renew(client, 'kept')).body;
    expect(renewed.connected_at).toBe(opened.connected_at);
    expect((await client('DELETE', '/v1/connections/closed')).status).toBe(204);
    expect(code(await client('DELETE', '/v1/connections/closed'))).toEqual([404, 'not_found']);
    service.stack.clock.advance(36_000);
    const [lost] = await events.until(1);
    expect(lost).toMatchObject({ type: 'connection.lost', data: { connection_id: 'lost', node_id: 'node-2' } });
    expect(Date.parse(lost.data.lost_at) - Date.parse(lost.data.last_seen_at)).toBe(60_000);
    service.stack.clock.advance(120_000);
    await events.until(2);
    expect(events.all().map(({ data }) => data.connection_id)).toEqual(['lost', 'kept']);
  });

  it('was lost if it is renewed after its lease', async () => {
    const client = await live();
    const events = await eventsOf(client);
    const first = (await renew(client, 'c', { lease_seconds: 900 })).body;
    service.stack.clock.advance(900_000);
    const second = (await renew(client, 'c')).body;
    expect(second.connected_at).not.toBe(first.connected_at);
    const [lost] = await events.until(1);
    expect(lost.data).toMatchObject({ connected_at: first.connected_at, lost_at: first.expires_at });
  });

  it('is rejected with a lease outside the range', async () => {
    const client = await live();
    for (const body of [{ lease_seconds: 9 }, { lease_seconds: 901 }, { node_id: 'x'.repeat(65) }, { node_id: 'ä' }]) {
      expect(code(await renew(client, 'c', body))).toEqual([400, 'invalid_request']);
    }
    expect(code(await renew(client, 'a.b'))).toEqual([404, 'not_found']);
  });
});

describe('the six events', () => {
  it('are each published by an operation and reach a webhook, signed and valid', async () => {
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
