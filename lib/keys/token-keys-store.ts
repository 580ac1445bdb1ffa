import { put, update } from '../aws/expressions.ts';
import { type Item, itemKey, timeToLive } from '../aws/items.ts';
import { rangeQuery } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { isUsable, type KeyRecord } from './key.ts';
import { type ListedKey, signsTokens } from './token-keys.ts';

/*
 * The list of the keys that can sign tokens. It is one partition for each project, so engines that poll it cost a read of its
 * bytes, and not one read for each key. Ended keys leave it.
 */

/** How long a key stays in the list after its end, so that no concurrent change of the key adds an incomplete entry. */
const KEPT_MS = 60 * 60 * 1000;

/** When the table removes an entry. */
function expiry({ expiresAt, revokedAt }: Pick<ListedKey, 'expiresAt' | 'revokedAt'>): Item {
  const end = revokedAt ?? expiresAt;
  return end === undefined ? {} : { expires: timeToLive(end + KEPT_MS) };
}

/** The entry of a new key. */
export function listed(record: KeyRecord): Write[] {
  if (!signsTokens(record)) return [];
  const { id, projectId, type, publicKey, cidrs, expiresAt } = record;
  return [put({ ...itemKey.tokenKey(projectId, id), id, type, publicKey, cidrs, expiresAt, ...expiry({ expiresAt }) })];
}

type Change = Partial<Pick<ListedKey, 'cidrs' | 'revokedTokens' | 'expiresAt' | 'revokedAt'>>;

/** The change of the entry for a change of the key, in one transaction. A key that has ended has no entry. */
export function changeListed(read: KeyRecord, change: Change, nowMs: number): Write[] {
  const isListed = signsTokens(read) && isUsable(read, nowMs);
  return isListed ? [update(itemKey.tokenKey(read.projectId, read.id), { ...change, ...expiry(change) })] : [];
}

/** The keys of a project that can sign tokens, newest first, read on demand. Strongly consistent. */
export async function* listedKeys(table: Table, projectId: string): AsyncGenerator<ListedKey> {
  const { pk } = itemKey.usableKeys(projectId);
  const query = rangeQuery(pk, { first: 'key_', last: 'key_~' });
  for await (const item of table.queryAll({ ...query, ScanIndexForward: false })) yield item as unknown as ListedKey;
}
