import { beforeEach, describe, expect, it } from 'vitest';
import { code, mint, put, sync } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Answer, Client } from '../../support/service.ts';

const service = memoryService();
let client: Client;

beforeEach(async () => {
  client = await (await service.project()).client('live');
});

const keysOf = ({ body }: Answer) => body.changes.map(({ document_key }: { document_key: string }) => document_key);
const missing = (document_key: string) => ({ document_key, revision: 0, deleted: true, fields: null });

/** The pages of a cycle. */
async function pagesOf(request: object): Promise<Answer[]> {
  const pages: Answer[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await sync(client, { ...request, cursor });
    expect(page.status, page.text).toBe(200);
    expect(pages.push(page)).toBeLessThan(200);
    if (!page.body.has_more) return pages;
    cursor = page.body.cursor;
  }
}

describe('a known document that does not exist', () => {
  it('is deleted at revision 0, if it matches the pattern and the replica has a revision of it', async () => {
    await put(client, 'org:b', {});
    const known = { 'org:a': 3, 'org:b': 1, 'org:c': 1, 'org:never': 0, other: 1 };
    expect((await sync(client, { pattern: 'org:*', known })).body.changes).toEqual([
      missing('org:a'),
      missing('org:c'),
    ]);
    expect(keysOf(await sync(client, { pattern: 'other', known }))).toEqual(['other']);
  });

  it('is reported once, in order, for any size of a page', async () => {
    const existing = ['b', 'd', 'f', 'g', 'h'];
    for (const key of existing) await put(client, key, { key });
    const known = Object.fromEntries(['a', 'c', 'e', 'e2', 'e3', 'i', 'j'].map((key) => [key, 1]));
    const expected = [...existing, ...Object.keys(known)].sort();
    for (let limit = 1; limit <= expected.length + 1; limit++) {
      const pages = await pagesOf({ known, limit });
      expect(pages.flatMap(keysOf), `limit ${limit}`).toEqual(expected);
      for (const page of pages) expect(keysOf(page).length).toBeLessThanOrEqual(limit);
    }
  });

  it('is reported next to documents that fill a page by their size', async () => {
    for (const key of ['b', 'd', 'f'])
      for (let i = 0; i < 20; i++) await put(client, `${key}${i}`, { x: 'x'.repeat(100_000) });
    const known = { a: 1, c: 1, e: 1, g: 1 };
    const pages = await pagesOf({ known, limit: 100 });
    expect(pages.length).toBeGreaterThan(1);
    const found = pages.flatMap(keysOf);
    expect(found).toEqual([...found].sort());
    expect(new Set(found).size).toBe(64);
    expect(found).toHaveLength(64);
  });

  it('is reported in every part of several patterns', async () => {
    for (const key of ['a:1', 'c:1']) await put(client, key, {});
    const known = { 'a:0': 1, 'a:2': 1, 'b:0': 1, 'c:0': 1, 'c:2': 1 };
    for (const limit of [1, 2, 100]) {
      const pages = await pagesOf({ pattern: undefined, patterns: ['c:*', 'a:*'], known, limit });
      expect(pages.flatMap(keysOf)).toEqual(['a:0', 'a:1', 'a:2', 'c:0', 'c:1', 'c:2']);
    }
  });

  it.each([
    ['empty', ''],
    ['too long', 'a'.repeat(2000)],
    ['with a space', 'a b'],
    ['not in ASCII', 'é'],
    ['a pattern', '*'],
  ])('is ignored if its name cannot be a document: %s', async (_, name) => {
    await put(client, 'b', {});
    const pages = await pagesOf({
      known: Object.fromEntries([
        [name, 1],
        ['a', 1],
        ['z', 1],
      ]),
      limit: 1,
    });
    expect(pages.flatMap(keysOf)).toEqual(['a', 'b', 'z']);
  });
});

describe('a cycle over several patterns', () => {
  const several = (patterns: string[], more: object = {}) => sync(client, { pattern: undefined, patterns, ...more });

  it('contains each document once, whose pattern it matches, and names the patterns in its event', async () => {
    for (const key of ['a:1', 'a:2', 'b:1', 'b:1:x', 'c']) await put(client, key, {});
    const patterns = ['b:*', 'a:1', '*:1', 'none:*'];
    expect(keysOf(await several(patterns))).toEqual(['a:1', 'b:1', 'b:1:x']);
    const [event] = (await client('GET', '/v1/events?type=sync.completed')).body.data;
    expect(event.data).toMatchObject({ pattern: null, pulled: 3 });
    expect(event.data.patterns).toEqual(expect.arrayContaining(patterns));
    const pages = await pagesOf({ pattern: undefined, patterns, limit: 1 });
    expect(pages.flatMap(keysOf)).toEqual(['a:1', 'b:1', 'b:1:x']);
  });

  it('has from 1 to 32 of them, and no pattern in addition', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `p${i}:*`);
    await put(client, 'p31:d', {});
    expect(keysOf(await several(many(32)))).toEqual(['p31:d']);
    const invalid = [
      { patterns: [] },
      { patterns: many(33) },
      { patterns: ['a', 'a'] },
      { patterns: ['a'], pattern: 'a' },
      {},
    ];
    for (const members of invalid)
      expect(code(await sync(client, { pattern: undefined, ...members }))).toEqual([400, 'invalid_request']);
  });

  it.each([[[]], [null]])('is one over a single pattern if the list is %j', async (patterns) => {
    await put(client, 'a:1', {});
    expect(keysOf(await sync(client, { pattern: 'a:*', patterns }))).toEqual(['a:1']);
    const [event] = (await client('GET', '/v1/events?type=sync.completed')).body.data;
    expect(event.data.pattern).toBe('a:*');
    expect(event.data).not.toHaveProperty('patterns');
    const { status, body } = await sync(client, { pattern: undefined, patterns });
    expect([status, body.errors]).toEqual([400, [{ field: 'pattern', detail: 'is required' }]]);
  });

  it('needs a token that covers all of them', async () => {
    await put(client, 'a:1', {});
    await put(client, 'b:1', {});
    client = service.as(await mint(client, ['a:*', 'b:*'], ['read', 'write']));
    expect(keysOf(await several(['a:1', 'b:*']))).toEqual(['a:1', 'b:1']);
    expect(code(await several(['a:*', 'c:*']))).toEqual([403, 'document_not_allowed']);
    expect(code(await several(['a:*', 'a b']))).toEqual([403, 'document_not_allowed']);
  });
});
