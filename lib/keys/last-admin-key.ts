import type { Write } from '../aws/writes.ts';
import { isLasting, type KeyRecord } from './key.ts';
import type { KeyStore } from './store.ts';

/**
 * Revokes a key and returns it as it is stored, because a concurrent request can revoke it first. Returns `undefined` for the
 * last working admin key without an expiry. `callerKeyId` is the key of the request.
 */
export async function revokeSafely(
  keys: KeyStore,
  record: KeyRecord,
  revokedAt: number,
  also: readonly Write[],
  callerKeyId: string,
): Promise<KeyRecord | undefined> {
  const isCountedOn = record.type === 'admin' && isLasting(record, revokedAt);
  const others = isCountedOn ? lastingAdminKeys(keys, record, revokedAt, callerKeyId) : null;
  const isFirst = await relyingOnOne(keys, others, (condition) =>
    keys.revoke(record, revokedAt, [...condition, ...also]),
  );
  if (isFirst) return { ...record, revokedAt };
  const stored = await keys.get(record.id);
  return stored?.revokedAt === undefined ? undefined : stored;
}

/**
 * Lists the other working admin keys of the project without an expiry. The key of the request comes first, because it is usually
 * one of them, however many keys the project has.
 */
export async function* lastingAdminKeys(
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
 * `null`. Returns `false` if no condition holds, and otherwise the outcome of the change.
 */
export async function relyingOnOne<Outcome>(
  keys: KeyStore,
  others: AsyncGenerator<KeyRecord> | null,
  change: (condition: readonly Write[]) => Promise<Outcome | false>,
): Promise<Outcome | false> {
  if (others === null) return change([]);
  for await (const other of others) {
    const outcome = await change([keys.stillLasting(other)]);
    if (outcome !== false) return outcome;
  }
  return false;
}
