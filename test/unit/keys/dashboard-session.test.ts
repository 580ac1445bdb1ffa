import { randomBytes as random } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { lifetimeOf } from '../../../lib/keys/dashboard-link.ts';
import { parentOfSession, signSession, verifySession } from '../../../lib/keys/dashboard-session.ts';
import { newApiKey } from '../../../lib/keys/key-secret.ts';
import { dashboardLink, sessionIn } from '../../../lib/keys/link-fragment.ts';
import { publicKeyOf, sessionSigningKey, tokenSigningKey } from '../../../lib/keys/signing-key.ts';
import { parentOf, signToken, verifyToken } from '../../../lib/keys/token.ts';

const now = Date.UTC(2026, 0, 31, 12);
const seconds = now / 1000;
const { id } = newApiKey('live', now, random);
const tokenSecret = random(32).toString('base64url');
const parent = { id, type: 'live' as const, projectId: 'prj_1', tokenSecret, publicKey: publicKeyOf(tokenSecret) };
const session = { sessionId: 's_1', environment: 'live', role: 'viewer', user: 'Ann' } as const;
const grant = { tokenId: 'tok_1', keyId: id, projectId: 'prj_1', environment: 'live', documents: ['*'] } as const;

const header = { alg: 'EdDSA', typ: 'svc-session+jwt', kid: id };
const claims = {
  iss: 'document-sync',
  aud: 'prj_1/dashboard',
  sub: id,
  jti: 's_1',
  iat: seconds,
  exp: seconds + 60,
  env: 'live',
  role: 'viewer',
  user: 'Ann',
};
const forge = (payload: object, head: object = header, key = sessionSigningKey(tokenSecret)) =>
  new SignJWT({ ...payload }).setProtectedHeader({ ...header, ...head }).sign(key);
const accepted = async (text: string, at = now, of: Parameters<typeof verifySession>[1] = parent) =>
  parentOfSession(text) === id ? await verifySession(text, of, at) : null;

describe('a dashboard session', () => {
  it('works until it expires', async () => {
    const text = await signSession(session, parent, 60, now);
    expect(await accepted(text, now + 59_999)).toEqual(session);
    expect(await accepted(text, now + 60_000)).toBe('expired');
    expect(await accepted(await forge(claims))).toEqual(session);
    const { user: _, ...anonymous } = session;
    expect(await accepted(await signSession(anonymous, parent, 86_400, now))).toEqual(anonymous);
  });

  it.each<[string, object]>([
    ['no role', { role: undefined }],
    ['another role', { role: 'admin' }],
    ['the audience of tokens', { aud: 'prj_1' }],
    ['the audience of another project', { aud: 'prj_2/dashboard' }],
    ['another issuer', { iss: 'other' }],
    ['another subject', { sub: 'key_000000000000' }],
    ['no id', { jti: undefined }],
    ['no expiry', { exp: undefined }],
    ['a lifetime above 24 hours', { exp: seconds + 86_401 }],
    ['a start that no clock explains', { iat: seconds + 6 }],
    ['another environment than its key', { env: 'sandbox' }],
    ['a user that is no text', { user: 7 }],
    ['more claims', { documents: ['*'], permissions: ['write'] }],
  ])('is rejected with %s', async (_, changed) => {
    expect(await accepted(await forge({ ...claims, ...changed }))).toBeNull();
  });

  it.each<[string, object]>([
    ['the type of tokens', { typ: 'svc-doc+jwt' }],
    ['no type', { typ: undefined }],
    ['another key', { kid: 'key_000000000000' }],
    ['a key of its own', { jwk: { kty: 'oct', k: 'AAAA' } }],
  ])('is rejected with %s in its header', async (_, head) => {
    expect(await accepted(await forge(claims, head))).toBeNull();
  });

  it('is rejected with the signature of another key, also of that for tokens', async () => {
    const other = random(32).toString('base64url');
    for (const key of [sessionSigningKey(other), tokenSigningKey(tokenSecret)])
      expect(await accepted(await forge(claims, {}, key))).toBeNull();
    const hmac = new SignJWT(claims).setProtectedHeader({ ...header, alg: 'HS256' });
    expect(await accepted(await hmac.sign(Buffer.from(tokenSecret, 'base64url')))).toBeNull();
  });

  it('is never a token, and no token is a session', async () => {
    const text = await signSession(session, parent, 60, now);
    const token = await signToken({ ...grant, documents: ['*'], permissions: ['read', 'write'] }, 60, now, tokenSecret);
    expect([parentOf(text), await verifyToken(text, parent, now)]).toEqual([null, null]);
    expect([parentOfSession(token), await verifySession(token, parent, now)]).toEqual([null, null]);
    const ofToken = { documents: ['*'], permissions: ['read'] };
    const { role: _, ...common } = { ...claims, ...ofToken, aud: 'prj_1' };
    const disguised = await forge(common, { typ: 'svc-doc+jwt' }); // with the key of sessions
    expect([parentOf(disguised), await verifyToken(disguised, parent, now)]).toEqual([id, null]);
  });
});

describe('the lifetime of a link', () => {
  it.each([
    ['is the requested one', undefined, 60, now + 60_000],
    ['ends with its key', now + 30_500, 31, now + 30_500],
    ['is the requested one if its key lives longer', now + 90_000, 60, now + 60_000],
  ])('%s', (_, keyExpiresAt, lifetime, endsAt) => {
    expect(lifetimeOf(60, now + 999, keyExpiresAt)).toEqual({ seconds: lifetime, endsAt });
  });
});

it('the fragment of a link contains its session, and other fragments contain none', () => {
  const url = new URL(dashboardLink('https://api.example.com/dashboard', 'a.b.c'));
  expect([url.pathname, url.search, sessionIn(url.hash)]).toEqual(['/dashboard', '', 'a.b.c']);
  for (const fragment of ['', '#', '#/live/session=a.b.c', '#session', '#Session=a.b.c'])
    expect(sessionIn(fragment)).toBeNull();
});
