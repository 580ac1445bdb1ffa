import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  all,
  any,
  appended,
  type Condition,
  hasFewerThan,
  increased,
  initially,
  is,
  isAbsent,
  isAtMost,
  isBelow,
  isPresent,
  put,
  update,
  withoutFirst,
} from '../../../lib/aws/expressions.ts';
import { createTable } from '../../../lib/aws/table.ts';
import { deliveryLog } from '../../../lib/deliveries/log-store.ts';
import { deliveries } from '../../../lib/deliveries/store.ts';
import type { HeaderList } from '../../../lib/webhooks/custom-headers.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import {
  CHARACTERS,
  headerName,
  LONE_SURROGATES,
  PROTOTYPE_NAMES,
  textsOfBytes,
  wellFormedText,
} from '../../support/adversarial.ts';
import { comparedTable } from '../../support/compared-table.ts';
import { runtimeWith } from '../../support/runtime.ts';
import { attemptOf, newDelivery, now, recordOf, retrying } from './builders.ts';
import { newStore } from './stores.ts';

const headerLists: fc.Arbitrary<HeaderList> = fc.array(fc.tuple(headerName(), wellFormedText()), { maxLength: 10 });

const { perform, drop } = await comparedTable();
const table = createTable(runtimeWith(perform));
afterAll(drop);

const key = () => ({ pk: `ANY#${randomUUID()}`, sk: 'ANY' });

describe('content from outside', () => {
  const written = (members: object) => {
    const item: ReturnType<typeof key> = { ...key(), ...members };
    return table.write([put(item)]).then(() => table.get({ pk: item.pk, sk: item.sk }));
  };

  it('keeps the headers of webhooks, requests and responses with any names', async () => {
    await fc.assert(
      fc.asyncProperty(headerLists, headerLists, headerLists, async (headers, sent, received) => {
        const { webhook, event, message } = newDelivery({ headers });
        await webhooks(table).create(webhook, []);
        const attempt = { ...attemptOf(message()), sent, headers: received };
        await deliveries(table).record(message(), event, attempt, retrying);
        expect(recordOf(await webhooks(table).get(webhook, webhook.id))).toEqual(webhook);
        expect((await deliveryLog(table).get(webhook.id, event.id))?.attempts).toEqual([attempt]);
        const changed = await webhooks(table).change(webhook, { headers: received, updatedAt: now + 1 });
        expect(changed?.headers).toEqual(received);
      }),
      { numRuns: 25, examples: [[PROTOTYPE_NAMES.map((name) => [name, name] as const), [], [['__proto__', 'x']]]] },
    );
  });

  it('keeps every character', async () => {
    const text = CHARACTERS.join('');
    expect(await written({ text, list: CHARACTERS })).toMatchObject({ text, list: CHARACTERS });
  });

  it.each(['constructor', '__proto__'])('is rejected as a member called %s', async (name) => {
    const members = Object.fromEntries([[name, 'x']]);
    await expect(written({ members })).rejects.toThrow();
    await expect(written({ list: [{ members }] })).rejects.toThrow();
    await expect(table.write([update(key(), { members })])).rejects.toThrow();
    const two = [key(), key()] as const;
    await expect(table.write([put(two[0]), put({ ...two[1], members })])).rejects.toThrow();
    expect(await table.get(two[0])).toBeUndefined();
  });

  it.each(['pk', 'sk'] as const)('takes a key attribute %s of 1 to 1,024 bytes', async (name) => {
    for (const text of textsOfBytes(1024)) expect(await written({ [name]: text })).toMatchObject({ [name]: text });
  });

  it('rejects a longer sort key', async () => {
    for (const text of textsOfBytes(1025)) await expect(written({ sk: text })).rejects.toThrow();
  });

  it.each(['pk', 'sk', 'keysOf', 'byStatus'])('is rejected as an empty key attribute %s', async (name) => {
    await expect(written({ [name]: '' })).rejects.toThrow();
  });
});

