import { hashApiKey, parseApiKey, sameHash } from './api-key.ts';
import { isUsable, type KeyRecord } from './key.ts';
import { type Grant, parentOf, verifyToken } from './token.ts';

export interface AuthenticateDeps<Key extends KeyRecord> {
  /** Strongly consistent, so a revocation applies immediately. */
  keys: { get(id: string): Promise<Key | undefined> };
  clock(): number;
}

/** The key of a credential, or the parent key of a scoped token. */
export interface Authenticated<Key extends KeyRecord = KeyRecord> {
  record: Key;
  /** The grant of a scoped token, or `null` for a key. */
  grant: Grant | null;
}

/** The parent key of a scoped token that works, and what the token grants. */
export interface AuthenticatedToken<Key extends KeyRecord = KeyRecord> {
  record: Key;
  grant: Grant;
}

/**
 * Returns `null` for a credential that is not genuine or no longer works. Needs at most one read, and none for malformed text.
 */
export async function authenticate<Key extends KeyRecord>(
  credential: string,
  { keys, clock }: AuthenticateDeps<Key>,
): Promise<Authenticated<Key> | null> {
  if (!credential.startsWith('svc_')) return authenticateToken(credential, { keys, clock });
  const keyId = parseApiKey(credential)?.id;
  const record = keyId && (await keys.get(keyId));
  if (!record || !isUsable(record, clock())) return null;
  return sameHash(hashApiKey(credential), record.hash) ? { record, grant: null } : null;
}

/** The same for a scoped token only. Returns `null` for any other text. */
export async function authenticateToken<Key extends KeyRecord>(
  token: string,
  { keys, clock }: AuthenticateDeps<Key>,
): Promise<AuthenticatedToken<Key> | null> {
  const keyId = parentOf(token);
  const record = keyId && (await keys.get(keyId));
  if (!record || !isUsable(record, clock())) return null;
  const grant = await verifyToken(token, record, clock());
  return grant && { record, grant };
}
