import assert from 'node:assert/strict';
import tls from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { CORS_ALLOWED, CORS_HEADERS } from '../../../../lib/http/cors.ts';
import type { ProblemCode } from '../../../../lib/http/problems.ts';
import type { Response } from '../client.ts';
import type { Check, Run } from '../run.ts';
import { expectHeaders, expectProblem, expectStatus } from './expectations.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Exceeds the limit of Lambda (6 MB) after Base64 encoding (API Gateway Developer Guide, "Binary media types"). */
const TOO_MANY_BYTES = 6 * 1024 * 1024;
const CREDENTIAL_OF_NOBODY = `svc_test_${'0'.repeat(50)}`;
const CSP = /default-src 'none'.*frame-ancestors 'none'/;
const PAGES = ['/dashboard', '/docs', '/docs/errors'];

const problems: [what: string, code: ProblemCode, request: (run: Run) => Promise<Response>][] = [
  ['no credential', 'unauthorized', ({ as }) => as(null)('GET', '/v1/webhooks')],
  ['an unknown credential', 'unauthorized', ({ as }) => as(CREDENTIAL_OF_NOBODY)('GET', '/v1/webhooks')],
  ['a key without the permission', 'insufficient_permissions', ({ test }) => test('GET', '/v1/keys')],
  ['an unknown route', 'route_not_found', ({ test }) => test('GET', '/v1/nothing')],
  ['an unsupported method', 'method_not_allowed', ({ test }) => test('PUT', '/v1/webhooks')],
  ['an unsupported method without a credential', 'unauthorized', ({ as }) => as(null)('PUT', '/v1/webhooks')],
  ['an unknown resource', 'not_found', ({ test, name }) => test('GET', `/v1/documents/${name}:nothing`)],
  ['a body that is not JSON', 'invalid_json', ({ test }) => test('POST', '/v1/events', { body: '{' })],
  ['an invalid body', 'invalid_request', ({ test }) => test('POST', '/v1/events', { body: {} })],
  [
    'another media type',
    'unsupported_media_type',
    ({ test }) => test('POST', '/v1/events', { body: '{}', headers: { 'Content-Type': 'text/plain' } }),
  ],
  [
    'a body that is too large',
    'payload_too_large',
    ({ test }) => test('POST', '/v1/events', { body: Buffer.alloc(TOO_MANY_BYTES, ' ') }),
  ],
];

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
    name: 'Responses: have a request id and security headers',
    async run({ test }) {
      const response = await test('GET', '/v1/webhooks?limit=1');
      expectStatus(response, 200);
      const headers = {
        'X-Content-Type-Options': 'nosniff',
        'Strict-Transport-Security': /^max-age=\d+/,
        'Content-Security-Policy': CSP,
        'Cache-Control': 'no-store',
        'X-Request-Id': /^[\w-]{36}$/,
      };
      expectHeaders(response, headers);
    },
  },
  ...problems.map(([what, code, request]) => ({
    name: `Problems: ${what}`,
    async run(run: Run) {
      expectProblem(await request(run), code);
    },
  })),
  {
    name: 'Responses: are compressed for clients that accept gzip',
    async run({ as }) {
      const path = '/v1/openapi.json';
      const [plain, compressed] = await Promise.all(
        ['identity', 'gzip'].map((encoding) => as(null)('GET', path, { headers: { 'Accept-Encoding': encoding } })),
      );
      assert.ok(plain && compressed);
      expectHeaders(compressed, { 'Content-Encoding': 'gzip' });
      assert.ok(gunzipSync(compressed.bytes).equals(plain.bytes), `${path}: the decompressed body differs`);
      assert.ok(
        compressed.bytes.length < plain.bytes.length / 2,
        `${path}: ${compressed.bytes.length} bytes compressed`,
      );
    },
  },
  ...PAGES.map((path) => ({
    name: `Pages: ${path} and its files load, with a Content-Security-Policy`,
    async run({ as, baseUrl }: Run) {
      const page = await as(null)('GET', path);
      expectStatus(page, 200);
      expectHeaders(page, {
        'Content-Type': /^text\/html/,
        'Content-Security-Policy': CSP,
        'Strict-Transport-Security': /^max-age=\d+/,
        'X-Content-Type-Options': 'nosniff',
      });
      const links = [...page.text.matchAll(/<(?:script|link)\b[^>]*\b(?:src|href)="([^"]+)"/g)].map(([, link]) => link);
      assert.ok(links.length > 0, `${path} loads nothing`);
      for (const link of links) {
        const { href } = new URL(link ?? '', baseUrl + path);
        assert.ok(href.startsWith(baseUrl), `${path} loads ${href}`);
        expectStatus(await as(null)('GET', href.slice(baseUrl.length)), 200);
      }
    },
  })),
  {
    name: 'OpenAPI: the document contains the base URL',
    async run({ as, baseUrl }) {
      const { json } = await as(null)('GET', '/v1/openapi.json');
      assert.ok(json?.servers?.[0]?.url === baseUrl, `servers: ${JSON.stringify(json?.servers)} instead of ${baseUrl}`);
    },
  },
  {
    name: 'CORS: any origin can call the operations for tokens and read problems',
    async run({ as, name }) {
      const headers = { Origin: 'https://example.com', 'Access-Control-Request-Method': 'PUT' };
      const preflight = await as(null)('OPTIONS', `/v1/documents/${name}`, { headers });
      assert.ok(preflight.status < 300, `${preflight.request}: ${preflight.status}`);
      expectHeaders(preflight, {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': /\bPUT\b/,
        'Access-Control-Allow-Headers': new RegExp(CORS_ALLOWED.join('.*')),
      });
      expectHeaders(await as(null)('GET', `/v1/documents/${name}`, { headers }), CORS_HEADERS);
    },
  },
  {
    name: 'CORS: no origin can manage keys',
    async run({ admin }) {
      const { request, headers } = await admin('GET', '/v1/keys?limit=1');
      const origin = headers['access-control-allow-origin'];
      assert.ok(origin === undefined, `${request}: Access-Control-Allow-Origin is "${origin}"`);
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