describe('an item', () => {
  const members = { n: 0, text: '10', empty: '', list: [], mixed: [1, { a: 'x' }], map: { a: 1, b: 'x' } };
  async function stored() {
    const own = key();
    await table.write([put({ ...own, ...members })]);
    return own;
  }

  it.each<[string, Condition, isTrue: boolean]>([
    ['a text below another one', isBelow('text', '9'), true],
    ['a text at most a number', isAtMost('text', 11), false],
    ['a missing member below a number', isBelow('none', 1), false],
    ['an equal list', is('mixed', [1, { a: 'x' }]), true],
    ['a list in another order', is('mixed', [{ a: 'x' }, 1]), false],
    ['one of two, and a third', all(any(is('n', 1), is('text', '10')), isAbsent('none')), true],
    ['an empty text that is present', isPresent('empty'), true],
    ['an entry that is present', isPresent('map.a'), true],
    ['an entry that is missing', isPresent('map.c'), false],
    ['an entry of a map that is missing', isPresent('none.a'), false],
    ['a map with fewer entries', hasFewerThan('map', 3), true],
    ['a map with as many entries', hasFewerThan('map', 2), false],
    ['a map that is missing, with fewer entries', hasFewerThan('none', 3), false],
    ['an entry that is present, or fewer of them', any(isPresent('map.b'), hasFewerThan('map', 1)), true],
  ])('has the same conditions in memory and in the database: %s', async (_, condition, isTrue) => {
    const rejected = await table.write([update(await stored(), { changed: true }, condition)]);
    expect(rejected.length === 0).toBe(isTrue);
  });

  it('has the same changes in memory and in the database, also of empty values', async () => {
    const own = await stored();
    const change = async (values: object) => {
      await table.write([update(own, { ...values })]);
      const { pk: _, sk: __, mixed: ___, map: ____, ...changed } = (await table.get(own)) ?? {};
      return changed;
    };
    const initial = { n: initially(5), text: initially('x'), empty: initially('x'), list: initially([9]) };
    expect(await change({ ...initial, none: initially(0) })).toEqual({
      n: 0,
      text: '10',
      empty: '',
      list: [],
      none: 0,
    });
    const added = { n: increased(2), none: increased(1), list: appended(['a', 'b', 'c']), text: undefined };
    expect(await change(added)).toEqual({ n: 2, empty: '', list: ['a', 'b', 'c'], none: 1 });
    expect(await change({ list: withoutFirst(2), n: 1 })).toEqual({ n: 1, empty: '', list: ['c'], none: 1 });
  });

  it('has the same changes of the entries of a map in memory and in the database', async () => {
    const own = await stored();
    const write = (values: object, condition?: Condition) => table.write([update(own, { ...values }, condition)]);
    expect(await write({ 'map.a': undefined, 'map.c': [1], 'map.none': undefined, n: 1 }, isPresent('map.a'))).toEqual(
      [],
    );
    expect(await table.get(own)).toMatchObject({ n: 1, map: { b: 'x', c: [1] } });
    expect(await write({ 'map.b': 'y' }, hasFewerThan('map', 1))).toHaveLength(1);
    expect((await table.get(own))?.map).toEqual({ b: 'x', c: [1] });
    for (const name of ['none.a', 'text.a']) await expect(write({ [name]: 1 })).rejects.toThrow();
  });
});

// The databases differ in these cases, so the in-memory table follows the strictest one.
describe('the table in memory', () => {
  const { table } = newStore();

  it.each(LONE_SURROGATES)('rejects the lone surrogate %j', async (text) => {
    await expect(table.write([put({ pk: 'ANY#1', sk: 'ANY', text })])).rejects.toThrow();
  });

  it('rejects a partition key of more than 2,048 bytes', async () => {
    for (const pk of textsOfBytes(2049)) await expect(table.write([put({ pk, sk: 'ANY' })])).rejects.toThrow();
  });
});
