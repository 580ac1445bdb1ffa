import { describe, expect, it } from 'vitest';
import { newestOf, type PartitionQuery } from '../../../lib/aws/queries.ts';
import type { Query, Table } from '../../../lib/aws/table.ts';

const PARTITIONS = 72;

interface Stored {
  pk: string;
  sk: string;
}

/** Creates partitions of items with a filter, and counts the reads. Each read uses a part of the time limit. */
function createPartitions(
  items: readonly Stored[],
  isWanted: (item: Stored) => boolean = () => true,
  msPerItem: number = 0,
) {
  const partitions = Map.groupBy(items.toReversed(), ({ pk }) => pk);
  const read = { queries: 0, items: 0 };
  const query = async ({ after, Limit = 0, ExpressionAttributeValues, ScanIndexForward }: Query) => {
    if (ScanIndexForward !== false) throw new Error('Oldest first');
    const from = (after as Stored | undefined)?.sk ?? '~';
    const rest = partitions.get(ExpressionAttributeValues?.[':partition'])?.filter(({ sk }) => sk < from) ?? [];
    const found = rest.slice(0, Limit);
    read.queries++;
    read.items += found.length;
    return { items: found.filter(isWanted), count: 0, next: rest.length > Limit ? found.at(-1) : undefined };
  };
  const table = { query, now: () => read.items * msPerItem } as unknown as Table;
  const queries: PartitionQuery[] = Array.from({ length: PARTITIONS }, (_, partition) => ({
    query: { ExpressionAttributeValues: { ':partition': `p${partition}` } },
    keyOf: (sk) => ({ pk: `p${partition}`, sk }),
  }));
  return {
    read,
    page: (limit: number, after?: string, reads = limit) => newestOf(table, queries, { limit, reads, after }),
  };
}

const item = (partition: number, i: number): Stored => ({ pk: `p${partition}`, sk: String(i).padStart(6, '0') });
const itemsIn = (partitionOf: (i: number) => number, count: number) =>
  Array.from({ length: count }, (_, i) => item(partitionOf(i), i));

const spreads: Record<string, (i: number) => number> = {
  'all partitions, evenly': (i) => (i * 31) % PARTITIONS,
  'a few partitions': (i) => (i * 7) % 12,
  'one partition': () => 5,
  'a partition for each time': (i) => Math.floor(i / 40) % PARTITIONS,
  'one partition, mostly': (i) => (i % 50 === 0 ? i % PARTITIONS : 3),
};

describe('the newest items of many partitions', () => {
  it.each(Object.entries(spreads))('contain each item once, newest first, with few extra reads: %s', async (_, of) => {
    const items = itemsIn(of, 500);
    const newestFirst = items.map(({ sk }) => sk).reverse();
    for (const limit of [1, 25, 100]) {
      const { page } = createPartitions(items);
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const { items: found, next } = await page(limit, after);
        expect(found.length).toBeLessThanOrEqual(limit);
        seen.push(...found.map(({ sk }) => String(sk)));
        after = next;
      } while (after !== undefined);
      expect(seen).toEqual(newestFirst);
    }
    const { page, read } = createPartitions(items);
    expect((await page(100)).items).toHaveLength(100);
    expect(read.items).toBeLessThanOrEqual(5 * 100 + PARTITIONS);
    expect(read.queries).toBeLessThanOrEqual(2 * PARTITIONS);
  });

  it.each([
    ['quick', 0, 15 * 1000 * 2],
    ['slow', 1, 3 * 1000 * 2],
  ])('come in short pages, each once, when a filter omits nearly all, from a %s store', async (_, ms, most) => {
    const isWanted = ({ sk }: Stored) => Number(sk) % 17_000 === 3;
    const { page, read } = createPartitions(
      itemsIn((i) => i % PARTITIONS, 60_000),
      isWanted,
      ms,
    );
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const before = { ...read };
      const { items, next } = await page(2, after, 1000);
      expect(read.items - before.items).toBeLessThanOrEqual(most);
      expect(read.queries - before.queries).toBeLessThanOrEqual(4 * PARTITIONS);
      seen.push(...items.map(({ sk }) => String(sk)));
      after = next;
    } while (after !== undefined);
    expect(seen).toEqual(['051003', '034003', '017003', '000003']);
  });

  it('are found among the newest items when a filter omits few', async () => {
    const isWanted = ({ sk }: Stored) => Number(sk) % 3 !== 0;
    const { page, read } = createPartitions(
      itemsIn((i) => i % PARTITIONS, 50_000),
      isWanted,
    );
    expect((await page(25, undefined, 1000)).items).toHaveLength(25);
    expect(read.items).toBeLessThanOrEqual(4 * PARTITIONS);
  });
});
