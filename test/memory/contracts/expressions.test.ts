import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  all,
  any,
  appended,
  type Condition,
  check,
  exists,
  increased,
  initially,
  is,
  isAbsent,
  isAtMost,
  isBelow,
  isNew,
  isPresent,
  put,
  remove,
  update,
  withoutFirst,
} from '../../../lib/aws/expressions.ts';
import type { Item, ItemKey } from '../../../lib/aws/items.ts';
import { createTable } from '../../../lib/aws/table.ts';
import type { Write } from '../../../lib/aws/writes.ts';
import { comparedTable } from '../../support/compared-table.ts';
import { runtimeWith } from '../../support/runtime.ts';
import { newStore } from './stores.ts';

/*
 * Items have an optional number `n`, an optional list `l`, and an optional `x` and `y` of any type. Comparisons use only numbers
 * and texts, because DynamoDB orders them. Excludes cases that the service does not use and the simulation handles differently:
 * `if_not_exists` for `null`, comparisons of maps with members in a different order, and failing updates.
 */
const ordered = fc.oneof(fc.integer({ min: -2, max: 12 }), fc.constantFrom('', 'a', 'b', 'B', '10', '9'));
const list = fc.array(ordered, { maxLength: 4 });
const notNull = fc.oneof(ordered, fc.boolean(), list, fc.record({ a: ordered, b: list }, { noNullPrototype: true }));
const value = fc.oneof(notNull, fc.constant(null));
const number = fc.integer({ min: -2, max: 12 });
const item: fc.Arbitrary<Item> = fc.record({ n: number, l: list, x: value, y: notNull }, { requiredKeys: [] });

/** One value for each member, which all comparisons of that member use. DynamoDB rejects redundant parentheses. */
const condition: fc.Arbitrary<Condition> = fc
  .record({ n: ordered, x: ordered, y: value, l: list })
  .chain(({ n, x, y, l }) => {
    const compared = [is, isBelow, isAtMost].flatMap((compare) => [compare('n', n), compare('x', x)]);
    const plain = [exists, isNew, ...['n', 'l', 'x', 'y'].flatMap((name) => [isPresent(name), isAbsent(name)])];
    const leaf = fc.constantFrom(...compared, ...plain, is('l', l), is('y', y));
    const joined = (parts: fc.Arbitrary<Condition>, minLength: number) =>
      fc
        .tuple(fc.constantFrom(all, any), fc.array(parts, { minLength, maxLength: 3 }))
        .map(([join, some]) => join(...some));
    return fc.oneof(leaf, joined(leaf, 1), joined(fc.oneof(leaf, joined(leaf, 2)), 2));
  });

const takenOff = fc.integer({ min: 1, max: 3 });
const orGone = (...some: fc.Arbitrary<unknown>[]) => fc.oneof(fc.constant(undefined), ...some);
const change: fc.Arbitrary<Item> = fc
  .record(
    {
      n: orGone(number, number.map(increased), number.map(initially)),
      l: orGone(list, list.map(appended), list.map(initially)),
      x: orGone(value),
      y: orGone(notNull, notNull.map(initially)),
    },
    { requiredKeys: [] },
  )
  .filter((values) => Object.keys(values).length > 0);

/** A change and its condition. Entries are removed only from existing lists. */
interface Update {
  values: Item;
  only: Condition | undefined;
}
const perhaps = fc.option(condition, { nil: undefined });
const changed: fc.Arbitrary<Update> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ values: change, only: perhaps }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(change, takenOff, fc.constantFrom(exists, isPresent('x'), isAbsent('n')))
      .map(([values, count, only]) => ({
        values: { ...values, l: withoutFirst(count) },
        only: all(isPresent('l'), only),
      })),
  },
);

type Made = (key: ItemKey) => Write;
const updating =
  ({ values, only }: Update): Made =>
  (key) =>
    update(key, values, only);
const putting =
  ({ values, only }: Update): Made =>
  (key) =>
    put({ ...key, ...values }, only);
const removing =
  (only: Condition): Made =>
  (key) =>
    remove(key, only);
const checking =
  (only: Condition): Made =>
  (key) =>
    check(key, only);
const write: fc.Arbitrary<Made> = fc.oneof(
  { weight: 4, arbitrary: changed.map(updating) },
  { weight: 2, arbitrary: fc.record({ values: item, only: perhaps }).map(putting) },
  { weight: 1, arbitrary: condition.map(removing) },
  { weight: 1, arbitrary: condition.map(checking) },
);

/** The number of items. */
const ITEMS = 3;
type Step = { writes: Made[]; first: number };
const step: fc.Arbitrary<Step> = fc.record({
  writes: fc.array(write, { minLength: 1, maxLength: ITEMS }),
  first: fc.nat(ITEMS - 1),
});
const plan = fc.record({
  stored: fc.array(item, { minLength: 1, maxLength: ITEMS }),
  steps: fc.array(step, { minLength: 2, maxLength: 8 }),
});

describe('a write', () => {
  it('has the same result in memory and in the database for any condition and update', async () => {
    const { perform, compareItems, drop } = await comparedTable();
    const table = createTable(runtimeWith(perform));
    await fc.assert(
      fc.asyncProperty(plan, async ({ stored, steps }) => {
        const keys = Array.from({ length: ITEMS }, () => ({ pk: randomUUID(), sk: 'ITEM' }));
        const first = { writes: stored.map((values) => putting({ values, only: undefined })), first: 0 };
        for (const { writes, first: at } of [first, ...steps]) {
          await table.write(writes.map((make, i) => make(keys[(at + i) % ITEMS] as ItemKey)));
          await table.batchGet(keys);
        }
      }),
      { numRuns: 100 },
    );
    await compareItems();
    await drop();
  });
});

const { table } = newStore();

describe('an item', () => {
  it('returns a copy to the reader', async () => {
    const key = { pk: randomUUID(), sk: 'ITEM' };
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
});
