import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { CustomHeaders } from '../../../lib/webhooks/custom-headers.ts';
import { violationsOf } from '../../support/violations.ts';

const RESERVED = [
  ...['Content-Type', 'user-agent', 'HOST', 'X-Service-Signature', 'webhook-id', 'Connection', 'Transfer-Encoding'],
  ...['Content-Length', 'Content-Encoding', 'HTTP2-Settings', 'Via', 'date', 'Forwarded', 'X-Forwarded-For'],
  ...['X-HTTP-Method-Override', 'X-Amz-Date', 'x-amzn-trace-id', 'X-Original-URL', 'X-Real-IP', 'CF-Connecting-IP'],
  ...['Trailer', 'Expect', 'TE', 'Upgrade', 'Keep-Alive', 'Proxy-Authorization', 'Content-Range', 'X-Forwarded'],
  ...['X-Rewrite-URL', 'X-Host', 'X-Client-IP', 'X-URL-Scheme', 'X-Method-Override', 'True-Client-IP'],
  ...['Range', 'Cookie', 'Remote-User', 'X-Remote-Addr', 'X-Remote-User', 'Client-IP', 'X-Cluster-Client-IP'],
  ...[
    'Fly-Client-IP',
    'Fastly-Client-IP',
    'WL-Proxy-Client-IP',
    'DO-Connecting-IP',
    'CF-Connecting-IPv6',
    'X-Azure-ClientIP',
  ],
  ...['X-Azure-FDID', 'X-Envoy-External-Address', 'X-SSL-Client-Verify', 'SSL-Client-Cert', 'X-Client-Cert'],
  ...['X-Auth-Request-Email', 'X-WebAuth-User', 'X-MS-Client-Principal', 'X-Goog-Authenticated-User-Email'],
  ...['CF-IPCountry', 'CF-Access-Authenticated-User-Email', 'X-NF-Client-Connection-IP', 'X-Vercel-Forwarded-For'],
];
/** Credentials that a gateway in front of an endpoint can require. */
const CREDENTIALS = [
  ...[
    'Authorization',
    'X-Api-Key',
    'X-Auth-Token',
    'X-Client-Id',
    'X-Client-Secret',
    'X-Goog-Api-Key',
    'X-Functions-Key',
  ],
  ...['CF-Access-Client-Id', 'CF-Access-Client-Secret', 'X-Vercel-Protection-Bypass', 'Ngrok-Skip-Browser-Warning'],
];
const violations = (headers: unknown) => violationsOf(v.object({ headers: CustomHeaders }), { headers });

describe("a webhook's own headers", () => {
  it.each<[string, object]>([
    ['none', {}],
    ['a credential', { Authorization: 'Bearer abc', 'X-Api-Key': 'k', 'X-Amazing': 'v', Dated: '*', '1_a.b': 'v' }],
    ['10 of them', Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`X-${i}`, 'v']))],
    ['2 KiB in all', { 'X-Long': 'x'.repeat(2042) }],
  ])('may be %s', (_, headers) => {
    expect(violations(headers)).toEqual([]);
  });

  it.each<[string, unknown, RegExp]>([
    ['a list', ['a'], /^headers must be an object/],
    ['11 of them', Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`X-${i}`, 'v'])), /at most 10 entries/],
    ['more than 2 KiB', { 'X-Long': 'x'.repeat(2043) }, /at most 2048 bytes/],
    ['a name with a space', { 'a b': 'v' }, /headers\.a b must have a name/],
    ['an empty name', { '': 'v' }, /must have a name/],
    ['a number', { a: 1 }, /^headers\.a must be printable/],
    ['a value with spaces around it', { a: 'v ' }, /^headers\.a must be printable/],
    ['a value with another header', { a: 'v\r\nHost: b' }, /^headers\.a must be printable/],
    ['one name twice', { 'X-A': '1', 'x-a': '2' }, /is a duplicate/],
    ['one name twice for servers that read _ as -', { 'X-A': '1', x_a: '2' }, /is a duplicate/],
    ['the masked value of a response', { Authorization: '***' }, /^headers\.Authorization is masked in responses/],
  ])('may not be %s', (_, headers, expected) => {
    expect(violations(headers)[0]).toMatch(expected);
  });

  it.each(RESERVED)('may not be %s, also with _ or another symbol in place of -', (name) => {
    for (const symbol of ['-', '_', '.'])
      expect(violations({ [name.replaceAll('-', symbol)]: 'v' })[0]).toMatch(
        /only the service, HTTP or a proxy may set/,
      );
  });

  it.each(CREDENTIALS)('may be %s, a credential', (name) => {
    expect(violations({ [name]: 'v' })).toEqual([]);
  });

  it('report all violations together', () => {
    expect(violations({ 'a b': 'v', Host: 'x', ok: 'v' })).toHaveLength(2);
  });
});
