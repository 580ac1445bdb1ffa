import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';

/*
 * Scoped tokens are signed with Ed25519 (RFC 8032, RFC 8037). The private key derives from the token secret of the parent key, so
 * a key record contains one secret. The public half is stored with the key, because every verification needs it.
 */

/** The start of a private Ed25519 key in PKCS #8, in front of its 32 bytes (RFC 8410 §7). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const PURPOSE = 'svc-doc+jwt Ed25519';

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

/** The private key that signs the tokens of a key with this token secret. */
export const signingKey = cached((tokenSecret) => {
  const seed = hkdfSync('sha256', Buffer.from(tokenSecret, 'base64url'), '', PURPOSE, 32);
  return createPrivateKey({ key: Buffer.concat([PKCS8, Buffer.from(seed)]), format: 'der', type: 'pkcs8' });
});

/** The public half of a signing key: `x` of its JSON Web Key (RFC 8037 §2). */
export const publicKeyOf = (tokenSecret: string): string =>
  createPublicKey(signingKey(tokenSecret)).export({ format: 'jwk' }).x as string;

/** The JSON Web Key with this public half. */
export const jsonWebKey = (x: string) => ({ kty: 'OKP', crv: 'Ed25519', x }) as const;

/** The key that verifies tokens. */
export const verifyingKey = cached((x) => createPublicKey({ key: jsonWebKey(x), format: 'jwk' }));
