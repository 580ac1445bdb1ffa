import { decodeJwt, decodeProtectedHeader, errors, type JWTHeaderParameters, jwtVerify, SignJWT } from 'jose';
import * as v from 'valibot';
import { environmentOf, PERMISSIONS, type Permission, User } from '../credentials.ts';
import { Pattern } from '../documents/document.ts';
import { list, uniqueList } from '../lists.ts';
import { optional } from '../optional.ts';
import { described, integer, oneOf, request, resource, timestamp } from '../schema.ts';
import { ENVIRONMENTS, type Environment } from '../space.ts';
import type { KeyRecord } from './key.ts';
import { KEY_ID } from './key-secret.ts';
import { CLOCK_LEEWAY_MS } from './revoked-tokens.ts';
import { signingKey, verifyingKey } from './signing-key.ts';

/** Bytes of a token. */
export const MAX_TOKEN_BYTES = 2048;
/** Seconds that a token may live. */
const MAX_TTL_SECONDS = 86_400;
const MAX_PATTERNS = 32;

const ISSUER = 'document-sync';
const TYPE = 'svc-doc+jwt';
export const ALGORITHM = 'EdDSA';
/** Release 0.1.0 signed tokens with the token secret itself. They work until they expire. */
const EARLIER_ALGORITHM = 'HS256';
const ALGORITHMS = [ALGORITHM, EARLIER_ALGORITHM];

const DOCUMENTS_MEANING =
  'Patterns of document keys. `*` matches one segment. A trailing `*` matches one or more segments.';
const PERMISSIONS_MEANING = '`write` does not imply `read`.';
const USER_MEANING =
  'The person or device that receives the token, in your terms. Tokens of one user share connections.';

export const CreateToken = request('CreateToken', {
  documents: described(uniqueList(Pattern, 1, MAX_PATTERNS), DOCUMENTS_MEANING),
  permissions: described(uniqueList(oneOf(PERMISSIONS), 1, PERMISSIONS.length), PERMISSIONS_MEANING),
  ttl: described(integer(1, MAX_TTL_SECONDS), 'Lifetime in seconds.'),
  user: optional(described(User, USER_MEANING)),
});

/** Only this response contains `token`. In its replay it is `null`. */
export const TokenResource = resource('Token', {
  token: described(v.nullable(v.string()), 'The token. Only this response contains it. `null` in a replay.'),
  token_id: described(v.string(), 'Identifies the token. It is the `origin` of changes made with the token.'),
  documents: described(v.array(v.string()), DOCUMENTS_MEANING),
  permissions: described(v.array(v.picklist(PERMISSIONS)), PERMISSIONS_MEANING),
  user: described(v.nullable(v.string()), USER_MEANING),
  expires_at: described(timestamp, 'When the token expires.'),
});

/** The content of a token. */
export interface Grant {
  tokenId: string;
  keyId: string;
  projectId: string;
  environment: Environment;
  documents: string[];
  permissions: Permission[];
  user?: string | undefined;
}

const seconds = v.pipe(v.number(), v.integer(), v.minValue(0));
const Claims = v.strictObject({
  iss: v.literal(ISSUER),
  aud: v.string(),
  sub: v.string(),
  jti: v.string(),
  iat: seconds,
  exp: seconds,
  env: v.picklist(ENVIRONMENTS),
  documents: list(Pattern, 1, MAX_PATTERNS),
  permissions: uniqueList(oneOf(PERMISSIONS), 1, PERMISSIONS.length),
  user: v.optional(User),
});

/** Signs a token that is valid from the second of `nowMs`. The secret is the token secret of the parent key. */
export function signToken(grant: Grant, ttlSeconds: number, nowMs: number, tokenSecret: string): Promise<string> {
  const issuedAt = Math.floor(nowMs / 1000);
  const { environment: env, documents, permissions, user } = grant;
  return new SignJWT({ env, documents, permissions, user })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: grant.keyId })
    .setIssuer(ISSUER)
    .setAudience(grant.projectId)
    .setSubject(grant.keyId)
    .setJti(grant.tokenId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttlSeconds)
    .sign(signingKey(tokenSecret));
}

/**
 * Returns the parent key that a token claims. Returns `null` if the text is too long, does not have three canonical base64url
 * parts (RFC 7515 §2), or has a header that `signToken` does not write. The content is still unverified.
 */
export function parentOf(token: string): string | null {
  const parts = token.split('.');
  if (token.length > MAX_TOKEN_BYTES || parts.length !== 3 || !parts.every(isCanonicalBase64Url)) return null;
  try {
    const { alg, typ, kid, ...more } = decodeProtectedHeader(token);
    const isOurs = ALGORITHMS.includes(alg ?? '') && typ === TYPE && typeof kid === 'string' && KEY_ID.test(kid);
    return isOurs && Object.keys(more).length === 0 ? kid : null;
  } catch {
    return null;
  }
}

type Parent = Pick<KeyRecord, 'id' | 'projectId' | 'type' | 'tokenSecret' | 'publicKey' | 'revokedTokens'>;

/** The key of an algorithm. No algorithm has the key of another one, so a public key is never used as a secret. */
const keyFor = ({ alg }: JWTHeaderParameters, { tokenSecret, publicKey }: Parent) =>
  alg === ALGORITHM ? verifyingKey(publicKey) : Buffer.from(tokenSecret, 'base64url');

/**
 * Verifies a token. Returns its grant, or why it no longer works if it is genuine, or `null`. In addition to the checks of `jose`,
 * which accepts a missing or infinite `exp`, every claim but `user` is required, times are finite integers, and the lifetime has a
 * maximum.
 */
export async function verifyToken(
  token: string,
  parent: Parent,
  nowMs: number,
): Promise<Grant | 'revoked' | 'expired' | null> {
  try {
    const { payload, isExpired } = await signedPayload(token, parent, nowMs);
    const { exp, iat, jti: tokenId, env: environment, documents, permissions, user } = v.parse(Claims, payload);
    if ((environmentOf(parent.type) ?? environment) !== environment) return null;
    // RFC 7519 §4.1.4 allows "some small leeway" between the clocks.
    if (iat * 1000 > nowMs + CLOCK_LEEWAY_MS || exp <= iat || exp - iat > MAX_TTL_SECONDS) return null;
    if (isExpired) return 'expired';
    if (parent.revokedTokens?.includes(tokenId)) return 'revoked';
    const { id: keyId, projectId } = parent;
    return { tokenId, keyId, projectId, environment, documents, permissions, user };
  } catch {
    return null;
  }
}

/** The payload of a token that the parent key has signed. `jose` checks the expiry last. */
async function signedPayload(token: string, parent: Parent, nowMs: number) {
  try {
    const { payload } = await jwtVerify(token, (header) => keyFor(header, parent), {
      algorithms: ALGORITHMS,
      typ: TYPE,
      issuer: ISSUER,
      audience: parent.projectId,
      subject: parent.id,
      currentDate: new Date(nowMs),
    });
    return { payload, isExpired: false };
  } catch (error) {
    if (error instanceof errors.JWTExpired) return { payload: error.payload, isExpired: true };
    throw error;
  }
}

/** When a verified token expires, in milliseconds since 1970. */
export const expiryOf = (token: string): number => Number(decodeJwt(token).exp) * 1000;

// Checks the canonical form, because a lenient decoder would accept several spellings of a token.
function isCanonicalBase64Url(part: string): boolean {
  return part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part;
}
