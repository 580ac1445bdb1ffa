import type { Write } from '../aws/writes.ts';
import { isAllowed, isExcluding } from './allowlist.ts';
import { isLasting, isLastingAdmin, type KeyRecord } from './key.ts';
import type { Rotation } from './rotation.ts';
import type { KeyStore } from './store.ts';

/** A change of a key, which is made together with `also`. */
interface KeyChange {
  now: number;
  also: readonly Write[];
  /** The key and the address of the request. */
  callerKeyId: string;
  address: string;
}

/**
 * Revokes a key and returns it as it is stored, because a concurrent request can revoke it first. Returns `undefined` for the
 * last working admin key without an expiry.
 */
export async function revokeSafely(
  keys: KeyStore,
  record: KeyRecord,
  { now, also, callerKeyId }: KeyChange,
): Promise<KeyRecord | undefined> {
  const others = isLastingAdmin(record, now) ? lastingAdminKeys(keys, record, now, callerKeyId) : null;
  const isRevoked = await relyingOnOne(keys, others, (condition) => keys.revoke(record, now, [...condition, ...also]));
  if (isRevoked === true) return { ...record, revokedAt: now };
  const stored = await keys.get(record.id);
  return stored?.revokedAt === undefined ? undefined : stored;
}

/** Rotates a key. The outcome is that of the store, or `alone` if the project would lose its last admin key without an expiry. */
export function rotateSafely(keys: KeyStore, rotation: Rotation, { now, also, callerKeyId }: KeyChange) {
  const others = rotation.losesLastingAdmin ? lastingAdminKeys(keys, rotation.old, now, callerKeyId) : null;
  return relyingOnOne(keys, others, (condition) => keys.rotate(rotation, now, [...condition, ...also]));
}

/** Sets an allowlist. `false` if no admin key without an expiry would allow the address of the request. */
export async function restrictSafely(
  keys: KeyStore,
  record: KeyRecord,
  cidrs: string[],
  { now, also, callerKeyId, address }: KeyChange,
): Promise<boolean> {
  const admits = (other: KeyRecord) => isAllowed(other.cidrs, address);
  const others = isExcluding(record, cidrs, address) ? lastingAdminKeys(keys, record, now, callerKeyId, admits) : null;
  const isSet = await relyingOnOne(keys, others, (condition) => keys.setCidrs(record, cidrs, [...condition, ...also]));
  return isSet === true;
}

/**
 * Lists the other working admin keys of the project without an expiry. The key of the request comes first, because it is usually
 * one of them, however many keys the project has.
 */
async function* lastingAdminKeys(
  keys: KeyStore,
  { id, projectId }: KeyRecord,
  nowMs: number,
  callerKeyId: string,
  admits: (key: KeyRecord) => boolean = () => true,
): AsyncGenerator<KeyRecord> {
  const isOther = (key: KeyRecord) => key.id !== id && isLasting(key, nowMs) && admits(key);
  const caller = await keys.get(callerKeyId);
  if (caller && isOther(caller)) yield caller;
  for await (const key of keys.adminKeys(projectId)) if (isOther(key)) yield key;
}

/**
 * Makes a change under the condition that one of `others` does not change concurrently. Without a condition if `others` is
 * `null`. Returns the outcome of the change, `false` if no condition holds, or `alone` if there are no others.
 */
async function relyingOnOne<Outcome>(
  keys: KeyStore,
  others: AsyncGenerator<KeyRecord> | null,
  change: (condition: readonly Write[]) => Promise<Outcome>,
): Promise<Outcome | 'alone'> {
  if (others === null) return change([]);
  let outcome: Outcome | 'alone' = 'alone';
  for await (const other of others) {
    outcome = await change([keys.stillLasting(other)]);
    if (outcome !== false) return outcome;
  }
  return outcome;
}
