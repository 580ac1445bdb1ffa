import { describe, expect, it } from 'vitest';
import { put } from '../../../lib/aws/expressions.ts';
import { wholePartition } from '../../../lib/aws/queries.ts';
import type { Runtime } from '../../../lib/aws/runtime.ts';
import { createTable } from '../../../lib/aws/table.ts';
import { deliveryLog } from '../../../lib/deliveries/log-store.ts';
import { LAYOUT_KEY } from '../../../lib/deployment.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { eventStore } from '../../../lib/events/store.ts';
import { newId, newSpace, newStoredEvent, now } from '../../memory/contracts/builders.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import { type Command, runtimeWith } from '../../support/runtime.ts';

const KEYS = ['a', 'b', 'c'].map((pk) => ({ pk, sk: 'x' }));

/** A table whose batches `read` serves. */
const tableWith = (read: (input: Command['input']) => Promise<object>, rest: Partial<Runtime> = {}) =>
  createTable(runtimeWith(async ({ name, input }) => (name === 'BatchGet' ? read(input) : {}), rest));

/** A table that reads only one key per request, for `readable` requests. */
function createBusyTable(readable: number) {
  const waits: number[] = [];
  const readOne = async ({ RequestItems }: Command['input']) => {
    const { Keys } = RequestItems.table;
    const read = readable-- > 0 ? 1 : 0;
    return { Responses: { table: Keys.slice(0, read) }, UnprocessedKeys: { table: { Keys: Keys.slice(read) } } };
  };
  const wait = async (ms: number) => void waits.push(ms);
  const table = tableWith(readOne, { wait, random: () => Uint8Array.of(128) });
  return { table, waits };
}

describe('a batch with unprocessed keys', () => {
  it('reads the unprocessed keys again, and fails after a few ever longer waits, because time is limited', async () => {
    expect(await createBusyTable(3).table.batchGet(KEYS)).toEqual(KEYS);
    const { table, waits } = createBusyTable(1);
    await expect(table.batchGet(KEYS)).rejects.toThrow(UnavailableError);
    expect(waits).toEqual([50, 100, 200, 400, 400]);
  });

  it('fails as a whole when DynamoDB reads no key', async () => {
    const throttled = Object.assign(new Error(), { name: 'ProvisionedThroughputExceededException' });
    const table = tableWith(() => Promise.reject(throttled));
    await expect(table.batchGetEach(KEYS)).rejects.toThrow(UnavailableError);
  });

  it('fails only for the throttled keys when DynamoDB throttles their next request as a whole', async () => {
    const throttled = Object.assign(new Error(), { name: 'ProvisionedThroughputExceededException' });
    let requests = 0;
    const table = tableWith(async () => {
      if (++requests > 1) throw throttled;
      return { Responses: { table: KEYS.slice(0, 2) }, UnprocessedKeys: { table: { Keys: KEYS.slice(2) } } };
    });
    const reads = await table.batchGetEach(KEYS);
    expect(reads).toEqual([KEYS[0], KEYS[1], expect.any(UnavailableError)]);
  });
});

/** A table in memory, and the queries that it received. A query reads a number of items, as if it reached the limit of 1 MB. */
function createCounted(itemsOfQuery = 1000) {
  const queries: Command['input'][] = [];
  const { table } = memoryBackend({}, ({ name, input }) => {
    if (name !== 'Query') return undefined;
    input.Limit = Math.min(itemsOfQuery, input.Limit ?? itemsOfQuery);
    queries.push(input);
    return undefined;
  });
  return { table, queries };
}

const window = { since: 0, until: now, stuckBefore: now };

type Counted = ReturnType<typeof createCounted>['table'];
const pageOf = (filter: object) => (table: Counted) => eventStore(table).list(newSpace(), { limit: 50, ...filter });
const logOf = (filter: object) => (table: Counted) => deliveryLog(table).list(newId('whk'), { limit: 50, ...filter });

