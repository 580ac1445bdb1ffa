import { BY_PROJECT, BY_STATUS, BY_TYPE } from '../deployment.ts';
import { earliestId, type IdPrefix } from '../ids.ts';
import { all, type Condition } from './expressions.ts';
import type { Item, ItemKey } from './items.ts';
import type { Query, Table } from './table.ts';

/** The items that one request reads with a filter, which can remove most of them. A request reads at most 1 MB. */
export const FILTERED_ITEMS = 1000;

/** A query of all items of a partition. */
export const wholePartition = (pk: string): Query => ({
  KeyConditionExpression: 'pk = :pk',
  ExpressionAttributeValues: { ':pk': pk },
});

/** A query of the API keys of a project. */
export const keysQuery = (projectId: string): Query => ({
  IndexName: BY_PROJECT,
  KeyConditionExpression: 'keysOf = :project',
  ExpressionAttributeValues: { ':project': projectId },
});

/** A query of the entries of a partition of the index by type. */
export const typeQuery = (byType: string): Query => ({
  IndexName: BY_TYPE,
  KeyConditionExpression: 'byType = :type',
  ExpressionAttributeValues: { ':type': byType },
});

/** A query of the items of a partition with sort keys from `first` to `last`, both included. */
export const rangeQuery = (
  partition: string,
  { first, last }: { first: string; last: string },
  name = 'pk',
): Query => ({
  KeyConditionExpression: `${name} = :partition AND sk BETWEEN :first AND :last`,
  ExpressionAttributeValues: { ':partition': partition, ':first': first, ':last': last },
});

/** The same query with a filter. Items that the filter removes are read and billed too. */
const filtered = (query: Query, { expression, names, values }: Condition): Query => ({
  ...query,
  FilterExpression: expression,
  ExpressionAttributeNames: { ...query.ExpressionAttributeNames, ...names },
  ExpressionAttributeValues: { ...query.ExpressionAttributeValues, ...values },
});

/** The query of one partition, and the key of an item with a sort key in it. */
export interface PartitionQuery {
  query: Query;
  keyOf(sortKey: string): object;
}

/** The indexes whose entries are ordered by their ids, by the attribute of their partitions. */
const INDEXES = { byStatus: BY_STATUS, byType: BY_TYPE };
const INDEX_KEYS = ['byStatus', 'byType'] as const satisfies (keyof typeof INDEXES)[];
type IndexKey = Partial<Record<keyof typeof INDEXES, string>>;

/** Milliseconds since 1970. */
interface Window {
  since?: number | undefined;
  until?: number | undefined;
}

/**
 * The queries of partitions for the ids that were created at `since` or later and before `until`, and that meet every condition.
 * `keysOf` returns the key of an id in each partition, with the key of an index if that contains the partition. An empty window
 * has no queries, because DynamoDB rejects them.
 */
export function idQueries(
  prefix: IdPrefix,
  { since = 0, until }: Window,
  keysOf: readonly ((id: string) => ItemKey & IndexKey)[],
  conditions: readonly Condition[],
  options: Query = {},
): PartitionQuery[] {
  const first = earliestId(prefix, since);
  const last = until === undefined ? `${prefix}_~` : earliestId(prefix, until);
  if (first > last) return [];
  return keysOf.map((keyOf) => {
    const key = keyOf('');
    const index = INDEX_KEYS.find((name) => key[name] !== undefined);
    const range = rangeQuery(key[index ?? 'pk'] ?? '', { first, last }, index ?? 'pk');
    const query = { ...range, ...(index && { IndexName: INDEXES[index] }), ...options };
    return { query: conditions.length > 0 ? filtered(query, all(...conditions)) : query, keyOf };
  });
}

/** The maximum rounds of queries for one page of a list. Each round reads twice as much as the previous one. */
const MAX_ROUNDS = 4;

/**
 * How long a filtered page that is not full starts another round. The second round always starts. This time is usually enough for
 * all rounds, which read about 14,000 items. With a slower store, a page ends earlier.
 */
const PATIENCE_MS = 300;

/** The items to read first per item of the page, because most filters match many items. */
const FIRST_READS = 4;

export interface MergedPage {
  /** Items, at most. */
  limit: number;
  /** Items to read if the first ones are not enough. The default is `limit`, and more with a filter. */
  reads?: number;
  /** The sort key after which the page starts. */
  after: string | undefined;
  /**
   * Returns the items that an item of a partition stands for: the item itself, and items with larger sort keys. All of them sort
   * before the next larger item of the partition.
   */
  contents?: (item: Item) => Item[];
}

/**
 * Merges the newest items of several partitions, and returns the sort key after which the next page starts. Items are usually
 * spread evenly, so the first round reads twice the share of each partition. Items before the position that all partitions have
 * reached are complete. Until they fill the page, the partitions that can contain a part of it are read further. A page can be
 * short before the end.
 */
export async function newestOf(
  table: Table,
  queries: readonly PartitionQuery[],
  { limit, after, reads = queries.some(isFiltered) ? FILTERED_ITEMS : limit, contents }: MergedPage,
): Promise<{ items: Item[]; next: string | undefined }> {
  let merged: Item[] = [];
  const positions = new Map(queries.map((partition) => [partition, after]));
  const started = table.now();
  for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
    if (reads > limit && rounds > 1 && table.now() - started > PATIENCE_MS) break;
    const last = merged[limit - 1];
    const behind = [...positions].filter(([, position]) => !last || !position || position > sortKeyOf(last));
    if (behind.length === 0) break;
    const count = rounds === 0 ? Math.min(reads, FIRST_READS * limit) : reads * 2 ** (rounds - 1);
    const share = Math.min(count, Math.ceil((2 * count) / behind.length) + 1);
    const pages = behind.map(async ([partition, position]) => {
      const from = position === undefined ? undefined : partition.keyOf(position);
      const page = { Limit: share, ScanIndexForward: false, after: from };
      const { items, next } = await table.query({ ...partition.query, ...page });
      if (next) positions.set(partition, next.sk);
      else positions.delete(partition);
      return contents
        ? items.flatMap(contents).filter((item) => after === undefined || sortKeyOf(item) < after)
        : items;
    });
    merged = [...merged, ...(await Promise.all(pages)).flat()].sort(newestFirst);
  }
  const position = leastProgress([...positions.values()]);
  const complete = merged.filter((item) => position === undefined || sortKeyOf(item) >= position);
  const items = complete.slice(0, limit);
  const last = items.at(-1);
  return { items, next: complete.length > limit && last ? sortKeyOf(last) : position };
}

const isFiltered = ({ query }: PartitionQuery): boolean => query.FilterExpression !== undefined;
const sortKeyOf = ({ sk }: Item): string => String(sk);
const newestFirst = (a: Item, b: Item): number => (sortKeyOf(a) < sortKeyOf(b) ? 1 : -1);

/** The position that all partitions have reached. `undefined` if all were read to the end. */
const leastProgress = (positions: readonly (string | undefined)[]): string | undefined =>
  positions
    .filter((position) => position !== undefined)
    .sort()
    .at(-1);
