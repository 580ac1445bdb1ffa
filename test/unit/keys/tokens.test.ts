import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes as random,
  sign,
} from 'node:crypto';
import fc from 'fast-check';
import { jwtVerify } from 'jose';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { ID_ALPHABET, timeOf } from '../../../lib/id-time.ts';
import { authenticateToken } from '../../../lib/keys/authenticate.ts';
import { newApiKey } from '../../../lib/keys/key-secret.ts';
import {
  hasExpired,
  isTokenOf,
  keyIdOfToken,
  mayRevoke,
  newTokenId,
  TokenId,
} from '../../../lib/keys/revoked-tokens.ts';
import { publicKeyOf, tokenSigningKey } from '../../../lib/keys/signing-key.ts';
import { parentOf, signToken, verifyToken } from '../../../lib/keys/token.ts';
import { verificationOf } from '../../../lib/keys/token-introspection.ts';
import { newKey } from '../../memory/contracts/builders.ts';

const now = Date.UTC(2026, 0, 31, 12);
const seconds = now / 1000;
const { id } = newApiKey('live', now, random);
const secret = Buffer.from(random(32));
const tokenSecret = secret.toString('base64url');
const publicKey = publicKeyOf(tokenSecret);
const parent = { id, type: 'live' as const, projectId: 'prj_1', tokenSecret, publicKey };
const grant = {
  tokenId: 'tok_1',
  keyId: id,
  projectId: 'prj_1',
  environment: 'live' as const,
  documents: ['org:acme:*'],
  permissions: ['read' as const],
};

/** The header of release 0.1.0. */
const earlier = { alg: 'HS256', typ: 'svc-doc+jwt', kid: id };
const header = { alg: 'EdDSA', typ: 'svc-doc+jwt', kid: id };
const claims = {
  iss: 'document-sync',
  aud: 'prj_1',
  sub: id,
  jti: 'tok_1',
  iat: seconds,
  exp: seconds + 60,
  env: 'live',
  documents: ['org:acme:*'],
  permissions: ['read'],
};
const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const hmac = (text: string, key: Buffer) => createHmac('sha256', key).update(text).digest();
const ed25519 = (text: string, key: KeyObject) => sign(null, Buffer.from(text), key);
/** Creates a token with any content. The default signature is the genuine one of its algorithm. */
const forge = (
  head: unknown,
  payload: unknown,
  signed = (text: string) =>
    (head as { alg?: string }).alg === 'HS256' ? hmac(text, secret) : ed25519(text, tokenSigningKey(tokenSecret)),
) => {
  const text = `${encode(head)}.${encode(payload)}`;
  return `${text}.${signed(text).toString('base64url')}`;
};
const accepted = async (token: string, at = now) =>
  parentOf(token) === id ? await verifyToken(token, parent, at) : null;

