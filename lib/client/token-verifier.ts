import { type Access, requireAccess } from './access.ts';
import { isInRange } from './addresses.ts';
import { isCount, requireArgument } from './arguments.ts';
import { matchesAny } from './engine/document-names.ts';
import { type Claims, claimsIn, type ParsedToken, parseToken } from './jwt.ts';
import { serviceVerifier } from './service-verifier.ts';
import { type KeySet, type TokenKey, tokenKeys } from './token-keys.ts';
import { requireCheck, type TokenCheck, type VerifiedToken } from './verified-token.ts';

export interface TokenVerifierOptions extends Access {
  /** The most results in the cache for tokens of 0.1.0. The oldest leaves first. The default is 10,000. */
  maxCached?: number;
}

const INACTIVE: VerifiedToken = { active: false };

/** Checks a genuine token again, without its signature. */
export type Proof = (check: TokenCheck) => Promise<VerifiedToken>;

/**
 * Returns a function that checks scoped tokens. It verifies their signatures with the public keys of the project, which it requests again
 * every `cache_seconds` (10), so a revocation takes effect within this time. It throws if the service has not responded for five minutes,
 * so that the caller can reject the request. The service itself checks tokens that 0.1.0 created.
 */
export function tokenVerifier(options: TokenVerifierOptions) {
  requireAccess(options);
  requireArgument(isCount(options.maxCached ?? 0), 'maxCached as a whole number from 0', options.maxCached);
  const { prove } = tokenProofs(options);
  return async function verifyToken(token: string, check: TokenCheck = {}): Promise<VerifiedToken> {
    requireCheck(token, check);
    const proof = await prove(token);
    return proof ? proof(check) : INACTIVE;
  };
}

/** Verifies the signatures of tokens. */
export function tokenProofs({ maxCached = 10_000, ...access }: TokenVerifierOptions) {
  const currentKeys = tokenKeys(access);
  const askService = serviceVerifier(access, maxCached);
  // An admin key signs tokens of both environments.
  const environment = access.credential.startsWith('svc_test_') ? 'sandbox' : 'live';

  /** Returns `null` for any text that the service did not sign. */
  async function prove(token: string): Promise<Proof | null> {
    const parsed = parseToken(token);
    if (parsed?.algorithm === 'HS256') return (check) => askService(token, check);
    const claims = parsed?.algorithm === 'EdDSA' ? claimsIn(parsed) : null;
    if (!parsed || claims?.env !== environment) return null;
    let { keys } = await currentKeys();
    if (!keys.has(parsed.keyId)) ({ keys } = await currentKeys(1)); // the key can be newer than the set
    const key = keys.get(parsed.keyId);
    if (!key || !(await isSigned(parsed, key))) return null;
    return async (check) => resultFor(claims, await currentKeys(), check);
  }
  /** Lets the next checks use keys that are at most a second old. */
  const refresh = () => currentKeys(1);
  return { prove, refresh };
}

/** Returns the result for a token with a genuine signature. */
function resultFor(claims: Claims, { keys, cacheSeconds }: KeySet, check: TokenCheck): VerifiedToken {
  const { jti, env, documents, permissions, exp, user = null } = claims;
  const key = keys.get(claims.sub);
  const endsAt = Math.min(exp * 1000, Date.parse(key?.expires_at ?? '') || Number.POSITIVE_INFINITY);
  const seconds = Math.floor((endsAt - Date.now()) / 1000);
  if (!key || key.revoked_tokens.includes(jti) || Date.now() >= endsAt) return INACTIVE;
  const { document_key, permission, address } = check;
  return {
    active: true,
    token_id: jti,
    environment: env,
    documents,
    permissions,
    user,
    allowed:
      (key.cidrs.length === 0 || key.cidrs.some((cidr) => isInRange(address ?? '', cidr))) &&
      (document_key === undefined || matchesAny(documents, document_key)) &&
      (permission === undefined || permissions.includes(permission)),
    expires_at: new Date(exp * 1000).toISOString(),
    cache_seconds: Math.min(cacheSeconds, seconds),
  };
}

const imported = new WeakMap<TokenKey, Promise<CryptoKey>>();

async function isSigned({ signed, signature }: ParsedToken, key: TokenKey): Promise<boolean> {
  let publicKey = imported.get(key);
  if (!publicKey) {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.x };
    publicKey = crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']);
    imported.set(key, publicKey);
  }
  return crypto.subtle.verify('Ed25519', await publicKey, signature, signed);
}
