import { describe, expect, it } from 'vitest';
import { type Item, itemKey } from '../../../lib/aws/items.ts';
import type { DocumentState } from '../../../lib/documents/document.ts';
import { rangesOf } from '../../../lib/documents/patterns.ts';
import { documents, toState } from '../../../lib/documents/store.ts';
import { CYCLE_REPEAT_MS, type CycleClaim } from '../../../lib/documents/sync.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../../../lib/events/event.ts';
import { eventStore } from '../../../lib/events/store.ts';
import { parseJson } from '../../../lib/json.ts';
import type { Space } from '../../../lib/space.ts';
import { documentState, newId, newSpace, newStoredEvent, now } from './builders.ts';
import { newStore } from './stores.ts';

const { table, lossy, short } = newStore();

describe('documents', () => {
  const store = documents(table);
  const { get, save, claimCycle, complete } = store;
  const isStored = async (event: StoredEvent) => (await eventStore(table).get(event, event.id)) !== undefined;

  describe('save', () => {
    const second = documentState({ revision: 2, fields: { b: null }, updatedAt: now + 1 });

    it('creates a document with its events', async () => {
      const [space, event] = [newSpace(), newStoredEvent()];
      expect(await save(space, 'd', 0, documentState(), [event])).toBe(true);
      expect(await get(space, 'd')).toEqual(documentState());
      expect(await isStored(event)).toBe(true);
    });

    it('replaces the state that was read, together with several events', async () => {
      const [space, some] = [newSpace(), [newStoredEvent(), newStoredEvent()]];
      await save(space, 'd', 0, documentState(), []);
      expect(await save(space, 'd', 1, second, some)).toBe(true);
      expect(await get(space, 'd')).toEqual(second);
      expect(await Promise.all(some.map(isStored))).toEqual([true, true]);
    });

    it.each<[string, number, DocumentState | undefined]>([
      ['was created', 0, documentState()],
      ['was deleted before the read', 0, documentState({ revision: 3, deleted: true })],
      ['has a later revision', 1, second],
      ['has an earlier revision', 2, documentState()],
      ['never existed', 1, undefined],
    ])('is false and changes nothing if the document %s concurrently', async (_, before, current) => {
      const [space, event] = [newSpace(), newStoredEvent()];
      if (current) await save(space, 'd', 0, current, []);
      expect(await save(space, 'd', before, documentState({ revision: 9 }), [event])).toBe(false);
      expect(await get(space, 'd')).toEqual(current);
      expect(await isStored(event)).toBe(false);
    });

    it('is false and changes nothing if the id of an event is taken', async () => {
      const [space, event] = [newSpace(), newStoredEvent()];
      await eventStore(table).publish([event], []);
      expect(await save(space, 'd', 0, documentState(), [newStoredEvent(), event])).toBe(false);
      expect(await get(space, 'd')).toBeUndefined();
    });

    it.each([
      ['with events', () => [newStoredEvent()]],
      ['without events', () => []],
    ])('succeeds after a lost response, %s', async (_, published) => {
      const space = newSpace();
      expect(await documents(lossy).save(space, 'd', 0, documentState(), published())).toBe(true);
      expect(await documents(lossy).save(space, 'd', 1, second, published())).toBe(true);
      expect(await get(space, 'd')).toEqual(second);
    });
  });

  describe('get', () => {
    it('finds a document only in its own space', async () => {
      const space = newSpace();
      await save(space, 'd', 0, documentState(), []);
      const spaces: Space[] = [space, { ...space, environment: 'sandbox' }, newSpace()];
      const found = await Promise.all(spaces.map((each) => get(each, 'd')));
      expect(found.map((each) => each?.revision)).toEqual([1, undefined, undefined]);
    });

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

  it('finds many documents by key, in order', async () => {
    const space = newSpace();
    const deleted = documentState({ deleted: true, fields: {} });
    await save(space, 'a', 0, documentState(), []);
    await save(space, 'b', 0, deleted, []);
    expect(await store.getAll(space, ['b', 'none', 'a'])).toEqual([deleted, undefined, documentState()]);
    expect(await store.getAll({ ...space, environment: 'sandbox' }, ['a'])).toEqual([undefined]);
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
    const revisionsOf = async (space: Space) =>
      (await store.revisions(space, rangesOf(['*']), 10)).items.map(({ sk, revision }) => [sk, revision]);

    it('contains the known state of a document, and can read it', async () => {
      const space = newSpace();
      const states = { a: documentState({ revision: 3 }), b: documentState({ deleted: true, fields: {} }) };
      for (const [key, state] of Object.entries(states)) await save(space, key, 0, state, []);
      const { items } = await store.list(space, rangesOf(['*']), 10);
      expect(items.map((item) => [item.sk, toState(item)])).toEqual(Object.entries(states));
      expect(await revisionsOf(space)).toEqual([
        ['a', 3],
        ['b', 1],
      ]);
    });

    it('contains the current revision, also after a concurrent write', async () => {
      const space = newSpace();
      await save(space, 'a', 0, documentState(), []);
      await save(space, 'a', 1, documentState({ revision: 2 }), []);
      expect(await save(space, 'a', 1, documentState({ revision: 9 }), [])).toBe(false);
      expect(await revisionsOf(space)).toEqual([['a', 2]]);
    });

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

    it('a range that is cut goes on after its last document', async () => {
      const { items, ...position } = await store.list(await fill(), rangesOf(['a:*', 'b:*']), 2);
      expect([keysOf(items), position]).toEqual([ofA.slice(0, 2), { next: 'a:1:x', isCut: true }]);
    });
  });

  const claimOf = (credentialId: string): CycleClaim => ({ credentialId, fingerprint: 'request', nowMs: now });

  describe('claimCycle', () => {
    it('reserves the name for the first credential in its space', async () => {
      const [space, id] = [newSpace(), newId('syn')];
      const claims = [];
      for (const [where, credential] of [
        [space, 'key_1'],
        [space, 'key_2'],
        [space, 'key_1'],
        [{ ...space, environment: 'sandbox' }, 'key_2'],
      ] as [Space, string][]) {
        claims.push(await claimCycle(where, id, claimOf(credential)));
      }
      expect(claims).toEqual([true, false, true, true]);
      expect((await table.get(itemKey.sync(space, id)))?.expires).toBe(Math.ceil((now + EVENT_RETENTION_MS) / 1000));
    });
  });

  describe('complete', () => {
    it.each([
      ['one that was claimed', true],
      ['one that was not', false],
    ])('publishes the event of a cycle once: of %s', async (_, isClaimed) => {
      const [space, id] = [newSpace(), newId('syn')];
      if (isClaimed) await claimCycle(space, id, claimOf('key_1'));
      const [first, again] = [newStoredEvent(), newStoredEvent({ at: now + 1 })];
      await complete(space, id, 'key_1', first);
      await complete(space, id, 'key_1', again);
      expect([await isStored(first), await isStored(again)]).toEqual([true, false]);
      expect(await table.get(itemKey.sync(space, id))).toMatchObject({ credentialId: 'key_1', completedAt: now });
    });

    it('publishes nothing for another credential', async () => {
      const [space, id, event] = [newSpace(), newId('syn'), newStoredEvent()];
      await claimCycle(space, id, claimOf('key_1'));
      await complete(space, id, 'key_2', event);
      expect(await isStored(event)).toBe(false);
      expect((await table.get(itemKey.sync(space, id)))?.completedAt).toBeUndefined();
    });

    it('keeps the name for its credential', async () => {
      const [space, id] = [newSpace(), newId('syn')];
      await complete(space, id, 'key_1', newStoredEvent());
      expect(await claimCycle(space, id, claimOf('key_2'))).toBe(false);
    });

    it.each([
      ['the request that started it', { nowMs: now + CYCLE_REPEAT_MS }, true],
      ['the request that started it, too late', { nowMs: now + CYCLE_REPEAT_MS + 1 }, false],
      ['another request', { fingerprint: 'other' }, false],
      ['the same request of another credential', { credentialId: 'key_2' }, false],
    ])('lets the cycle start again only for a repetition: %s', async (_, changes, expected) => {
      const [space, id] = [newSpace(), newId('syn')];
      await claimCycle(space, id, { ...claimOf('key_1'), fingerprint: 'earlier start' });
      await claimCycle(space, id, claimOf('key_1'));
      await complete(space, id, 'key_1', newStoredEvent());
      expect(await claimCycle(space, id, { ...claimOf('key_1'), ...changes })).toBe(expected);
      expect(await table.get(itemKey.sync(space, id))).toMatchObject({ credentialId: 'key_1', completedAt: now });
    });
  });
});
