import { type DashboardSession, parentOfSession, verifySession } from './dashboard-session.ts';
import { endOf, type KeyRecord } from './key.ts';
import { hashApiKey, parseApiKey, sameText } from './key-secret.ts';
import { type Grant, parentOf, verifyToken } from './token.ts';

/** Reads a key, strongly consistent, so a revocation applies immediately. */
type Read<Key> = (id: string) => Promise<Key | undefined>;

/** The key of a credential, or the parent key of a scoped token or a dashboard session. */
export interface Authenticated<Key extends KeyRecord = KeyRecord> {
  record: Key;
  /** The grant of a scoped token, or `null` for a key. */
  grant: Grant | null;
  /** The dashboard session, or `null` for another credential. */
  session: DashboardSession | null;
  /** The time at which the credential worked. */
  now: number;
}

/** A genuine credential that no longer works. */
export interface Ended<Key extends KeyRecord = KeyRecord> {
  record: Key;
  end: 'revoked' | 'expired';
  now: number;
}

/**
 * Returns `null` for a credential that is not genuine. Needs at most one read, and none for malformed text.
 */
export async function authenticate<Key extends KeyRecord>(
  credential: string,
  read: Read<Key>,
  clock: () => number,
): Promise<Authenticated<Key> | Ended<Key> | null> {
  const sessionKeyId = parentOfSession(credential);
  if (sessionKeyId !== null) return authenticateSession(credential, sessionKeyId, read, clock);
  if (!credential.startsWith('svc_')) return authenticateToken(credential, read, clock);
  const key = await keyOf(parseApiKey(credential), read, clock);
  if (!key || !sameText(hashApiKey(credential), key.record.hash)) return null;
  const end = endOf(key.record, key.now);
  return end ? { ...key, end } : { ...key, grant: null, session: null };
}

/** The same for a scoped token only. Returns `null` for any other text. */
export async function authenticateToken<Key extends KeyRecord>(token: string, read: Read<Key>, clock: () => number) {
  const key = await keyOf(parentOf(token), read, clock);
  const grant = key && (await verifyToken(token, key.record, key.now));
  if (!grant) return null;
  const end = endOf(key.record, key.now);
  if (end) return { ...key, end };
  return typeof grant === 'string' ? { ...key, end: grant } : { ...key, grant, session: null };
}

/** The same for a dashboard session. */
async function authenticateSession<Key extends KeyRecord>(
  text: string,
  keyId: string,
  read: Read<Key>,
  clock: () => number,
) {
  const key = await keyOf(keyId, read, clock);
  const session = key && (await verifySession(text, key.record, key.now));
  if (!session) return null;
  const end = endOf(key.record, key.now);
  return session === 'expired' || end !== null ? { ...key, end: end ?? 'expired' } : { ...key, grant: null, session };
}

async function keyOf<Key extends KeyRecord>(id: string | null | undefined, read: Read<Key>, clock: () => number) {
  const record = id ? await read(id) : undefined;
  return record && { record, now: clock() };
}
