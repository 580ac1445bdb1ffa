import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { increased, is, isNew, put, remove, update } from '../../../lib/aws/expressions.ts';
import type { Item } from '../../../lib/aws/items.ts';
import type { Write } from '../../../lib/aws/writes.ts';
import { LAYOUT, LAYOUT_KEY } from '../../../lib/deployment.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { putFirstKey } from '../../../lib/keys/store.ts';
import { projects } from '../../../lib/projects/store.ts';
import { newKey, newProject } from './builders.ts';
import { newStore } from './stores.ts';

type Key = { pk: string; sk: string };
const newItemKey = (): Key => ({ pk: `KEY#${randomUUID()}`, sk: 'KEY' });

const { table, lossy } = newStore();

const before = { state: 'old' };
const after = { state: 'new' };

// Every store consists of these kinds of writes. Each write makes its condition false.
it.each<[string, before: object | undefined, write: (key: Key) => Write, after: object | undefined]>([
  ['a new item', undefined, (key) => put({ ...key, ...after }, isNew), after],
  ['a replaced item', before, (key) => put({ ...key, ...after }, is('state', 'old')), after],
  ['an update', before, (key) => update(key, after, is('state', 'old')), after],
  ['a removal', before, (key) => remove(key, is('state', 'old')), undefined],
])('a conditional write with a lost response takes effect once, alone and in a transaction: %s', async (_, before, write, after) => {
  const [counter, ...keys] = [newItemKey(), newItemKey(), newItemKey()];
  for (const [i, key] of keys.entries()) {
    if (before) await table.write([put({ ...key, ...before })]);
    const others = i === 0 ? [] : [update(counter, { count: increased(1) })];
    expect(await lossy.write([write(key), ...others])).toEqual([]);
    expect(await table.get(key)).toEqual(after && { ...key, ...after });
  }
  expect((await table.get(counter))?.count).toBe(1);
});

it('a batched read of some members returns these and the keys', async () => {
  const key = newItemKey();
  await table.write([put({ ...key, status: 'failed', attempts: ['large'] })]);
  expect(await table.batchGetLate([newItemKey(), key], ['status'])).toEqual([undefined, { ...key, status: 'failed' }]);
});

describe('a table', () => {
  const key = { pk: 'TEST#1', sk: 'TEST' };
  const storeWith = async (layout: number) => {
    const store = newStore();
    await store.table.write([put({ ...LAYOUT_KEY, layout }), put({ ...key })]);
    return store;
  };

  it('accepts commands without a layout, and gets that of the release with its first project', async () => {
    const { table, checked } = newStore();
    expect(await checked().get(key)).toBeUndefined();
    expect(await checked().write([put({ ...key })])).toEqual([]);
    await projects(table).create(newProject(), putFirstKey(newKey()));
    await projects(table).create(newProject(), putFirstKey(newKey()));
    expect(await table.get(LAYOUT_KEY)).toMatchObject({ layout: LAYOUT });
    expect(await checked().get(key)).toEqual(key);
  });

  it.each([LAYOUT - 1, LAYOUT + 1])('rejects every command while it has the layout %i', async (layout) => {
    const { table, checked } = await storeWith(layout);
    const { get, batchGet, query, updated, removeAll, write } = checked();
    const other = { pk: 'TEST#2', sk: 'TEST' };
    const listing = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': key.pk } };
    for (const command of [
      () => get(key),
      () => batchGet([key]),
      () => query(listing),
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
    await table.write([put({ ...LAYOUT_KEY, layout: LAYOUT })]);
    expect(await get(key)).toEqual(key);
  });

  it('creates no project with a different layout', async () => {
    const { table } = await storeWith(LAYOUT + 1);
    const project = newProject();
    await expect(projects(table).create(project, putFirstKey(newKey()))).rejects.toThrow(UnavailableError);
    expect(await projects(table).get(project.id)).toBeUndefined();
    expect(await table.get(LAYOUT_KEY)).toMatchObject({ layout: LAYOUT + 1 });
  });
});

it('returns a copy of an item to each reader', async () => {
  const { table } = newStore();
  const key = newItemKey();
  await table.write([put({ ...key, n: 1 }, isNew)]);
  const partition = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': key.pk } };
  const reads: (() => Promise<Item | undefined>)[] = [
    () => table.get(key),
    async () => (await table.batchGet([key]))[0],
    async () => (await table.query(partition)).items[0],
  ];
  for (const read of reads) {
    const found = await read();
    expect(found).toEqual({ ...key, n: 1 });
    if (found) found.n = 2;
  }
  expect(await table.write([update(key, { n: 3 }, is('n', 1))])).toEqual([]);
});
