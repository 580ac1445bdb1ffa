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

/**
 * Returns `null` for a credential that is not genuine or no longer works. Needs at most one read, and none for malformed text.
 */
export async function authenticate<Key extends KeyRecord>(
  credential: string,
  { keys, clock }: AuthenticateDeps<Key>,
): Promise<Authenticated<Key> | null> {
  const isKey = credential.startsWith('svc_');
  const keyId = isKey ? parseApiKey(credential)?.id : parentOf(credential);
  const record = keyId ? await keys.get(keyId) : undefined;
  if (!record || !isUsable(record, clock())) return null;
  if (isKey) return sameHash(hashApiKey(credential), record.hash) ? { record, grant: null } : null;
  const grant = await verifyToken(credential, record, clock());
  return grant && { record, grant };
}
