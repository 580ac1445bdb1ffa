import assert from 'node:assert/strict';
import tls from 'node:tls';
import { CORS_ALLOWED, CORS_HEADERS } from '../../../lib/http/cors.ts';
import type { ProblemCode } from '../../../lib/http/problems.ts';
import type { Response } from './client.ts';
import { expectHeaders, expectProblem, expectStatus } from './expectations.ts';
import type { Check, Run } from './run.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Exceeds the limit of Lambda (6 MB) after Base64 encoding (API Gateway Developer Guide, "Binary media types"). */
const TOO_MANY_BYTES = 6 * 1024 * 1024;
const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': /^max-age=\d+/,
  'Content-Security-Policy': /default-src 'none'.*frame-ancestors 'none'/,
};
const PAGES = ['/dashboard', '/docs', '/docs/errors'];

/** Rejections by API Gateway and by the authorizer. Functions do not see these requests. */
const problems: [code: ProblemCode, request: (run: Run) => Promise<Response>][] = [
  ['unauthorized', ({ as }) => as(null)('GET', '/v1/webhooks')],
  ['unauthorized', ({ as }) => as(`svc_test_${'0'.repeat(50)}`)('GET', '/v1/webhooks')],
  ['insufficient_permissions', ({ test }) => test('GET', '/v1/keys')],
  ['route_not_found', ({ test }) => test('GET', '/v1/nothing')],
  ['method_not_allowed', ({ test }) => test('PUT', '/v1/webhooks')],
  ['payload_too_large', ({ test }) => test('POST', '/v1/events', { body: ' '.repeat(TOO_MANY_BYTES) })],
];

/** What API Gateway does before and after the functions. */
export const gatewayChecks: Check[] = [
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
    name: 'Gateway: rejects requests with documented problems',
    async run(run) {
      for (const [code, request] of problems) expectProblem(await request(run), code);
    },
  },
  {
    name: 'Gateway: sends security headers, and compresses responses',
    async run({ test, as }) {
      const response = await test('GET', '/v1/webhooks?limit=1');
      expectStatus(response, 200);
      expectHeaders(response, { ...SECURITY_HEADERS, 'Cache-Control': 'no-store', 'X-Request-Id': /^[\w-]{36}$/ });
      const document = await as(null)('GET', '/v1/openapi.json', { headers: { 'Accept-Encoding': 'gzip' } });
      expectHeaders(document, { 'Content-Encoding': 'gzip' });
    },
  },
  {
    name: 'Gateway: pages of any origin can call operations for tokens',
    async run({ as, name }) {
      const path = `/v1/documents/${name}`;
      const headers = { Origin: 'https://example.com', 'Access-Control-Request-Method': 'PUT' };
      const preflight = await as(null)('OPTIONS', path, { headers });
      assert.ok(preflight.status < 300, `${preflight.request}: ${preflight.status}`);
      expectHeaders(preflight, {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': /\bPUT\b/,
        'Access-Control-Allow-Headers': new RegExp(CORS_ALLOWED.join('.*')),
      });
      expectHeaders(await as(null)('GET', path, { headers }), CORS_HEADERS);
    },
  },
  {
    name: 'Pages: load with all of their files from the base URL',
    async run({ as, baseUrl }) {
      for (const path of PAGES) {
        const page = await as(null)('GET', path);
        expectStatus(page, 200);
        expectHeaders(page, { 'Content-Type': /^text\/html/, ...SECURITY_HEADERS });
        const links = [...page.text.matchAll(/<(?:script|link)\b[^>]*\b(?:src|href)="([^"]+)"/g)];
        assert.ok(links.length > 0, `${path} loads nothing`);
        for (const [, link = ''] of links) {
          const { href } = new URL(link, baseUrl + path);
          assert.ok(href.startsWith(baseUrl), `${path} loads ${href}`);
          expectStatus(await as(null)('GET', href.slice(baseUrl.length)), 200);
        }
      }
      const { json } = await as(null)('GET', '/v1/openapi.json');
      assert.ok(json?.servers?.[0]?.url === baseUrl, `servers: ${JSON.stringify(json?.servers)} instead of ${baseUrl}`);
    },
  },
];

/** Connects with one TLS version, and returns `accepted` or the reason for the rejection. */
function handshake({ baseUrl, ca }: Run, version: tls.SecureVersion): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const versions = { minVersion: version, maxVersion: version };
  return new Promise((resolve) => {
    const options = { host: hostname, port: Number(port || 443), servername: /[a-z]/.test(hostname) ? hostname : '' };
    const socket = tls.connect({ ...options, ...versions, ...(ca !== undefined && { ca }) }, () => settle('accepted'));
    const settle = (outcome: string) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.setTimeout(HANDSHAKE_TIMEOUT_MS, () => settle('timeout'));
    socket.on('error', ({ message }) => settle(message));
  });
}
