import { decodeProtectedHeader, errors, type JWTHeaderParameters, jwtVerify, SignJWT } from 'jose';
import * as v from 'valibot';
import { environmentOf, User } from '../credentials.ts';
import { ENVIRONMENTS, type Environment } from '../space.ts';
import type { KeyRecord } from './key.ts';
import { KEY_ID } from './key-secret.ts';
import { CLOCK_LEEWAY_MS } from './revoked-tokens.ts';

/*
 * Scoped tokens and dashboard sessions are JWTs that a key signs. Each kind has its own `typ`, audience and signing key, so none is
 * ever accepted as the other.
 */

/** Bytes of a signed credential. */
export const MAX_TOKEN_BYTES = 2048;
/** Seconds that a signed credential may live. */
export const MAX_LIFETIME_SECONDS = 86_400;
export const ALGORITHM = 'EdDSA';

const ISSUER = 'document-sync';

const seconds = v.pipe(v.number(), v.integer(), v.minValue(0));
/** The claims of both kinds. */
export const COMMON_CLAIMS = {
  iss: v.literal(ISSUER),
  aud: v.string(),
  sub: v.string(),
  jti: v.string(),
  iat: seconds,
  exp: seconds,
  env: v.picklist(ENVIRONMENTS),
  user: v.optional(User),
};

/** The output of a schema that contains them. */
type CommonClaims = v.InferOutput<v.StrictObjectSchema<typeof COMMON_CLAIMS, undefined>>;

type Key = Parameters<SignJWT['sign']>[0];

/** The common part of a credential. */
interface Signed {
  typ: string;
  keyId: string;
  audience: string;
  id: string;
  environment: Environment;
  user?: string | undefined;
}

/** Signs a credential that is valid from the second of `nowMs`. `own` are the claims of its kind. */
export function signClaims(
  { typ, keyId, audience, id, environment, user }: Signed,
  own: Record<string, unknown>,
  lifetimeSeconds: number,
  nowMs: number,
  key: Key,
): Promise<string> {
  const issuedAt = Math.floor(nowMs / 1000);
  return new SignJWT({ env: environment, ...own, user })
    .setProtectedHeader({ alg: ALGORITHM, typ, kid: keyId })
    .setIssuer(ISSUER)
    .setAudience(audience)
    .setSubject(keyId)
    .setJti(id)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .sign(key);
}

/**
 * Returns the parent key that a credential of a kind claims. Returns `null` if the text is too long, does not have three canonical
 * base64url parts (RFC 7515 §2), or has a header that `signClaims` does not write. The content is still unverified.
 */
export function claimedParent(text: string, type: string, algorithms: readonly string[]): string | null {
  const parts = text.split('.');
  if (text.length > MAX_TOKEN_BYTES || parts.length !== 3 || !parts.every(isCanonicalBase64Url)) return null;
  try {
    const { alg, typ, kid, ...more } = decodeProtectedHeader(text);
    const isOurs = algorithms.includes(alg ?? '') && typ === type && typeof kid === 'string' && KEY_ID.test(kid);
    return isOurs && Object.keys(more).length === 0 ? kid : null;
  } catch {
    return null;
  }
}

interface Expected {
  typ: string;
  algorithms: string[];
  audience: string;
  /** The key of an algorithm. */
  keyFor: (header: JWTHeaderParameters) => Key;
}

/**
 * Verifies a credential. Returns its claims, `expired` if it is genuine, or `null`. In addition to the checks of `jose`, which accepts
 * a missing or infinite `exp`, every claim but `user` is required, times are finite integers, and the lifetime has a maximum.
 */
export async function verifyClaims<Claims extends CommonClaims>(
  text: string,
  expected: Expected,
  schema: v.GenericSchema<unknown, Claims>,
  parent: Pick<KeyRecord, 'id' | 'type'>,
  nowMs: number,
): Promise<Claims | 'expired' | null> {
  try {
    const { payload, isExpired } = await signedPayload(text, expected, parent, nowMs);
    const claims = v.parse(schema, payload);
    const { exp, iat, env } = claims;
    if ((environmentOf(parent.type) ?? env) !== env) return null;
    // RFC 7519 §4.1.4 allows "some small leeway" between the clocks.
    if (iat * 1000 > nowMs + CLOCK_LEEWAY_MS || exp <= iat || exp - iat > MAX_LIFETIME_SECONDS) return null;
    return isExpired ? 'expired' : claims;
  } catch {
    return null;
  }
}

/** The payload of a credential that the parent key has signed. `jose` checks the expiry last. */
async function signedPayload(
  text: string,
  { typ, algorithms, audience, keyFor }: Expected,
  { id: subject }: Pick<KeyRecord, 'id'>,
  nowMs: number,
) {
  const options = { algorithms, typ, issuer: ISSUER, audience, subject, currentDate: new Date(nowMs) };
  try {
    const { payload } = await jwtVerify(text, keyFor, options);
    return { payload, isExpired: false };
  } catch (error) {
    if (error instanceof errors.JWTExpired) return { payload: error.payload, isExpired: true };
    throw error;
  }
}

// Checks the canonical form, because a lenient decoder would accept several spellings of a token.
function isCanonicalBase64Url(part: string): boolean {
  return part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part;
}
