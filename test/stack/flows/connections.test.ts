import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../../lib/events/types.ts';
import { serviceSignature } from '../../../lib/webhooks/signing.ts';
import { mint, put, sync } from '../../support/documents.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook } from '../../support/requests.ts';
import { eventually, FAST_DELAYS, useService } from '../../support/service.ts';

// Checks of connections come early. The clock, which the test moves, decides whether a lease has expired.
const service = useService(FAST_DELAYS);
const live = async () => (await service.project()).client('live');

describe('the six events', () => {
  it('are each published by an operation and reach a webhook, signed and valid', async () => {
    const client = await live();
    const receiver = await startReceiver();
    await createWebhook(client, receiver.url);
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
      () =>
        new Set(receiver.received.map(({ body }) => JSON.parse(body).type)).size === EVENT_TYPES.length &&
        receiver.received.length === 16,
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
