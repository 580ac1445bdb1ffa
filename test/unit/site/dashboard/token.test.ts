import { describe, expect, it } from 'vitest';
import { type Standing, whyInactive } from '../../../../functions/site/dashboard/tokens/standing.ts';
import { decodeToken, reachOf } from '../../../../functions/site/dashboard/tokens/token.ts';
import { type Grant, signToken } from '../../../../lib/keys/token.ts';
import type { Environment } from '../../../../lib/space.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const grant = {
  tokenId: 'tok_1',
  keyId: 'key_1',
  projectId: 'prj_1',
  environment: 'live' as const,
  documents: ['org:acme:*', 'übung>>>>>>??????'], // - and _ in base64url
  permissions: ['read' as const],
};
const secret = Buffer.alloc(32, 1).toString('base64url');
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

async function claimsOf(overrides: Partial<Grant> = {}) {
  const decoded = decodeToken(`  ${await signToken({ ...grant, ...overrides }, 3600, NOW_MS, secret)}\n`);
  if ('problem' in decoded) throw new Error(decoded.problem);
  return decoded.claims;
}

describe('a pasted token', () => {
  it('is shown with the content that the service signed', async () => {
    expect(await claimsOf()).toEqual({
      tokenId: 'tok_1',
      keyId: 'key_1',
      environment: 'live',
      documents: grant.documents,
      permissions: ['read'],
      issuedAt: NOW_MS,
      expiresAt: NOW_MS + 3_600_000,
    });
  });

  it('is shown with its user', async () => {
    expect((await claimsOf({ user: 'Ann 👩‍💻' })).user).toBe('Ann 👩‍💻');
  });

  const ours = { typ: 'svc-doc+jwt' };
  const claims = { sub: 'key_1', jti: 'tok_1', env: 'live', documents: ['a'], permissions: ['read'], iat: 1, exp: 2 };
  it.each([
    ['a', 'three parts'],
    ['svc_live_x', 'API key'],
    ['!.!.!', 'base64url'],
    [`${encoded(null)}.${encoded([])}.x`, 'base64url'],
    [`${encoded({ typ: 'JWT' })}.${encoded(claims)}.x`, 'no scoped token'],
    [`${encoded(ours)}.${encoded({ ...claims, exp: 1e15 })}.x`, 'no scoped token'],
    [`${encoded(ours)}.${encoded({ ...claims, documents: [1] })}.x`, 'no scoped token'],
    [`${encoded(ours)}.${encoded({ ...claims, user: 7 })}.x`, 'no scoped token'],
    [`${encoded(ours)}.${encoded({ ...claims, sub: '\ud800' })}.x`, 'no scoped token'], // not possible in a link
    ...Object.keys(claims).map((name) => [
      `${encoded(ours)}.${encoded({ ...claims, [name]: undefined })}.x`,
      'no scoped token',
    ]),
  ])('is rejected if it is invalid: %s', (text, problem) => {
    expect(decodeToken(text)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

describe('the reach of a token', () => {
  it.each<[boolean, string, boolean, string]>([
    [true, 'org:acme:doc', true, 'org:acme:* matches, and the token has the read permission.'],
    [true, 'org:other:doc', false, 'None of its patterns matches this key.'],
    [false, 'org:acme:doc', false, 'The token is not active.'],
  ])('is nothing unless the service says that it is active: %s, %s', async (isActive, key, isAllowed, reason) => {
    expect(reachOf(await claimsOf(), isActive, 'read', key)).toEqual({ isAllowed, reason });
  });
});

describe('a token that is not active', () => {
  const usable = { status: 'active' as const, cidrs: [] };
  it.each<[string, Standing['key'], number, Environment, string]>([
    ['its key is missing', null, 0, 'live', 'This project has no key with the id that it names.'],
    ['its key is revoked', { ...usable, status: 'revoked' }, 3_600_000, 'live', 'Its key is revoked.'],
    ['its key has expired', { ...usable, status: 'expired' }, 0, 'live', 'Its key has expired.'],
    ['it has expired', usable, 3_600_000, 'live', 'It has expired.'],
    ['it has another environment', usable, 0, 'sandbox', 'It is for live, and this page shows sandbox.'],
    ['nothing else shows why', usable, 3_599_999, 'live', 'It is revoked, or its signature is not valid.'],
    ['the user cannot read keys', undefined, 0, 'live', 'It is revoked, its key no longer works, or its signature'],
  ])('states the cause: %s', async (_, key, ms, environment, text) => {
    expect(whyInactive(await claimsOf(), { environment, key }, NOW_MS + ms)).toContain(text);
  });
});
