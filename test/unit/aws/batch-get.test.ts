import { describe, expect, it } from 'vitest';
import { createTable } from '../../../lib/aws/table.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { type Command, runtimeWith } from '../../support/runtime.ts';

const KEYS = ['a', 'b', 'c'].map((pk) => ({ pk, sk: 'x' }));

/** A table whose batches `read` serves. */
const tableWith = (read: (input: Command['input']) => Promise<object>) =>
  createTable(runtimeWith(async ({ name, input }) => (name === 'BatchGet' ? read(input) : {})));

/** A table that reads only one key per request, for `readable` requests. */
function createBusyTable(readable: number) {
  let requests = 0;
  const table = tableWith(async ({ RequestItems }) => {
    const { Keys } = RequestItems.table;
    const read = ++requests <= readable ? 1 : 0;
    return { Responses: { table: Keys.slice(0, read) }, UnprocessedKeys: { table: { Keys: Keys.slice(read) } } };
  });
  return { table, requests: () => requests };
}

describe('a batch with unprocessed keys', () => {
  it('reads the unprocessed keys again', async () => {
    const { table, requests } = createBusyTable(3);
    expect(await table.batchGet(KEYS)).toEqual(KEYS);
    expect(requests()).toBe(3);
  });

  it('fails after a few tries, because time is limited', async () => {
    const { table, requests } = createBusyTable(1);
    await expect(table.batchGet(KEYS)).rejects.toThrow(UnavailableError);
    expect(requests()).toBe(6);
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