describe('a scoped token', () => {
  it('grants its permissions until it expires', async () => {
    const token = await signToken(grant, 60, now, parent.tokenSecret);
    expect(await accepted(token)).toEqual(grant);
    expect(await accepted(token, now + 59_999)).toEqual(grant);
    expect(await accepted(token, now + 60_000)).toBe('expired');
    expect(await accepted(forge(header, claims))).toEqual(grant);
  });

  it('works until it expires if an earlier release signed it', async () => {
    const token = forge(earlier, claims);
    expect(await accepted(token, now + 59_999)).toEqual(grant);
    expect(await accepted(token, now + 60_000)).toBe('expired');
    expect(await accepted(forge(earlier, { ...claims, aud: 'prj_2' }))).toBe(null);
  });

  it('is verified by any library with the public key alone', async () => {
    const token = await signToken(grant, 60, now, tokenSecret);
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
    const options = { algorithms: ['EdDSA'], typ: 'svc-doc+jwt', issuer: 'document-sync', audience: 'prj_1' };
    const { payload, protectedHeader } = await jwtVerify(token, key, { ...options, currentDate: new Date(now) });
    expect([payload, protectedHeader]).toEqual([claims, header]);
  });

  it.each(['a', '👩‍💻'.repeat(25).padEnd(178, 'é')])('contains its user: %s', async (user) => {
    const token = await signToken({ ...grant, user }, 60, now, parent.tokenSecret);
    expect(await accepted(token)).toEqual({ ...grant, user });
    expect(await accepted(forge(header, { ...claims, user }))).toEqual({ ...grant, user });
  });

  it('is never cached for a negative time, also if it expires during its verification', async () => {
    const token = await signToken(grant, 60, now, parent.tokenSecret);
    const times = [now + 59_999, now + 60_001];
    const clock = () => times.shift() ?? Number.NaN;
    const authenticated = await authenticateToken(token, async () => newKey(parent), clock);
    if (!authenticated || 'end' in authenticated) throw new Error('The token does not work');
    expect(verificationOf(authenticated, { token })).toMatchObject({ cache_seconds: 0 });
  });

  const badHeaders: [string, unknown][] = [
    ['typ JWT of an earlier release', { ...earlier, typ: 'JWT' }],
    ...['none', 'None', 'NONE', 'nOnE', '', 'RS256', 'ES256', 'HS384', 'HS512', 'Ed25519', 'Ed448', 'eddsa'].map(
      (alg): [string, unknown] => [`alg ${alg}`, { ...header, alg }],
    ),
    ['no alg', { typ: header.typ, kid: id }],
    ['typ JWT', { ...header, typ: 'JWT' }],
    ['no typ', { alg: 'EdDSA', kid: id }],
    ['no kid', { alg: 'EdDSA', typ: header.typ }],
    ['a path as kid', { ...header, kid: '../../dev/null' }],
    ['a number as kid', { ...header, kid: 7 }],
    ['a list as kid', { ...header, kid: [id] }],
    ['an embedded jwk', { ...header, jwk: { kty: 'oct', k: 'AAAA' } }],
    ['a jku', { ...header, jku: 'https://example.com/jwks' }],
    ['an unknown crit', { ...header, crit: ['b64'], b64: false }],
    ['a header that is no object', '"text"'],
  ];
  it.each(badHeaders)('has no parent key with %s', async (_, head) => {
    expect(parentOf(forge(head, claims))).toBe(null);
  });

  const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name));
  const badClaims: [string, unknown][] = [
    ...Object.keys(claims).map((name): [string, unknown] => [`no ${name}`, without(name)]),
    ['another iss', { ...claims, iss: 'other' }],
    ['another aud', { ...claims, aud: 'prj_2' }],
    ['another sub', { ...claims, sub: 'key_000000000000' }],
    ['a string exp', { ...claims, exp: String(seconds + 60) }],
    ['a fractional exp', { ...claims, exp: seconds + 60.5 }],
    ['an infinite exp', JSON.stringify(claims).replace(/"exp":\d+/, '"exp":1e999')],
    ['an iat that no clock explains', { ...claims, iat: seconds + 6 }],
    ['an exp that is its iat', { ...claims, iat: seconds + 3, exp: seconds + 3 }],
    ['a string iat', { ...claims, iat: String(seconds) }],
    ['a future nbf', { ...claims, nbf: seconds + 5 }],
    ['a lifetime above the cap', { ...claims, exp: seconds + 86_401 }],
    ['more claims', { ...claims, admin: true }],
    ['an invalid pattern', { ...claims, documents: ['org:acm*'] }],
    ['no patterns', { ...claims, documents: [] }],
    ['a text as documents', { ...claims, documents: '*' }],
    ['an unknown permission', { ...claims, permissions: ['admin'] }],
    ['no permissions', { ...claims, permissions: [] }],
    ['an unknown env', { ...claims, env: 'staging' }],
    ...[null, 7, '', ['ann'], 'x'.repeat(129), 'a\nb'].map((user): [string, unknown] => [
      `the user ${JSON.stringify(user)}`,
      { ...claims, user },
    ]),
  ];
  it.each(badClaims)('is rejected with %s', async (_, payload) => {
    for (const head of [header, earlier]) expect(await accepted(forge(head, payload))).toBe(null);
  });

  it.each([
    ['the longest lifetime', { ...claims, exp: seconds + 86_400 }],
    ['an iat that a clock explains', { ...claims, iat: seconds + 5 }],
    ['the shortest lifetime', { ...claims, exp: seconds + 1 }],
  ])('is accepted with %s', async (_, payload) => {
    expect(await accepted(forge(header, payload))).toEqual(grant);
  });

  it.each([
    ['an exp in the past', { ...claims, iat: seconds - 61, exp: seconds - 1 }, 'expired'],
    ['exp now', { ...claims, iat: seconds - 60, exp: seconds }, 'expired'],
    ['an exp in the past and another claim', { ...claims, iat: seconds - 61, exp: seconds - 1, admin: true }, null],
    ['an exp in the past and another environment', { ...claims, exp: seconds - 1, env: 'sandbox' }, null],
    ['an exp in the past and a lifetime that is too long', { ...claims, iat: 0, exp: seconds - 1 }, null],
  ])('has ended only if it was genuine: %s', async (_, payload, outcome) => {
    for (const head of [header, earlier]) expect(await accepted(forge(head, payload))).toBe(outcome);
    const forged = forge(header, payload, () => Buffer.alloc(64));
    expect(await accepted(forged)).toBe(null);
  });

  it.each([
    ['live', 'sandbox', false],
    ['read', 'live', true],
    ['test', 'live', false],
    ['test', 'sandbox', true],
    ['admin', 'sandbox', true],
  ] as const)('of a key of type %s is for %s: %s', async (type, environment, isAccepted) => {
    const token = await signToken({ ...grant, environment }, 60, now, parent.tokenSecret);
    const granted = await verifyToken(token, { ...parent, type }, now);
    expect(granted).toEqual(isAccepted ? { ...grant, environment } : null);
  });

  it('is rejected in any other encoding', async () => {
    const token = await signToken(grant, 60, now, parent.tokenSecret);
    const [head = '', payload = '', signature = ''] = token.split('.');
    const last = signature.at(-1) ?? '';
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const sibling = alphabet[alphabet.indexOf(last) ^ 1]; // differs only in bits that a lenient decoder ignores
    const spellings = [
      `${token}=`,
      `${token}\n`,
      ` ${token}`,
      `${head}.${payload}.${signature.slice(0, -1)}${sibling}`,
    ];
    const parts = [`${head}.${payload}.`, `${head}.${payload}`, `${token}.${head}.${payload}`, `${head}..${signature}`];
    for (const each of [...spellings, ...parts, `${payload}.${head}.${signature}`, '..', '']) {
      expect(await accepted(each)).toBe(null);
      expect(parentOf(each)).toBe(null);
    }
    expect(await accepted(`${head}.${encode({ ...claims, documents: ['*'] })}.${signature}`)).toBe(null);
  });

  it('is rejected with the signature of another key, or of another algorithm', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const otherSecret = Buffer.from(random(32));
    const signatures: [unknown, (text: string) => ReturnType<typeof hmac>][] = [
      [header, (text) => ed25519(text, other)],
      [header, (text) => hmac(text, secret)],
      [header, (text) => hmac(text, Buffer.from(publicKey, 'base64url'))],
      [earlier, (text) => hmac(text, otherSecret)],
      // The public key is no secret, so it must never verify an HMAC (RFC 8725 §2.1).
      [earlier, (text) => hmac(text, Buffer.from(publicKey, 'base64url'))],
      [earlier, (text) => hmac(text, Buffer.from(publicKey))],
      [earlier, (text) => ed25519(text, tokenSigningKey(tokenSecret))],
      [header, () => Buffer.alloc(64)],
    ];
    for (const [head, signed] of signatures) expect(await accepted(forge(head, claims, signed))).toBe(null);
  });

  it('has at most 2,048 bytes', () => {
    const start = `${encode(header)}.${'A'.repeat(1900)}.`;
    const long = (bytes: number) => start.padEnd(bytes, 'A');
    expect([parentOf(long(2048)), parentOf(long(2049))]).toEqual([id, null]);
  });
});

