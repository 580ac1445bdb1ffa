import { describe, expect, it } from 'vitest';
import { decodeToken, reachOf } from '../../../../functions/site/dashboard/tokens/token.ts';
import { type Grant, signToken } from '../../../../lib/keys/token.ts';

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
  it('grants nothing after it expires', async () => {
    const reach = reachOf(await claimsOf(), 'read', 'org:acme:doc', NOW_MS + 3_600_000);
    expect(reach).toEqual({ isAllowed: false, reason: 'The token has expired.' });
  });
});
