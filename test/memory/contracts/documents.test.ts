import { describe, expect, it } from 'vitest';
import type { Item } from '../../../lib/aws/items.ts';
import type { DocumentState } from '../../../lib/documents/document.ts';
import { rangesOf } from '../../../lib/documents/patterns.ts';
import { documents } from '../../../lib/documents/store.ts';
import { eventStore } from '../../../lib/events/store.ts';
import { parseJson } from '../../../lib/json.ts';
import type { Space } from '../../../lib/space.ts';
import { documentState, newSpace, newStoredEvent } from './builders.ts';
import { newStore } from './stores.ts';

const { table, short } = newStore();

describe('documents', () => {
  const store = documents(table);
  const { get, save } = store;

  describe('save', () => {
    it('is false and changes nothing if the id of an event is taken', async () => {
      const [space, event] = [newSpace(), newStoredEvent()];
      await eventStore(table).publish([event], []);
      expect(await save(space, 'd', 0, documentState(), [newStoredEvent(), event])).toBe(false);
      expect(await get(space, 'd')).toBeUndefined();
    });
  });

  describe('get', () => {
    it.each([
      '{}',
      '{"":"","__proto__":{"a":1},"constructor":null}',
      '{"n":[12345678901234567890,1.10,-0,1e400,0.1]}',
      '{"text":"\\u0000 漢 😀 \\ud800"}',
      '{"deep":{"list":[[],{},null,true]}}',
    ])('returns the fields unchanged: %s', async (json) => {
      const space = newSpace();
      const fields = parseJson(json) as DocumentState['fields'];
      await save(space, 'd', 0, documentState({ fields, marks: { '': [1, ''] } }), []);
      const found = await get(space, 'd');
      expect(JSON.stringify(found?.fields)).toBe(JSON.stringify(fields));
      expect(found?.marks).toEqual({ '': [1, ''] });
    });
  });

  describe('list', () => {
    const KEYS = ['a', 'a:1', 'a:1:x', 'a:2', 'a-1', 'b', 'b:1', 'c:1'];
    async function fill(): Promise<Space> {
      const space = newSpace();
      for (const [i, key] of KEYS.entries()) await save(space, key, 0, documentState({ revision: i + 1 }), []);
      await save({ ...space, environment: 'sandbox' }, 'a:other', 0, documentState(), []);
      return space;
    }
    const sorted = [...KEYS].sort();
    const keysOf = (items: readonly Item[]) => items.map(({ sk }) => String(sk));

    it.each<[string, string[], string[]]>([
      ['everything', ['*'], sorted],
      ['a prefix', ['a:*'], ['a:1', 'a:1:x', 'a:2']],
      ['one document', ['b'], ['b']],
      ['several ranges', ['a:1:*', 'b', 'c:*'], ['a:1:x', 'b', 'c:1']],
      ['ranges with nothing in them', ['0', 'a:2', 'bb:*', 'c:*', 'd:*'], ['a:2', 'c:1']],
      ['nothing', ['zz:*'], []],
      ['no range', [], []],
    ])('lists every document of %s once, in the order of keys', async (_, patterns, expected) => {
      const space = await fill();
      const ranges = rangesOf(patterns);
      for (const [from, limit] of [
        [table, 100],
        [table, 2],
        [table, 1],
        [short, 100],
      ] as const) {
        const keys: string[] = [];
        for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
          const page = await documents(from).list(space, ranges, limit, after);
          const { items, ...position } = await documents(from).revisions(space, ranges, limit, after);
          expect(position).toEqual({ next: page.next, isCut: page.isCut });
          expect(keysOf(items)).toEqual(keysOf(page.items));
          expect(page.items.length).toBeLessThanOrEqual(limit);
          keys.push(...keysOf(page.items));
          after = page.next;
        }
        expect(keys).toEqual(expected);
      }
    });

    const ofA = ['a:1', 'a:1:x', 'a:2'];
    const endOfA = { next: 'a:\x7f', isCut: false };
    const end = { next: undefined, isCut: false };
    it.each<[string, string | undefined, string[], { next: string | undefined; isCut: boolean }]>([
      ['in a range goes on there', 'a:1', ofA.slice(1), endOfA],
      ['of no document goes on after it', 'a:1:y', ofA.slice(2), endOfA],
      ['before a range begins with it', 'A', ofA, endOfA],
      ['at the end of a range begins with the next', 'a:\x7f', ['b:1'], end],
      ['between ranges begins with the next', 'aa', ['b:1'], end],
      ['behind every range is the end', 'z', [], end],
    ])('a position %s', async (_, after, keys, expected) => {
      const { items, ...position } = await store.list(await fill(), rangesOf(['a:*', 'b:*']), 9, after);
      expect([keysOf(items), position]).toEqual([keys, expected]);
    });
  });
});