it('imports a signing key once, also when many keys are in use', () => {
  let previous = tokenSecret;
  for (let i = 0; i < 1100; i++) {
    const next = Buffer.from(random(32)).toString('base64url');
    const imported = tokenSigningKey(next);
    tokenSigningKey(previous);
    expect(tokenSigningKey(next)).toBe(imported);
    previous = next;
  }
});

const LEEWAY_MS = 5000;
const minted = (ttl = 60, at = now) => newTokenId(parent, ttl, at, random);

describe('the id of a token', () => {
  it('names the parent key and the creation time', () => {
    const id = minted();
    expect(v.is(TokenId, id)).toBe(true);
    expect([keyIdOfToken(id), timeOf(id), isTokenOf(id, parent)]).toEqual([parent.id, now, true]);
    for (const other of [`${id}x`, id.slice(0, -1), id.replace('tok', 'evt'), 'tok_1'])
      expect(v.is(TokenId, other)).toBe(false);
  });

  it('is unique among tokens of the same millisecond', () => {
    expect(new Set(Array.from({ length: 1000 }, () => minted())).size).toBe(1000);
  });

  it('is rejected with any character changed', () => {
    const id = minted();
    const at = fc.integer({ min: 'tok_'.length, max: id.length - 1 });
    const other = fc.constantFrom(...ID_ALPHABET);
    fc.assert(
      fc.property(
        at,
        other,
        (i, char) => isTokenOf(id.slice(0, i) + char + id.slice(i + 1), parent) === (id[i] === char),
      ),
    );
  });

  it.each([
    1, 60, 3600, 86_400,
  ])('returns the time when a token with a lifetime of %i s has expired on every server', (ttl) => {
    const end = now + ttl * 1000 + LEEWAY_MS;
    expect([hasExpired(minted(ttl), end - 1), hasExpired(minted(ttl), end)]).toEqual([false, true]);
  });
});

it.each([
  ['an admin key', 'admin', 'live', true],
  ['another key of its type', 'live', 'live', true],
  ['a live key', 'live', 'test', false],
  ['a test key', 'test', 'live', false],
  ['a read key', 'read', 'live', false],
  ['a token', 'token', 'live', false],
] as const)('says whether %s can revoke the tokens of a key', (_, type, parentType, expected) => {
  const parent = { projectId: 'prj_1', type: parentType };
  expect(mayRevoke({ projectId: 'prj_1', type }, parent)).toBe(expected);
  expect(mayRevoke({ projectId: 'prj_2', type }, parent)).toBe(false);
});
