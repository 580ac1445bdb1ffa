import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';

/*
 * Scoped tokens and dashboard sessions are signed with Ed25519 (RFC 8032, RFC 8037). Their private keys derive from the token secret of
 * the parent key, so a key record contains one secret. The public half of the key for tokens is stored with the key, because every
 * verification needs it. That of the key for sessions is not published, so no engine can take a session for a token.
 */

/** The start of a private Ed25519 key in PKCS #8, in front of its 32 bytes (RFC 8410 §7). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Limits the memory of an execution environment. An imported key has about 1 KB. */
const MAX_IMPORTED = 1000;

/** Remembers the results of an import, which takes about as long as a verification. */
function cached(create: (text: string) => KeyObject): (text: string) => KeyObject {
  const known = new Map<string, KeyObject>();
  return (text) => {
    const found = known.get(text);
    if (found) return found;
    const created = create(text);
    if (known.size >= MAX_IMPORTED) known.clear();
    known.set(text, created);
    return created;
  };
}

/** Derives the private key for a purpose from a token secret. */
const signingKeyFor = (purpose: string) =>
  cached((tokenSecret) => {
    const seed = hkdfSync('sha256', Buffer.from(tokenSecret, 'base64url'), '', purpose, 32);
    return createPrivateKey({ key: Buffer.concat([PKCS8, Buffer.from(seed)]), format: 'der', type: 'pkcs8' });
  });

/** The private key that signs the tokens of a key with this token secret. */
export const tokenSigningKey = signingKeyFor('svc-doc+jwt Ed25519');

/** The private key that signs its dashboard sessions. */
export const sessionSigningKey = signingKeyFor('svc-session+jwt Ed25519');

/** Verifies its dashboard sessions. */
export const sessionVerifyingKey = cached((tokenSecret) => createPublicKey(sessionSigningKey(tokenSecret)));

/** The public half of the key for tokens: `x` of its JSON Web Key (RFC 8037 §2). */
export const publicKeyOf = (tokenSecret: string): string =>
  createPublicKey(tokenSigningKey(tokenSecret)).export({ format: 'jwk' }).x as string;

/** The JSON Web Key with this public half. */
export const jsonWebKey = (x: string) => ({ kty: 'OKP', crv: 'Ed25519', x }) as const;

/** The key that verifies tokens. */
export const verifyingKey = cached((x) => createPublicKey({ key: jsonWebKey(x), format: 'jwk' }));
