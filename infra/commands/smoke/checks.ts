import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { CORS_HEADERS } from '../../../lib/http/headers.ts';
import { readDelivery } from '../received.ts';
import type { Check } from './run.ts';

/** A delivery includes cold starts, batching windows and the lease. */
export const DELIVERY_TIMEOUT_MS = 40_000;
const LOOK_MS = 500;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** The shortest lease. */
export const LEASE_SECONDS = 10;
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
    async run({ baseUrl }) {
      const accepted = await handshake(baseUrl, 'TLSv1.3');
      assert.ok(accepted === 'accepted', `TLS 1.3: ${accepted}`);
      const older = await handshake(baseUrl, 'TLSv1.2');
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
        'Access-Control-Allow-Headers': /^Authorization, ?\*$/,
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
    name: 'Authorizer: an allowlist and a revocation apply to the next request',
    async run({ as, admin, createKey }) {
      const { id, key } = await createKey();
      const path = `/v1/keys/${id}/allowlist`;
      await admin('POST', path, 200, { body: { cidrs: [UNUSED_BLOCK] } });
      await as(key)('GET', LIST, 'ip_not_allowed');
      await admin('POST', path, 200, { body: { cidrs: ['0.0.0.0/0', '::/0'] } });
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
    name: 'Delivery: the signed events of a document and of an expired lease arrive',
    needs: 'receiver',
    async run({ test, name, receiver, signal }) {
      const events = ['document.created', 'connection.lost'];
      const settings = { url: receiver?.url, events, description: name };
      const { id, secret } = (await test('POST', '/v1/webhooks', 201, { body: settings })).json;
      const log = `/v1/webhooks/${id}/deliveries`;
      const document = `${name}:${crypto.randomUUID()}`;
      await test('PUT', `/v1/documents/${document}`, 201, DRAFT);
      const lease = { node_id: document, lease_seconds: LEASE_SECONDS };
      await test('PUT', `/v1/connections/${name}`, 200, { body: lease });
      for (const type of events) {
        const { headers, body } = await until(signal, async () => {
          const { error, status_code } =
            (await test('GET', `${log}?limit=1`, 200)).json.data[0]?.attempts?.at(-1) ?? {};
          assert.ok(!error, `the delivery failed: ${error} ${status_code ?? ''}`);
          return receiver?.received.find(({ body }) => body.includes(document) && body.includes(type));
        });
        const { verified } = readDelivery(secret, headers, body);
        assert.ok(verified, `${headers['x-service-signature']} is not the signature of the body`);
        await until(signal, async () => {
          const { json } = await test('GET', `${log}/${headers['x-service-event-id']}`, [200, 404]);
          return json.status === 'succeeded' || undefined;
        });
      }
    },
  },
  {
    name: 'Email: SES accepts a test email to the addresses of the project',
    async run({ admin }) {
      await admin('POST', '/v1/project/test-mail', [202, 429], { body: {} }); // 429: one was sent within the last minute
    },
  },
];

/** Connects with one TLS version, and returns `accepted` or the reason for the rejection. */
function handshake(baseUrl: string, version: tls.SecureVersion): Promise<string> {
  const { hostname: host, port } = new URL(baseUrl);
  const servername = /[a-z]/.test(host) ? host : ''; // not an IP address
  const versions = { minVersion: version, maxVersion: version };
  const socket = tls.connect({ host, port: Number(port || 443), servername, ...versions });
  socket.setTimeout(HANDSHAKE_TIMEOUT_MS, () => socket.destroy(new Error('timeout')));
  return once(socket, 'secureConnect')
    .then(
      () => 'accepted',
      ({ message }: Error) => message,
    )
    .finally(() => socket.destroy());
}

/** Looks until there is a result. Throws after the timeout. */
async function until<Result>(signal: AbortSignal, look: () => Promise<Result | undefined>): Promise<Result> {
  for (const endsAt = performance.now() + DELIVERY_TIMEOUT_MS; ; ) {
    const result = await look();
    if (result !== undefined) return result;
    assert.ok(performance.now() < endsAt, `no delivery within ${DELIVERY_TIMEOUT_MS / 1000} s`);
    await sleep(LOOK_MS, undefined, { signal });
  }
}
