import { randomUUID } from 'node:crypto';
import { isNew, put } from '../../../lib/aws/expressions.ts';
import { createTable, type Table } from '../../../lib/aws/table.ts';
import { RecordedDynamoDb } from '../../support/memory-table.ts';
import { type Command, runtimeWith } from '../../support/runtime.ts';

const ITEMS_OF_SHORT = 2;

/** A new table with several behaviors. */
export function newStore() {
  const db = new RecordedDynamoDb();
  const execute = async (command: Command) => db.execute(command);
  const tableOver = (send: typeof execute): Table => createTable(runtimeWith(send));
  return {
    table: tableOver(execute),
    /** Loses the response to the first try of every write, so that the SDK retries it. */
    lossy: tableOver(async (command) => {
      const { name, input } = command;
      if (!['Put', 'Update', 'TransactWrite'].includes(name)) return execute(command);
      // The SDK sends one token with all tries of a transaction.
      const sent = { name, input: name === 'TransactWrite' ? { ClientRequestToken: randomUUID(), ...input } : input };
      await execute(sent).catch(() => {});
      return execute(sent);
    }),
    /** A query reads at most two items, as if it reached the limit of 1 MB. */
    short: tableOver(({ name, input }) => {
      const Limit = Math.min(ITEMS_OF_SHORT, input.Limit ?? ITEMS_OF_SHORT);
      return execute({ name, input: name === 'Query' ? { ...input, Limit } : input });
    }),
    /** A new client that checks the layout of the table, as a new execution environment does. */
    checked: () => tableOver(execute),
  };
}

/** Creates a write for the transaction of another one, and reports whether it was performed. */
export function companion(table: Table) {
  const key = { pk: `ALSO#${randomUUID()}`, sk: 'ALSO' };
  return { also: [put({ ...key }, isNew)], isWritten: async () => (await table.get(key)) !== undefined };
}
