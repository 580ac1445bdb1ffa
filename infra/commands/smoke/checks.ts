import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { CORS_ALLOWED, CORS_HEADERS } from '../../../lib/http/headers.ts';
import { readDelivery } from '../received.ts';
import { handshake } from './handshake.ts';
import type { Check, Received, Run } from './run.ts';

/** The first delivery includes cold starts and batching windows. */
const DELIVERY_TIMEOUT_MS = 30_000;
const LOOK_MS = 500;
/** The shortest lease. */
const LEASE_SECONDS = 10;
/** Exceeds the limit of Lambda (6 MB) after Base64 encoding (API Gateway Developer Guide, "Binary media types"). */
const TOO_MANY_BYTES = 6 * 1024 * 1024;
/** A documentation block (RFC 5737), which no client uses. */
const UNUSED_BLOCK = '192.0.2.1/32';
const LIST = '/v1/documents?limit=1';
const DRAFT = { body: { fields: { title: 'Draft' } } };
const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': /^max-age=\d+/,
  'Content-Security-Policy': /default-src 'none'.*frame-ancestors 'none'/,
};

/** What only AWS provides: its gateway, permissions, addresses, connections and email. */
export const checks: Check[] = [
  {
    name: 'TLS: accepts 1.3 and rejects 1.2',
    needs: 'https',
    async run(run) {
      const accepted = await handshake(run, 'TLSv1.3');
      assert.ok(accepted === 'accepted', `TLS 1.3: ${accepted}`);
      const older = await handshake(run, 'TLSv1.2');
      assert.ok(older !== 'accepted' && older !== 'timeout', `TLS 1.2: ${older}`);
    },
  },
  {
    name: 'Gateway: rejects requests with documented problems', // functions do not see these requests
    async run({ as, test }) {
      await as(null)('GET', '/v1/webhooks', 'unauthorized');
      await as(`svc_test_${'0'.repeat(50)}`)('GET', '/v1/webhooks', 'unauthorized');
      await test('GET', '/v1/keys', 'insufficient_permissions');
      await test('GET', '/v1/nothing', 'route_not_found');
      await test('PUT', '/v1/webhooks', 'method_not_allowed');
      await test('POST', '/v1/events', 'payload_too_large', { body: ' '.repeat(TOO_MANY_BYTES) });
    },
  },
  {
    name: 'Gateway: sends security headers, and compresses responses',
    async run({ test, as }) {
      const responds = { ...SECURITY_HEADERS, 'Cache-Control': 'no-store', 'X-Request-Id': /^[\w-]{36}$/ };
      await test('GET', '/v1/webhooks?limit=1', 200, { responds });
      const headers = { 'Accept-Encoding': 'gzip' };
      await as(null)('GET', '/v1/openapi.json', 200, { headers, responds: { 'Content-Encoding': 'gzip' } });
    },
  },
  {
    name: 'Gateway: pages of any origin can call operations for tokens',
    async run({ as, name }) {
      const path = `/v1/documents/${name}`;
      const headers = { Origin: 'https://example.com', 'Access-Control-Request-Method': 'PUT' };
      const responds = {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': /\bPUT\b/,
        'Access-Control-Allow-Headers': new RegExp(CORS_ALLOWED.join('.*')),
      };
      await as(null)('OPTIONS', path, [200, 204], { headers, responds });
      await as(null)('GET', path, 'unauthorized', { headers, responds: CORS_HEADERS });
    },
  },
  {
    name: 'Pages: load with all of their files from the base URL',
    async run({ as, baseUrl }) {
      const responds = { 'Content-Type': /^text\/html/, ...SECURITY_HEADERS };
      for (const path of ['/dashboard', '/docs', '/docs/errors']) {
        const { text } = await as(null)('GET', path, 200, { responds });
        const links = [...text.matchAll(/<(?:script|link)\b[^>]*\b(?:src|href)="([^"]+)"/g)];
        assert.ok(links.length > 0, `${path} loads nothing`);
        for (const [, link = ''] of links) {
          const { href } = new URL(link, baseUrl + path);
          assert.ok(href.startsWith(baseUrl), `${path} loads ${href}`);
          await as(null)('GET', href.slice(baseUrl.length), 200);
        }
      }
      const { json } = await as(null)('GET', '/v1/openapi.json', 200);
      assert.ok(json?.servers?.[0]?.url === baseUrl, `servers: ${JSON.stringify(json?.servers)} instead of ${baseUrl}`);
    },
  },
  {
    name: 'Authorizer: an allowlist allows only its addresses',
    async run({ as, admin, createKey }) {
      const { id, key } = await createKey();
      const path = `/v1/keys/${id}/allowlist`;
      await admin('POST', path, 200, { body: { cidrs: [UNUSED_BLOCK] } });
      await as(key)('GET', LIST, 'ip_not_allowed');
      await admin('POST', path, 200, { body: { cidrs: ['0.0.0.0/0', '::/0'] } });
      await as(key)('GET', LIST, 200);
    },
  },
  {
    name: 'Authorizer: a revoked key stops working with the next request',
    async run({ as, admin, createKey }) {
      const { id, key } = await createKey();
      await as(key)('GET', LIST, 200);
      await admin('POST', `/v1/keys/${id}/revoke`, 200);
      await as(key)('GET', LIST, 'unauthorized');
    },
  },
  {
    name: 'Functions: each one responds',
    async run({ test, admin, as, name }) {
      for (const path of ['/v1/keys', '/v1/project', '/v1/audit']) await admin('GET', path, 200);
      for (const path of ['/v1/webhooks', '/v1/stats', '/v1/events']) await test('GET', path, 200);
      const key = `${name}:functions`;
      await test('PUT', `/v1/documents/${key}`, 201, DRAFT);
      await test('POST', '/v1/sync', 200, { body: { node_id: name, pattern: `${name}:*`, push: [], known: {} } });
      const grant = { documents: [key], permissions: ['read'], ttl: 60 };
      const token = as((await test('POST', '/v1/tokens', 201, { body: grant })).json.token);
      await token('GET', `/v1/documents/${key}`, 200);
      await token('GET', `/v1/documents/${key}:other`, 'document_not_allowed');
    },
  },
  {
    name: 'Delivery: a signed event arrives, and the log shows it',
    needs: 'receiver',
    async run(run) {
      const webhook = await createWebhook(run, 'document.created');
      const key = `${run.name}:${crypto.randomUUID()}`;
      await run.test('PUT', `/v1/documents/${key}`, 201, DRAFT);
      const { headers, body } = await receive(run, webhook, key);
      const { verified } = readDelivery(webhook.secret, headers, body);
      assert.ok(verified, `${headers['x-service-signature']} is not the signature of the body`);
      const path = `/v1/webhooks/${webhook.id}/deliveries/${headers['x-service-event-id']}`;
      const endsAt = performance.now() + DELIVERY_TIMEOUT_MS;
      for (;;) {
        const { status, json } = await run.test('GET', path, [200, 404]);
        if (json?.status === 'succeeded') return;
        const isToCome = status === 404 && performance.now() < endsAt;
        assert.ok(isToCome, `GET ${path}: ${status} ${JSON.stringify(json)}`);
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
      await run.test('PUT', `/v1/connections/${id}`, 200, { body });
      await receive(run, webhook, id, LEASE_SECONDS * 1000);
    },
  },
  {
    name: 'Email: SES accepts a test email to the addresses of the project',
    async run({ admin }) {
      await admin('POST', '/v1/project/test-mail', [202, 429], { body: {} }); // 429: one was sent within the last minute
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
  const { json } = await test('POST', '/v1/webhooks', 201, { body: { url, events: [type], description: name } });
  return { ...json, mark };
}

/** Waits for a delivery that contains `text`. If an attempt failed, the error contains the reason from the delivery log. */
async function receive(run: Run, { id, mark }: Webhook, text: string, moreMs = 0): Promise<Received> {
  const timeoutMs = DELIVERY_TIMEOUT_MS + moreMs;
  const endsAt = performance.now() + timeoutMs;
  for (;;) {
    const received = run.receiver?.received.find(({ url, body }) => url.includes(mark) && body.includes(text));
    if (received) return received;
    const { json } = await run.test('GET', `/v1/webhooks/${id}/deliveries?limit=1`, 200);
    const { error, status_code } = json.data[0]?.attempts?.at(-1) ?? {};
    assert.ok(!error, `the delivery failed: ${error} ${status_code ?? ''}`);
    assert.ok(performance.now() < endsAt, `no delivery within ${timeoutMs / 1000} s`);
    await sleep(LOOK_MS, undefined, { signal: run.signal });
  }
}
