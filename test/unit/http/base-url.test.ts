import { describe, expect, it } from 'vitest';
import { baseUrlOf } from '../../../lib/http/base-url.ts';

const of = (path: string, resource: string, headers: Record<string, string> = { Host: 'api.example.com' }) =>
  baseUrlOf({ headers, resource, requestContext: { path } });

describe('the base URL of a request', () => {
  it.each([
    ['the stage of the default endpoint', '/live/v1/documents/a%3Ab', '/v1/documents/{key}', '/live'],
    ['no stage with a domain', '/v1/webhooks', '/v1/webhooks', ''],
    ['the base path of a domain', '/sync/v1/keys/k/rotate', '/v1/keys/{key}/rotate', '/sync'],
    ['a base path that equals the start of the route', '/v1/v1/keys/k', '/v1/keys/{key}', '/v1'],
    ['the stage before a file', '/live/docs/docs.css', '/docs/{file}', '/live'],
    ['a trailing slash', '/live/v1/keys/', '/v1/keys', '/live'],
    ['the root of a stage', '/live/', '/', '/live'],
    ['the root of a stage without its slash', '/live', '/', '/live'],
    ['the root of a domain', '/', '/', ''],
    ['a path that only begins like the route', '/v1x/v1/sync', '/v1/sync', '/v1x'],
  ])('has %s', (_, path, resource, expected) => {
    expect(of(path, resource)).toBe(`https://api.example.com${expected}`);
  });

  const local = { Host: '127.0.0.1:3000', 'X-Forwarded-Proto': 'http' };
  const ipv6 = { Host: '[::1]:3000', 'X-Forwarded-Proto': 'http' };
  const lowerCase = { host: 'localhost:3000', 'x-forwarded-proto': 'http' };
  it.each<[string, Record<string, string>, string]>([
    ['the protocol and the port of the request', local, 'http://127.0.0.1:3000'],
    ['an IPv6 address', ipv6, 'http://[::1]:3000'],
    ['no other protocol', { ...local, 'X-Forwarded-Proto': 'javascript' }, 'https://127.0.0.1:3000'],
    ['no host that the caller chooses', { Host: 'a.example', 'X-Forwarded-Host': 'evil.example' }, 'https://a.example'],
    ['the host of a header in any case', lowerCase, 'http://localhost:3000'],
  ])('has %s', (_, headers, expected) => {
    expect(of('/v1/sync', '/v1/sync', headers)).toBe(expected);
  });

  it.each([undefined, '', 'a b', 'a/b', 'a"><script>', 'user@host', 'a\nb'])('is empty for the host %j', (Host) => {
    expect(of('/v1/sync', '/v1/sync', Host === undefined ? {} : { Host })).toBe('');
  });
});
