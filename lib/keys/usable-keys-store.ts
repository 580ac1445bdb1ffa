import { type Condition, exists, update } from '../aws/expressions.ts';
import { itemKey } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { expiredKeys, type UsableKeys } from './usable-keys.ts';

/** The expired keys that one write removes, because an expression has at most 4 KB (DynamoDB quotas). */
const BATCH = 100;

/** Strongly consistent. */
export async function usableKeysOf(table: Table, projectId: string): Promise<UsableKeys> {
  return ((await table.get(itemKey.usableKeys(projectId)))?.usable ?? {}) as UsableKeys;
}

/** The write of usable keys. An undefined key has no place anymore. */
export const changeUsable = (projectId: string, keys: Partial<UsableKeys>, condition: Condition): Write =>
  update(
    itemKey.usableKeys(projectId),
    Object.fromEntries(Object.entries(keys).map(([id, key]) => [`usable.${id}`, key])),
    condition,
  );

/** Makes a change that needs a place for a key. If there is none, it frees the places of expired keys and repeats the change. */
export async function withPlace<Outcome>(
  table: Table,
  projectId: string,
  nowMs: number,
  change: () => Promise<Outcome | 'full'>,
): Promise<Outcome | 'full'> {
  for (;;) {
    const outcome = await change();
    if (outcome !== 'full') return outcome;
    const expired = expiredKeys(await usableKeysOf(table, projectId), nowMs).slice(0, BATCH);
    if (expired.length === 0) return 'full';
    const freed = Object.fromEntries(expired.map((id) => [id, undefined]));
    await table.write([changeUsable(projectId, freed, exists)]);
  }
}
