import { describe, expect, it } from 'vitest';
import { createTable, type TableOptions } from '../../../lib/aws/dynamodb/table.ts';
import { UnavailableError } from '../../../lib/errors.ts';

const KEYS = ['a', 'b', 'c'].map((pk) => ({ pk, sk: 'x' }));

/** A table that reads only one key per request, for `readable` requests. */
function createBusyTable(readable: number) {
  let requests = 0;
  const send = async ({ input }: { input: { RequestItems: { table: { Keys: { pk: string }[] } } } }) => {
    const { Keys } = input.RequestItems.table;
    const read = ++requests <= readable ? 1 : 0;
    return { Responses: { table: Keys.slice(0, read) }, UnprocessedKeys: { table: { Keys: Keys.slice(read) } } };
  };
  const documents = { send } as unknown as NonNullable<TableOptions['documents']>;
  return { table: createTable('table', { documents, pause: async () => {} }), requests: () => requests };
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
});