it.each<[string, number, (table: Counted) => Promise<unknown>, select?: 'COUNT']>([
  ['a page of events', 6, pageOf({})],
  ['events with a prefix', 6, pageOf({ prefix: 'a' })],
  ['events of a type', 1, pageOf({ types: ['document.deleted'] })],
  ['a page of deliveries', 16, logOf({})],
  ['failed deliveries', 16, logOf({ status: 'failed' })],
  ['delivered deliveries', 16, logOf({ status: 'succeeded' })],
  ['the count for a recovery', 80, (table) => deliveryLog(table).countRecoverable(newId('whk'), window), 'COUNT'],
])('needs for %s %d eventually consistent queries', async (_, most, list, select) => {
  const { table, queries } = createCounted();
  await list(table);
  const kinds = queries.map(({ ConsistentRead, Select }) => [ConsistentRead, Select]);
  expect(kinds).toEqual(Array(most).fill([false, select]));
});

it.each([
  ['events with a prefix', pageOf({ prefix: 'a' })],
  ['events of a document and type', pageOf({ documentKey: 'a', types: ['document.deleted'] })],
  ['deliveries of a type', logOf({ types: ['document.deleted'] })],
])('reads four times the items of a page of %s, because most can have another one', async (_, list) => {
  const { table, queries } = createCounted();
  await list(table);
  expect(queries.reduce((sum, { Limit }) => sum + Limit, 0)).toBeGreaterThanOrEqual(4 * 50);
});

it('reads the events of a page at half the price, and those that are too new for it again', async () => {
  const reads: unknown[] = [];
  const { table } = memoryBackend({}, ({ name, input }) => {
    if (name !== 'BatchGet') return undefined;
    const { ConsistentRead, Keys } = input.RequestItems.table;
    reads.push([ConsistentRead, Keys.length]);
    return ConsistentRead ? undefined : { Responses: { table: [] } };
  });
  const event = newStoredEvent();
  await eventStore(table).publish([event], []);
  const { events } = await eventStore(table).list(event, { limit: 50 });
  expect(events.map(({ id }) => id)).toEqual([event.id]);
  expect(reads).toEqual([
    [false, 1],
    [true, 1],
  ]);
});

it('needs one strongly consistent query for the events of a document', async () => {
  const { table, queries } = createCounted();
  await pageOf({ documentKey: 'a' })(table);
  expect(queries).toMatchObject([{ ConsistentRead: true, Limit: 50 }]);
  await pageOf({ documentKey: 'a', types: ['document.deleted'] })(table);
  expect(queries).toHaveLength(2);
  await pageOf({ documentKey: 'a:b', prefix: 'b' })(table);
  expect(queries).toHaveLength(2);
});

it('a query of several pages reads at most as many as it may', async () => {
  const { table, queries } = createCounted(20);
  const pk = 'AUDIT#prj_1';
  await table.write(Array.from({ length: 70 }, (_, i) => put({ pk, sk: `aud_${i}` })));
  const page = await table.queryPages(wholePartition(pk), 3);
  expect([page.count, page.items.length, page.next !== undefined, queries.length]).toEqual([60, 60, true, 3]);
});

it('a table receives at most 16 concurrent requests', async () => {
  let [inFlight, most] = [0, 0];
  const send = async () => {
    most = Math.max(most, ++inFlight);
    await new Promise((resolve) => setImmediate(resolve));
    inFlight--;
    return {};
  };
  const table = createTable(runtimeWith(send));
  const keys = Array.from({ length: 100 }, (_, i) => ({ pk: String(i), sk: 'x' }));
  await table.removeAll(keys); // after the check of the layout
  await Promise.all(keys.map(table.get));
  expect(most).toBe(16);
});

it('the check of the layout is one read of a new client, in parallel with its first read', async () => {
  const reads: Command['input'][] = [];
  const table = createTable(
    runtimeWith(async ({ input }) => {
      reads.push(input.Key);
      return {};
    }),
  );
  const key = { pk: 'a', sk: 'b' };
  const first = table.get(key);
  await Promise.resolve();
  expect(reads).toEqual([key, LAYOUT_KEY]);
  await first;
  await table.get(key);
  expect(reads).toEqual([key, LAYOUT_KEY, key]);
});
