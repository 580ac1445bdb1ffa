import { hashApiKey, parseApiKey, sameHash } from './api-key.ts';
import { isUsable, type KeyRecord } from './keys.ts';
import { type Grant, parentOf, verifyToken } from './tokens.ts';

export interface AuthenticateDeps {
  /** Strongly consistent: what was revoked a moment ago is revoked. */
  keys: { get(id: string): Promise<KeyRecord | undefined> };
  clock(): number;
}

/** Whose credential it is: a key, or a scoped token and its parent key. */
export interface Authenticated {
  record: KeyRecord;
  /** The grant of a scoped token, or `null` for a key. */
  grant: Grant | null;
}

/** `null` for a credential that is not genuine, or works no longer. One read at most, and none for what cannot be a key or a token. */
export async function authenticate(
  credential: string,
  { keys, clock }: AuthenticateDeps,
): Promise<Authenticated | null> {
  const isKey = credential.startsWith('svc_');
  const keyId = isKey ? parseApiKey(credential)?.id : parentOf(credential);
  const record = keyId ? await keys.get(keyId) : undefined;
  if (!record || !isUsable(record, clock())) return null;
  if (isKey) return sameHash(hashApiKey(credential), record.hash) ? { record, grant: null } : null;
  const grant = await verifyToken(credential, record, clock());
  return grant && { record, grant };
}
