import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { readDelivery } from '../received.ts';
import { expectProblem, expectStatus } from './expectations.ts';
import type { Received } from './receiver.ts';
import type { Check, Run } from './run.ts';

/** A documentation block (RFC 5737), which no client uses. */
const UNUSED_BLOCK = '192.0.2.1/32';
/** The shortest lease. */
const LEASE_SECONDS = 10;
const LOOK_MS = 500;
const LIST = '/v1/documents?limit=1';

/** The permissions, the addresses and the connections that only AWS provides. */
export const serviceChecks: Check[] = [
  {
    name: 'Authorizer: an allowlist allows only its addresses',
    async run({ as, admin, createKey }) {
      const { id, key } = await createKey();
      const allow = async (cidrs: string[]) =>
        expectStatus(await admin('POST', `/v1/keys/${id}/allowlist`, { body: { cidrs } }), 200);
      await allow([UNUSED_BLOCK]);
      expectProblem(await as(key)('GET', LIST), 'ip_not_allowed');
      await allow(['0.0.0.0/0', '::/0']);
      expectStatus(await as(key)('GET', LIST), 200);
    },
  },
  {
    name: 'Authorizer: a revoked key stops working with the next request',
    async run({ as, admin, createKey }) {
      const { id, key } = await createKey();
      expectStatus(await as(key)('GET', LIST), 200);
      expectStatus(await admin('POST', `/v1/keys/${id}/revoke`), 200);
      expectProblem(await as(key)('GET', LIST), 'unauthorized');
    },
  },
  {
    name: 'Functions: each one responds',
    async run({ test, admin, as, name }) {
      for (const path of ['/v1/keys', '/v1/project', '/v1/audit']) expectStatus(await admin('GET', path), 200);
      for (const path of ['/v1/webhooks', '/v1/stats', '/v1/events']) expectStatus(await test('GET', path), 200);
      const key = `${name}:functions`;
      expectStatus(await test('PUT', `/v1/documents/${key}`, { body: { fields: { title: 'Draft' } } }), 201);
      const sync = { node_id: name, pattern: `${name}:*`, push: [], known: {} };
      expectStatus(await test('POST', '/v1/sync', { body: sync }), 200);
      const grant = { documents: [`${key}`], permissions: ['read'], ttl: 60 };
      const created = await test('POST', '/v1/tokens', { body: grant });
      expectStatus(created, 201);
      const token = as(created.json.token);
      expectStatus(await token('GET', `/v1/documents/${key}`), 200);
      expectProblem(await token('GET', `/v1/documents/${key}:other`), 'document_not_allowed');
    },
  },
  {
    name: 'Delivery: a signed event arrives, and the log shows it',
    needs: 'receiver',
    async run(run) {
      const webhook = await createWebhook(run, 'document.created');
      const key = `${run.name}:${crypto.randomUUID()}`;
      expectStatus(await run.test('PUT', `/v1/documents/${key}`, { body: { fields: { title: 'Draft' } } }), 201);
      const { headers, body, json } = await receive(run, webhook, (data) => data.document_key === key);
      const { verified } = readDelivery(webhook.secret, headers, body);
      assert.ok(verified, `${headers['x-service-signature']} is not the signature of the body`);
      const path = `/v1/webhooks/${webhook.id}/deliveries/${json.id}`;
      const endsAt = performance.now() + run.deliveryTimeoutMs;
      for (;;) {
        const { status, json: delivery } = await run.test('GET', path);
        if (delivery?.status === 'succeeded') return;
        const isToCome = status === 404 && performance.now() < endsAt;
        assert.ok(isToCome, `GET ${path}: ${status} ${JSON.stringify(delivery)}`);
        await sleep(LOOK_MS, undefined, { signal: run.signal });
      }
    },
  },
  {
    name: 'Delivery: an expired lease publishes connection.lost',
    needs: 'receiver',
    async run(run) {
      const webhook = await createWebhook(run, 'connection.lost');
      const id = `${run.name}-lost`;
      const body = { node_id: run.name, lease_seconds: LEASE_SECONDS };
      expectStatus(await run.test('PUT', `/v1/connections/${id}`, { body }), 200);
      await receive(run, webhook, (data) => data.connection_id === id, LEASE_SECONDS * 1000);
    },
  },
  {
    name: 'Email: SES accepts a test email to the addresses of the project',
    async run({ admin }) {
      const sent = await admin('POST', '/v1/project/test-mail', { body: {} });
      if (sent.status !== 429) expectStatus(sent, 202); // 429: the last one was sent less than a minute ago
    },
  },
];

interface Webhook {
  id: string;
  secret: string;
  /** A marker in the URL, because other webhooks of the run can receive the same event. */
  mark: string;
}

async function createWebhook({ test, name, receiver }: Run, type: string): Promise<Webhook> {
  const url = new URL(receiver?.url ?? '');
  const mark = crypto.randomUUID();
  url.searchParams.set('smoke', mark);
  const created = await test('POST', '/v1/webhooks', { body: { url, events: [type], description: name } });
  expectStatus(created, 201);
  return { ...created.json, mark };
}

/** Waits for a delivery with matching data. If an attempt failed, the error contains the reason from the delivery log. */
async function receive(
  { test, receiver, signal, deliveryTimeoutMs }: Run,
  { id, mark }: Webhook,
  matches: (data: Record<string, unknown>) => boolean,
  moreMs = 0,
): Promise<Received> {
  const timeoutMs = deliveryTimeoutMs + moreMs;
  const endsAt = performance.now() + timeoutMs;
  for (;;) {
    const received = receiver?.at.received.find(({ url, json }) => url.includes(mark) && matches(json?.data ?? {}));
    if (received) return received;
    const { json } = await test('GET', `/v1/webhooks/${id}/deliveries?limit=1`);
    const { error, status_code } = json?.data?.[0]?.attempts?.at(-1) ?? {};
    assert.ok(!error, `the delivery failed: ${error} ${status_code ?? ''}`);
    assert.ok(performance.now() < endsAt, `no delivery within ${timeoutMs / 1000} s`);
    await sleep(LOOK_MS, undefined, { signal });
  }
}
