import { describe, expect, it } from 'vitest';
import { newestOf, type PartitionQuery } from '../../lib/aws/dynamodb/merged.ts';
import type { Query, Table } from '../../lib/aws/dynamodb/table.ts';

const PARTITIONS = 72;

interface Stored {
  pk: string;
  sk: string;
}

/** Items in partitions, of which a filter leaves out some, and how much of them was read. */
function createPartitions(items: readonly Stored[], isWanted: (item: Stored) => boolean = () => true) {
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
  const table = { query } as unknown as Table;
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
  for (const [name, partitionOf] of Object.entries(spreads)) {
    const items = itemsIn(partitionOf, 500);
    const newestFirst = items.map(({ sk }) => sk).reverse();

    it.each([1, 25, 100])(`in ${name}: pages of %i hold each once, newest first`, async (limit) => {
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
    });

    it(`in ${name}: a page is full, and little else is read`, async () => {
      const { page, read } = createPartitions(items);
      expect((await page(100)).items).toHaveLength(100);
      expect(read.items).toBeLessThanOrEqual(5 * 100 + PARTITIONS);
      expect(read.queries).toBeLessThanOrEqual(2 * PARTITIONS);
    });
  }

  it('of which a filter leaves out nearly all come in short pages, each once', async () => {
    const isWanted = ({ sk }: Stored) => Number(sk) % 700 === 3;
    const { page, read } = createPartitions(
      itemsIn((i) => i % PARTITIONS, 1500),
      isWanted,
    );
    const first = await page(2);
    expect(read.queries).toBeLessThanOrEqual(8 * PARTITIONS);
    const seen = first.items.map(({ sk }) => sk);
    for (let after = first.next; after !== undefined; ) {
      const { items, next } = await page(2, after);
      seen.push(...items.map(({ sk }) => sk));
      after = next;
    }
    expect(seen).toEqual(['001403', '000703', '000003']);
  });

  it('of empty partitions are none', async () => {
    expect(await createPartitions([]).page(25)).toEqual({ items: [], next: undefined });
  });
});
