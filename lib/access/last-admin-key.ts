import type { TransactionPart } from '../transaction.ts';
import { isLasting, type KeyRecord, type Revocation } from './keys.ts';

export interface AdminKeys {
  /** The admin keys of a project, newest first, read on demand. A new key can appear with a short delay. */
  adminKeys(projectId: string): AsyncGenerator<KeyRecord>;
}

export interface RevocableKeys extends AdminKeys {
  /** `relyingOn`: another key that must still be as it was read. `false` if it is not. */
  revoke(
    id: string,
    revocation: Revocation,
    relyingOn: KeyRecord | undefined,
    also: readonly TransactionPart[],
  ): Promise<boolean>;
}

/** Revokes a key, unless it is the last admin key of its project that works and has no end in sight: then `false`. */
export function revokeSafely(
  keys: RevocableKeys,
  record: KeyRecord,
  revocation: Revocation,
  also: readonly TransactionPart[],
): Promise<boolean> {
  const { revokedAt } = revocation;
  const isCountedOn = record.type === 'admin' && isLasting(record, revokedAt);
  const others = isCountedOn ? lastingAdminKeys(keys, record, revokedAt) : null;
  return relyingOnOne(others, (other) => keys.revoke(record.id, revocation, other, also));
}

/** The other admin keys of the project that work and have no end in sight. The index may be a moment behind. */
export async function* lastingAdminKeys(
  keys: AdminKeys,
  { id, projectId }: KeyRecord,
  nowMs: number,
  admits: (key: KeyRecord) => boolean = () => true,
): AsyncGenerator<KeyRecord> {
  for await (const key of keys.adminKeys(projectId))
    if (key.id !== id && isLasting(key, nowMs) && admits(key)) yield key;
}

/** Makes a change that takes one of `others` to stay as it is, or none if they are `null`. `false` if no one does. */
export async function relyingOnOne(
  others: AsyncGenerator<KeyRecord> | null,
  change: (other?: KeyRecord) => Promise<boolean>,
): Promise<boolean> {
  if (others === null) return change();
  for await (const other of others) if (await change(other)) return true;
  return false;
}
