import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tokenVerifier } from '../../../lib/client/token-verifier.ts';
import { fakeService, KEY_ID, tokenOf } from './fake-service.ts';

const NOW = Date.parse('2026-01-31T12:00:00.000Z');
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }));
afterEach(() => void vi.useRealTimers());
const seconds = NOW / 1000;
const KEYS = '/v1/tokens/keys';
const down = (path = KEYS) => {
  let isDown = false;
  return {
    set: (value: boolean) => {
      isDown = value;
    },
    fate: (request: { path: string }) => {
      if (isDown && request.path === path) throw new TypeError('fetch failed');
      return undefined;
    },
  };
};

describe('a token verifier', () => {
  it('returns the content of a token, and whether it allows a document', async () => {
    const service = await fakeService();
    const verifyToken = tokenVerifier(service.access);
    const token = await tokenOf(service, { claims: { user: 'u_1', exp: seconds + 60 } });
    const active = {
      active: true,
      token_id: 'tok_1',
      environment: 'live',
      documents: ['org:acme:*'],
      permissions: ['read'],
      user: 'u_1',
      expires_at: '2026-01-31T12:01:00.000Z',
      cache_seconds: 10,
    };
    expect(await verifyToken(token)).toEqual({ ...active, allowed: true });
    expect(await verifyToken(token, { document_key: 'org:acme:a', permission: 'read' })).toEqual({
      ...active,
      allowed: true,
    });
    expect(await verifyToken(token, { document_key: 'org:other:a' })).toEqual({ ...active, allowed: false });
    expect(await verifyToken(token, { document_key: 'org:acme:' })).toEqual({ ...active, allowed: false });
    expect(await verifyToken(token, { permission: 'write' })).toEqual({ ...active, allowed: false });
    expect(service.sent.map(({ method, path }) => `${method} ${path}`)).toEqual([`GET ${KEYS}`]);
    expect(service.sent[0]?.headers.get('Authorization')).toBe('Bearer svc_live_key');
  });

  it.each<[string, { claims?: Record<string, unknown>; header?: Record<string, unknown> }]>([
    ['an expired token', { claims: { exp: seconds } }],
    ['a token that is valid for too long', { claims: { exp: seconds + 86_401 } }],
    ['another issuer', { claims: { iss: 'other' } }],
    ['no audience', { claims: { aud: undefined } }],
    ['a subject that is not its key', { claims: { sub: 'key_bbbbbbbbbbbb' } }],
    ['no id', { claims: { jti: undefined } }],
    ['a time with a fraction', { claims: { iat: seconds + 0.5 } }],
    ['no documents', { claims: { documents: [] } }],
    ['another permission', { claims: { permissions: ['read', 'admin'] } }],
    ['another environment', { claims: { env: 'staging' } }],
    ['a user that is no text', { claims: { user: 7 } }],
    ['another type', { header: { typ: 'JWT' } }],
    ['an unknown key', { header: { kid: 'key_bbbbbbbbbbbb' }, claims: { sub: 'key_bbbbbbbbbbbb' } }],
    ['a member of the header that asks for another key', { header: { jku: 'https://example.com' } }],
    ['more than 2,048 bytes', { claims: { user: 'u'.repeat(2048) } }],
  ])('is inactive: %s', async (_, content) => {
    const service = await fakeService();
    expect(await tokenVerifier(service.access)(await tokenOf(service, content))).toEqual({ active: false });
  });

  it.each([
    ['svc_live_key', 'live', true],
    ['svc_live_key', 'sandbox', false],
    ['svc_admin_key', 'live', true],
    ['svc_admin_key', 'sandbox', false],
    ['svc_test_key', 'live', false],
    ['svc_test_key', 'sandbox', true],
  ])('with the key %s, accepts a token of %s: %s', async (credential, env, active) => {
    const service = await fakeService();
    const verifyToken = tokenVerifier({ ...service.access, credential });
    expect(await verifyToken(await tokenOf(service, { claims: { env } }))).toMatchObject({ active });
  });

  it('accepts no signature of another key, and no other notation of a token', async () => {
    const [service, other] = [await fakeService(), await fakeService()];
    const verifyToken = tokenVerifier(service.access);
    const token = await tokenOf(service);
    expect(await verifyToken(token)).toMatchObject({ active: true });
    const [head = '', payload = '', signature = ''] = token.split('.');
    const last = signature.at(-1) === 'A' ? 'B' : 'A';
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'svc-doc+jwt', kid: KEY_ID })).toString('base64url');
    const es = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'svc-doc+jwt', kid: KEY_ID })).toString('base64url');
    const forged = [
      await tokenOf(other),
      `${head}.${payload}.${signature}=`,
      `${head}.${payload}.${signature.slice(0, -1)}${String.fromCharCode(signature.charCodeAt(signature.length - 1) + 1)}`,
      `${head}.${payload}.${last}${signature.slice(1)}`,
      `${head}.${payload}.`,
      `${head}.${payload}`,
      `${none}.${payload}.`,
      `${es}.${payload}.${signature}`,
      `${token}.${signature}`,
      ` ${token}`,
      'nonsense',
    ];
    for (const text of forged) expect([text, await verifyToken(text)]).toEqual([text, { active: false }]);
  });

  it.each([
    ['its revocation', { revoked_tokens: ['tok_1'] }],
    ['the expiry of its key', { expires_at: new Date(NOW + 5000).toISOString() }],
  ])('ends a token within the time of the cache after %s', async (_, change) => {
    const service = await fakeService();
    const verifyToken = tokenVerifier(service.access);
    const token = await tokenOf(service);
    expect(await verifyToken(token)).toMatchObject({ active: true });
    Object.assign(service.key, change);
    vi.setSystemTime(NOW + 9_999);
    expect(await verifyToken(token)).toMatchObject({ active: true });
    vi.setSystemTime(NOW + 10_000);
    expect(await verifyToken(token)).toEqual({ active: false });
    expect(service.sentTo(KEYS)).toHaveLength(2);
  });

  it('requests the keys again for a key that is newer, at most once a second', async () => {
    const service = await fakeService();
    const verifyToken = tokenVerifier(service.access);
    const newer = await tokenOf(service);
    service.keys = [];
    expect(await verifyToken(newer)).toEqual({ active: false });
    service.keys = [service.key];
    for (let i = 0; i < 3; i++) expect(await verifyToken(newer)).toEqual({ active: false });
    expect(service.sentTo(KEYS)).toHaveLength(1);
    vi.setSystemTime(NOW + 1000);
    expect(await verifyToken(newer)).toMatchObject({ active: true });
    expect(service.sentTo(KEYS)).toHaveLength(2);
  });

  it('transfers an unchanged set once, and sends one request at a time', async () => {
    const service = await fakeService();
    const verifyToken = tokenVerifier(service.access);
    const token = await tokenOf(service);
    await Promise.all(Array.from({ length: 20 }, () => verifyToken(token)));
    expect(service.sentTo(KEYS)).toHaveLength(1);
    vi.setSystemTime(NOW + 10_000);
    expect(await Promise.all([verifyToken(token), verifyToken(token)])).toMatchObject([
      { active: true },
      { active: true },
    ]);
    expect(service.sentTo(KEYS)).toHaveLength(2);
    expect(service.sentTo(KEYS)[1]?.headers.get('If-None-Match')).toMatch(/^".+"$/);
  });

  it('uses the last keys for five minutes without a response, and then throws', async () => {
    const outage = down();
    const service = await fakeService({ fate: outage.fate });
    const verifyToken = tokenVerifier(service.access);
    const token = await tokenOf(service);
    await verifyToken(token);
    outage.set(true);
    for (const after of [10, 10.5, 299.9]) {
      vi.setSystemTime(NOW + after * 1000);
      expect(await verifyToken(token)).toMatchObject({ active: true });
    }
    expect(service.sentTo(KEYS)).toHaveLength(3); // the second check is within a second of a failure
    vi.setSystemTime(NOW + 301_000);
    await expect(verifyToken(token)).rejects.toThrow('fetch failed');
    outage.set(false);
    vi.setSystemTime(NOW + 302_000);
    expect(await verifyToken(token)).toMatchObject({ active: true });
  });

  it.each([401, 403])('accepts no token after %i, because its own credential has ended', async (status) => {
    let isEnded = false;
    const service = await fakeService({ fate: () => (isEnded ? new Response('{}', { status }) : undefined) });
    const verifyToken = tokenVerifier(service.access);
    const token = await tokenOf(service);
    await verifyToken(token);
    isEnded = true;
    vi.setSystemTime(NOW + 10_000);
    await expect(verifyToken(token)).rejects.toThrow(`the service responded with ${status}`);
  });

  it('waits for Retry-After before it requests the keys again', async () => {
    const service = await fakeService({
      fate: () => new Response('{}', { status: 429, headers: { 'Retry-After': '7' } }),
    });
    const verifyToken = tokenVerifier(service.access);
    const token = await tokenOf(service);
    for (const after of [0, 6.9, 7]) {
      vi.setSystemTime(NOW + after * 1000);
      await expect(verifyToken(token)).rejects.toThrow('429');
    }
    expect(service.sent).toHaveLength(2);
  });

  it('allows a token of a key with an allowlist only for its addresses', async () => {
    const service = await fakeService();
    service.key.cidrs = ['203.0.113.0/24', '2001:db8::/32'];
    const verifyToken = tokenVerifier(service.access);
    const token = await tokenOf(service);
    const allows = async (address?: string) =>
      (await verifyToken(token, address === undefined ? {} : { address })).allowed;
    for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '::ffff:cb00:7107', '2001:DB8:0::1'])
      expect([address, await allows(address)]).toEqual([address, true]);
    for (const address of [
      undefined,
      '203.0.114.7',
      '203.0.113.07',
      '0xcb007107',
      '::203.0.113.7',
      '2001:db9::1',
      'x',
      '[::1]',
      '203.0.113.7%1',
    ])
      expect([address, await allows(address)]).toEqual([address, false]);
  });
});

