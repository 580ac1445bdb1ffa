import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { increased, is, isNew, put, remove, update } from '../../../lib/aws/expressions.ts';
import type { Write } from '../../../lib/aws/writes.ts';
import { LAYOUT, LAYOUT_KEY } from '../../../lib/deployment.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { projects } from '../../../lib/projects/store.ts';
import { newKey, newProject } from './builders.ts';
import { newStore } from './stores.ts';

type Key = { pk: string; sk: string };
const newItemKey = (): Key => ({ pk: `KEY#${randomUUID()}`, sk: 'KEY' });

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
    const key = newItemKey();
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
      const [key, counter] = [await prepared(before), newItemKey()];
      expect(await lossy.write(writes(key, counter))).toEqual([]);
      expect(await stateOf(key)).toEqual(after);
      expect((await table.get(counter))?.count ?? 1).toBe(1);
    });
  });
});

describe('a table', () => {
  const { table, checked } = newStore();
  const setLayout = (layout: number) => table.write([put({ ...LAYOUT_KEY, layout })]);
  const key = { pk: 'TEST#1', sk: 'TEST' };

  it('accepts commands without a layout', async () => {
    expect(await checked().get(key)).toBeUndefined();
    expect(await checked().write([put({ ...key })])).toEqual([]);
  });

  it('gets the layout of the release with its first project', async () => {
    await projects(table).create(newProject(), newKey());
    await projects(table).create(newProject(), newKey());
    expect(await table.get(LAYOUT_KEY)).toMatchObject({ layout: LAYOUT });
    expect(await checked().get(key)).toEqual(key);
  });

  it.each([LAYOUT - 1, LAYOUT + 1])('rejects every command while it has the layout %i', async (layout) => {
    await setLayout(layout);
    const { get, batchGet, query, scan, updated, removeAll, write } = checked();
    const other = { pk: 'TEST#2', sk: 'TEST' };
    const listing = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': key.pk } };
    for (const command of [
      () => get(key),
      () => batchGet([key]),
      () => query(listing),
      () => scan({}),
      () => updated(update(key, { changed: true })),
      () => removeAll([key]),
      () => write([put({ ...other })]),
      () => write([put({ ...other }), put({ ...key, changed: true })]),
    ]) {
      const rejected = expect(command()).rejects;
      await rejected.toThrow(UnavailableError);
      await rejected.toThrow(`The table has layout ${layout}, but this release needs layout ${LAYOUT}`);
    }
    expect(await table.get(other)).toBeUndefined();
    expect(await table.get(key)).toEqual(key);
    await setLayout(LAYOUT);
    expect(await get(key)).toEqual(key);
  });

  it('creates no project with a different layout', async () => {
    await setLayout(LAYOUT + 1);
    const project = newProject();
    await expect(projects(table).create(project, newKey())).rejects.toThrow(UnavailableError);
    expect(await projects(table).get(project.id)).toBeUndefined();
    expect(await table.get(LAYOUT_KEY)).toMatchObject({ layout: LAYOUT + 1 });
  });
});
