import type { Item } from './items.ts';
import type { Page, Query, Table } from './table.ts';

/** Rounds of queries for one page of a list: together they take less than a second. */
const MAX_ROUNDS = 8;

/** What to read of one partition, and the key under which it would have an item with a sort key. */
export interface PartitionQuery {
  query: Query;
  keyOf(sortKey: string): object;
}

/**
 * The newest items of several partitions, at most `limit`, and after which sort key to go on, if anywhere. Every partition is
 * read from a position; what all of them have passed is complete, and the partition that has come least far says where the next
 * round, or the next page, begins. A page may be short before the end.
 */
export async function newestOf(
  table: Table,
  queries: readonly PartitionQuery[],
  limit: number,
  after: string | undefined,
): Promise<{ items: Item[]; next: string | undefined }> {
  const found: Item[] = [];
  let position = after;
  for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
    const from = position;
    const pages = await Promise.all(
      queries.map(({ query, keyOf }) =>
        table.query({ ...query, ScanIndexForward: false, after: from === undefined ? undefined : keyOf(from) }),
      ),
    );
    position = leastProgress(pages);
    const passed = pages.flatMap(({ items }) => items);
    found.push(...passed.filter((item) => position === undefined || sortKeyOf(item) >= position));
    if (found.length >= limit || position === undefined) break;
  }
  const items = found.sort(newestFirst).slice(0, limit);
  const last = items.at(-1);
  return { items, next: found.length > limit && last ? sortKeyOf(last) : position };
}

const sortKeyOf = ({ sk }: Item): string => String(sk);
const newestFirst = (a: Item, b: Item): number => (sortKeyOf(a) < sortKeyOf(b) ? 1 : -1);

/** `undefined`: all of them were read to the end. */
const leastProgress = (pages: readonly Page[]): string | undefined =>
  pages
    .flatMap(({ next }) => next?.sk ?? [])
    .sort()
    .at(-1);
