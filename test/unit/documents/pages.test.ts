import { describe, expect, it } from 'vitest';
import type { ItemKey } from '../../../lib/aws/items.ts';
import { pull, walk as walkThrough } from '../../../lib/documents/pages.ts';
import { rangesOf } from '../../../lib/documents/patterns.ts';
import { documents } from '../../../lib/documents/store.ts';
import { memoryBackend } from '../../support/memory-table.ts';

const space = { projectId: 'prj_1', environment: 'live' } as const;

/** Documents at revision 3, of which every tenth is deleted. Records the reads. A query reads at most `cutAt` items. */
async function stored(keys: readonly string[], { text = 'text', cutAt = Number.POSITIVE_INFINITY } = {}) {
  const counted = { queries: 0 };
  const read: string[] = [];
  const { table } = memoryBackend({}, ({ name, input }) => {
    if (name === 'Query') {
      counted.queries++;
      input.Limit = Math.min(input.Limit, cutAt);
    }
    if (name === 'BatchGet')
      for (const { Keys } of Object.values<{ Keys: ItemKey[] }>(input.RequestItems))
        read.push(...Keys.map(({ sk }) => sk));
    return undefined;
  });
  const store = documents(table);
  const state = {
    revision: 3,
    fields: { text },
    marks: {},
    floor: [0, ''] as [number, string],
    createdAt: 0,
    updatedAt: 0,
  };
  for (const [i, key] of keys.entries()) await store.save(space, key, 0, { ...state, deleted: i % 10 === 0 }, []);
  return { store, counted, read };
}

describe('a walk over documents', () => {
  const KEYS = ['a:1', 'a:2', 'a:3', 'b:1', 'b:2'];
  type Case = {
    limit?: number;
    after?: string;
    /** The document at which the walk stops. */
    full?: string;
    taken: string[];
    next: string | undefined;
  };

  it.each<[string, Case]>([
    ['starts after the given key', { after: 'a:2', taken: KEYS.slice(2), next: undefined }],
    ['continues after the last returned document', { full: 'a:2', taken: KEYS.slice(0, 2), next: 'a:2' }],
    ['continues with the next range', { limit: 4, full: 'a:3', taken: KEYS.slice(0, 3), next: 'a:\x7f' }],
    ['ends if the last document of the last range is full', { full: 'b:2', taken: KEYS, next: undefined }],
    ['ends after a key behind every range', { after: 'z', taken: [], next: undefined }],
  ])('%s', async (_, { limit = 3, after, full, taken: expected, next }) => {
    const { store } = await stored(KEYS);
    const taken: string[] = [];
    const walk = { space, ranges: rangesOf(['a:*', 'b:*']), limit, after };
    const position = await walkThrough(store.list, walk, (key) => {
      taken.push(key);
      return key === full ? 'full' : 'more';
    });
    expect({ taken, next: position }).toEqual({ taken: expected, next });
  });

  it('reads many documents with each query after the first one', async () => {
    const { store, counted } = await stored(KEYS);
    const walk = { space, ranges: rangesOf(['a:*', 'b:*']), limit: 1, after: undefined };
    await walkThrough(store.list, walk, () => 'more');
    expect(counted.queries).toBe(3);
  });

  it('ends after nine truncated queries, and continues through any number of ranges', async () => {
    const keys = [...'abcdefghijklmnopqrst'];
    const { store, counted } = await stored(keys, { cutAt: 1 });
    const walk = { space, limit: 3, after: undefined };
    expect(await walkThrough(store.list, { ...walk, ranges: rangesOf(['*']) }, () => 'more')).toBe('i');
    expect(counted.queries).toBe(9);
    const missing = rangesOf(keys.map((key) => `${key}:1`));
    expect(await walkThrough(store.list, { ...walk, ranges: missing }, () => 'more')).toBeUndefined();
    expect(counted.queries).toBe(9 + keys.length);
  });
});

describe('a pull', () => {
  const KEYS = Array.from({ length: 60 }, (_, i) => `d:${String(i).padStart(2, '0')}`);
  const everything = { space, patterns: ['d:*'], known: new Map(), limit: 100, bytesMax: 1_000_000 };
  const revisions = { walk: 'revisions' } as const;
  const keysOf = (page: Awaited<ReturnType<typeof pull>>) => page.changes.map(({ document_key }) => document_key);

  it('returns every document that the node lacks, and reads no others', async () => {
    const { store, read } = await stored(KEYS);
    const known = new Map(KEYS.filter((key) => key !== 'd:20' && key !== 'd:21').map((key) => [key, 3]));
    known.set('d:30', 2);
    known.set('d:31', 9); // of a database that was restored since
    expect(await pull(store, revisions, { ...everything, known })).toEqual({
      changes: [
        { document_key: 'd:20', revision: 3, deleted: true, fields: null },
        { document_key: 'd:21', revision: 3, deleted: false, fields: { text: 'text' } },
        { document_key: 'd:30', revision: 3, deleted: true, fields: null },
        { document_key: 'd:31', revision: 3, deleted: false, fields: { text: 'text' } },
      ],
      next: undefined,
      walked: 60,
    });
    expect(read).toEqual(['d:20', 'd:21', 'd:30', 'd:31']);
    expect(keysOf(await pull(store, revisions, everything))).toEqual(KEYS);
  });

  it('returns the documents that fit, at least one, with few extra reads', async () => {
    const { store, read } = await stored(KEYS, { text: 'a'.repeat(1000) });
    const page = await pull(store, revisions, { ...everything, bytesMax: 30_000 });
    expect(page.changes.length).toBeGreaterThan(25);
    expect(page.next).toBe(keysOf(page).at(-1));
    expect(read).toEqual(KEYS.slice(0, 50));
    expect(keysOf(await pull(store, revisions, { ...everything, bytesMax: 0 }))).toEqual(['d:00']);
  });
});
