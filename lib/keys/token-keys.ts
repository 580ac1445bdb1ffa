import { hash } from 'node:crypto';
import * as v from 'valibot';
import { environmentOf } from '../credentials.ts';
import { described, isoOrNull, resource, timestamp, wholeNumber } from '../schema.ts';
import type { Environment } from '../space.ts';
import { isUsable, type KeyRecord } from './key.ts';
import { hasExpired } from './revoked-tokens.ts';
import { ALGORITHM } from './signed-claims.ts';
import { jsonWebKey } from './signing-key.ts';

/** The seconds for which a server may use the keys. A revocation reaches every server within this time. */
const CACHE_SECONDS = 10;

/** What the list of a project has of a key that can sign tokens. It changes in the transaction that changes the key. */
export type ListedKey = Pick<
  KeyRecord,
  'id' | 'type' | 'publicKey' | 'cidrs' | 'revokedTokens' | 'expiresAt' | 'revokedAt'
>;

const TokenKey = resource('TokenKey', {
  kid: described(v.string(), 'The id of the key, which is the `kid` of its tokens.'),
  kty: described(v.picklist(['OKP']), 'The type of the key (RFC 8037).'),
  crv: described(v.picklist(['Ed25519']), 'The curve.'),
  x: described(v.string(), 'The public key.'),
  alg: described(v.picklist([ALGORITHM]), 'The only algorithm of its tokens.'),
  use: described(v.picklist(['sig']), 'The key verifies signatures.'),
  expires_at: described(v.nullable(timestamp), 'When the key and its tokens stop working.'),
  cidrs: described(
    v.array(v.string()),
    'The allowlist of the key, which applies to its tokens. An empty list means no restriction.',
  ),
  revoked_tokens: described(v.array(v.string()), 'The `jti` of each revoked token that has not expired.'),
});

export const TokenKeySet = resource('TokenKeySet', {
  keys: described(
    v.array(TokenKey),
    'The keys that can sign tokens of this environment, newest first. A token with another `kid` is not active.',
  ),
  cache_seconds: described(wholeNumber(), 'The seconds for which you may use this response.'),
});

/** Read keys create no tokens. */
export const signsTokens = ({ type }: Pick<KeyRecord, 'type'>): boolean => type !== 'read';

/** The key in a JWK Set (RFC 7517 §5), or `null` if it cannot have active tokens of the environment. */
export function tokenKey(
  key: ListedKey,
  environment: Environment,
  nowMs: number,
): v.InferOutput<typeof TokenKey> | null {
  const isOfEnvironment = (environmentOf(key.type) ?? environment) === environment;
  if (!isOfEnvironment || !isUsable(key, nowMs)) return null;
  return {
    kid: key.id,
    ...jsonWebKey(key.publicKey),
    alg: ALGORITHM,
    use: 'sig',
    expires_at: isoOrNull(key.expiresAt),
    cidrs: key.cidrs,
    revoked_tokens: (key.revokedTokens ?? []).filter((id) => !hasExpired(id, nowMs)),
  };
}

export const tokenKeySet = (keys: v.InferOutput<typeof TokenKey>[]): v.InferOutput<typeof TokenKeySet> => ({
  keys,
  cache_seconds: CACHE_SECONDS,
});

/** The ETag of a response, from its text. */
export const etagOfText = (json: string): string => `"${hash('sha256', json, 'base64url')}"`;
