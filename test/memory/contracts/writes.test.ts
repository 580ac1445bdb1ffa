import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { increased, is, isNew, put, remove, update } from '../../../lib/aws/expressions.ts';
import type { Write } from '../../../lib/aws/writes.ts';
import { newStore } from './stores.ts';

type Key = { pk: string; sk: string };
const newKey = (): Key => ({ pk: `KEY#${randomUUID()}`, sk: 'KEY' });

/** Each kind of write with a condition that it makes false. Every store consists of these. */
const KINDS: Readonly<
  Record<string, { before: object | undefined; write: (key: Key) => Write; after: object | undefined }>
> = {
  'a new item': { before: undefined, write: (key) => put({ ...key, state: 'new' }, isNew), after: { state: 'new' } },
  'a replaced item': {
    before: { state: 'old' },
    write: (key) => put({ ...key, state: 'new' }, is('state', 'old')),
    after: { state: 'new' },
  },
  'an update': {
    before: { state: 'old' },
    write: (key) => update(key, { state: 'new' }, is('state', 'old')),
    after: { state: 'new' },
  },
  'a removal': { before: { state: 'old' }, write: (key) => remove(key, is('state', 'old')), after: undefined },
};

const { table, lossy } = newStore();

describe('a conditional write', () => {
  const prepared = async (before: object | undefined): Promise<Key> => {
    const key = newKey();
    if (before) await table.write([put({ ...key, ...before })]);
    return key;
  };
  const stateOf = async (key: Key) => {
    const item = await table.get(key);
    return item && Object.fromEntries(Object.entries(item).filter(([name]) => !['pk', 'sk'].includes(name)));
  };

  describe.each(Object.entries(KINDS))('of %s', (_, { before, write, after }) => {
    /** The write alone, and in a transaction with a counter. */
    const forms: Readonly<Record<string, (key: Key, counter: Key) => Write[]>> = {
      alone: (key) => [write(key)],
      'in a transaction': (key, counter) => [write(key), update(counter, { count: increased(1) })],
    };

    it.each(Object.entries(forms))('takes effect once after a lost response: %s', async (_, writes) => {
      const [key, counter] = [await prepared(before), newKey()];
      expect(await lossy.write(writes(key, counter))).toEqual([]);
      expect(await stateOf(key)).toEqual(after);
      expect((await table.get(counter))?.count ?? 1).toBe(1);
    });
  });
});
