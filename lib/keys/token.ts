import { decodeJwt } from 'jose';
import * as v from 'valibot';
import { PERMISSIONS, type Permission, User } from '../credentials.ts';
import { Pattern } from '../documents/document.ts';
import { list, uniqueList } from '../lists.ts';
import { optional } from '../optional.ts';
import { described, integer, oneOf, request, resource, timestamp } from '../schema.ts';
import type { Environment } from '../space.ts';
import type { KeyRecord } from './key.ts';
import {
  ALGORITHM,
  COMMON_CLAIMS,
  claimedParent,
  MAX_LIFETIME_SECONDS,
  signClaims,
  verifyClaims,
} from './signed-claims.ts';
import { tokenSigningKey, verifyingKey } from './signing-key.ts';

const MAX_PATTERNS = 32;

const TYPE = 'svc-doc+jwt';
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
  ttl: described(integer(1, MAX_LIFETIME_SECONDS), 'Lifetime in seconds.'),
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

const Claims = v.strictObject({
  ...COMMON_CLAIMS,
  documents: list(Pattern, 1, MAX_PATTERNS),
  permissions: uniqueList(oneOf(PERMISSIONS), 1, PERMISSIONS.length),
});

/** Signs a token that is valid from the second of `nowMs`. The secret is the token secret of the parent key. */
export function signToken(grant: Grant, ttlSeconds: number, nowMs: number, tokenSecret: string): Promise<string> {
  const { tokenId: id, keyId, projectId: audience, environment, documents, permissions, user } = grant;
  const signed = { typ: TYPE, keyId, audience, id, environment, user };
  return signClaims(signed, { documents, permissions }, ttlSeconds, nowMs, tokenSigningKey(tokenSecret));
}

/** The parent key that a token claims, or `null` for any other text. */
export const parentOf = (token: string): string | null => claimedParent(token, TYPE, ALGORITHMS);

type Parent = Pick<KeyRecord, 'id' | 'projectId' | 'type' | 'tokenSecret' | 'publicKey' | 'revokedTokens'>;

/** The key of an algorithm. No algorithm has the key of another one, so a public key is never used as a secret. */
const keyOf = (alg: string | undefined, { tokenSecret, publicKey }: Parent) =>
  alg === ALGORITHM ? verifyingKey(publicKey) : Buffer.from(tokenSecret, 'base64url');

/** Verifies a token. Returns its grant, or why it no longer works if it is genuine, or `null`. */
export async function verifyToken(
  token: string,
  parent: Parent,
  nowMs: number,
): Promise<Grant | 'revoked' | 'expired' | null> {
  const { id: keyId, projectId } = parent;
  const keyFor = ({ alg }: { alg?: string }) => keyOf(alg, parent);
  const expected = { typ: TYPE, algorithms: ALGORITHMS, audience: projectId, keyFor };
  const claims = await verifyClaims(token, expected, Claims, parent, nowMs);
  if (claims === null || claims === 'expired') return claims;
  const { jti: tokenId, env: environment, documents, permissions, user } = claims;
  if (parent.revokedTokens?.includes(tokenId)) return 'revoked';
  return { tokenId, keyId, projectId, environment, documents, permissions, user };
}

/** When a verified token expires, in milliseconds since 1970. */
export const expiryOf = (token: string): number => Number(decodeJwt(token).exp) * 1000;