describe('a token of 0.1.0', () => {
  const head = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'svc-doc+jwt', kid: KEY_ID })).toString('base64url');
  const legacy = (name: string) => {
    const text = `${head}.${Buffer.from(JSON.stringify({ jti: name })).toString('base64url')}`;
    return `${text}.${createHmac('sha256', 'secret').update(text).digest('base64url')}`;
  };
  const at = (after: number) => new Date(NOW + after * 1000).toISOString();
  const active = (members: object = {}) => ({
    active: true,
    allowed: true,
    cache_seconds: 60,
    expires_at: at(3600),
    ...members,
  });
  const VERIFY = '/v1/tokens/verify';

  it('is checked by the service, with what is asked', async () => {
    const service = await fakeService();
    service.legacy = active();
    const check = { document_key: 'org:a', permission: 'write', address: '203.0.113.7' } as const;
    expect(await tokenVerifier(service.access)(legacy('a'), check)).toEqual(active());
    expect(service.sent.map(({ path, body }) => [path, body])).toEqual([[VERIFY, { token: legacy('a'), ...check }]]);
  });

  // From the start of the request, because a revocation can follow the check.
  it.each([
    [active(), 59.9, 1],
    [active(), 60, 2],
    [active({ expires_at: at(10) }), 9.9, 1],
    [active({ expires_at: at(10) }), 10, 2],
    [active({ cache_seconds: 1e9 }), 60, 2],
    [active({ cache_seconds: 0 }), 5, 2],
    [{ active: false }, 5, 2],
  ])('has a result, %o, that is reused %d s later: %i requests', async (response, after, requests) => {
    const service = await fakeService({ fate: () => void vi.setSystemTime(Date.now() + 5000) as undefined });
    service.legacy = response;
    const verifyToken = tokenVerifier(service.access);
    await verifyToken(legacy('a'));
    vi.setSystemTime(NOW + after * 1000);
    expect(await verifyToken(legacy('a'))).toEqual(response);
    expect(service.sent).toHaveLength(requests);
  });

  it('shares a request with the same check, and no result of another one', async () => {
    const service = await fakeService();
    service.legacy = active();
    const verifyToken = tokenVerifier({ ...service.access, maxCached: 3 });
    await Promise.all([verifyToken(legacy('a')), verifyToken(legacy('a')), verifyToken(legacy('b'))]);
    expect(service.sent).toHaveLength(2);
    await verifyToken(legacy('a'), { document_key: 'a' });
    await verifyToken(legacy('a'), { document_key: 'a', permission: 'read' }); // the oldest result leaves
    await verifyToken(legacy('b'));
    expect(service.sent).toHaveLength(4);
    await verifyToken(legacy('a'));
    expect(service.sent).toHaveLength(5);
  });

  it.each([401, 429, 503])('throws if the service responds with %i, and asks again', async (status) => {
    const service = await fakeService({ fate: () => new Response('{}', { status }) });
    const verifyToken = tokenVerifier(service.access);
    for (let i = 0; i < 2; i++) await expect(verifyToken(legacy('a'))).rejects.toThrow(`responded with ${status}`);
    expect(service.sent).toHaveLength(2);
  });
});
