import { describe, expect, it } from 'vitest';
import type { RevisionList } from '../../../lib/documents/pages.ts';
import { type Pull, pull } from '../../../lib/documents/pull.ts';
import { documentState } from '../../memory/contracts/builders.ts';

const KEYS = Array.from({ length: 60 }, (_, i) => `d:${String(i).padStart(2, '0')}`);

/** A store of documents with one revision each. Every tenth is deleted. It records the reads. */
function store(text = '') {
  const read: string[] = [];
  const documents: RevisionList = {
    async revisions(_space, _ranges, limit, after = '') {
      const rest = KEYS.filter((key) => key > after);
      const found = rest.slice(0, limit).map((documentKey) => ({ documentKey, revision: 3 }));
      const next = rest.length > limit ? found.at(-1)?.documentKey : undefined;
      return { found, next, isCut: next !== undefined };
    },
    async getAll(_space, keys) {
      read.push(...keys);
      return keys.map((key) => documentState({ revision: 3, deleted: key.endsWith('0'), fields: { text } }));
    },
  };
  return { documents, read };
}
const everything: Pull = {
  space: { projectId: 'prj_1', environment: 'live' },
  pattern: 'd:*',
  known: new Map(),
  limit: 100,
  after: undefined,
  bytesMax: 1_000_000,
};
const keysOf = (page: Awaited<ReturnType<typeof pull>>) => page.changes.map(({ document_key }) => document_key);

describe('a pull', () => {
  it('returns every document that the node lacks, and reads no others', async () => {
    const { documents, read } = store('text');
    const known = new Map(KEYS.filter((key) => key !== 'd:20' && key !== 'd:21').map((key) => [key, 3]));
    known.set('d:30', 2);
    known.set('d:31', 9); // of a database that was restored since
    expect(await pull(documents, { ...everything, known })).toEqual({
      changes: [
        { document_key: 'd:20', revision: 3, deleted: true, fields: null },
        { document_key: 'd:21', revision: 3, deleted: false, fields: { text: 'text' } },
        { document_key: 'd:30', revision: 3, deleted: true, fields: null },
        { document_key: 'd:31', revision: 3, deleted: false, fields: { text: 'text' } },
      ],
      next: undefined,
    });
    expect(read).toEqual(['d:20', 'd:21', 'd:30', 'd:31']);
  });

  it('returns at most the limit, and continues after it', async () => {
    const page = await pull(store().documents, { ...everything, limit: 7, after: 'd:10' });
    expect(keysOf(page)).toEqual(KEYS.slice(11, 18));
    expect(page.next).toBe('d:17');
  });

  it('returns the documents that fit, at least one, with few extra reads', async () => {
    const { documents, read } = store('a'.repeat(1000));
    const page = await pull(documents, { ...everything, bytesMax: 10_000 });
    expect(page.changes.length).toBeGreaterThan(5);
    expect(page.next).toBe(keysOf(page).at(-1));
    expect(read).toEqual(KEYS.slice(0, 25));
    expect(keysOf(await pull(documents, { ...everything, bytesMax: 0 }))).toEqual(['d:00']);
  });

  it('is complete over all pages, and omits documents outside the pattern', async () => {
    const { documents } = store('a'.repeat(1000));
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await pull(documents, { ...everything, pattern: '*:*', limit: 9, bytesMax: 5000, after });
      found.push(...keysOf(page));
      after = page.next;
    } while (after !== undefined);
    expect(found).toEqual(KEYS);
    expect(keysOf(await pull(documents, { ...everything, pattern: '*:05' }))).toEqual(['d:05']);
  });

  it('fails if a document with a revision is missing', async () => {
    const { documents } = store();
    const lost = { ...documents, getAll: async () => [undefined] };
    await expect(pull(lost, everything)).rejects.toThrow('is not there');
  });
});
