import { randomUUID } from 'node:crypto';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import * as documentClient from '@aws-sdk/lib-dynamodb';
import { dynamoDbClient } from '../../../infra/local/services/dynamodb.ts';
import { type Backend, connect } from '../../../lib/aws/backend.ts';
import { exists, isNew, put } from '../../../lib/aws/expressions.ts';
import { createTable, type Table } from '../../../lib/aws/table.ts';
import type { Write } from '../../../lib/aws/writes.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { TABLE } from '../../support/dynamodb-table.ts';
import { RecordedDynamoDb } from '../../support/memory-table.ts';
import { runtimeWith, VARIABLES } from '../../support/runtime.ts';

type Send = (name: string, input: Record<string, unknown>) => Promise<object>;

/** One table with several behaviors. */
export interface Store {
  name: string;
  table: Table;
  /** Loses the response to the first try of every write, so that the SDK retries it. */
  lossy: Table;
  /** A query reads at most two items, as if it reached the limit of 1 MB. */
  short: Table;
  /** A new client that checks the layout of the table, as a new execution environment does. */
  checked(): Table;
}

const ITEMS_OF_SHORT = 2;

function storeOf(name: string, tableName: string, send: Send): Store {
  const variables = { ...VARIABLES, TABLE_NAME: tableName };
  const tableOver = (changed: Send): Table =>
    createTable(runtimeWith((command) => changed(command.name, command.input), { variables }));
  return {
    name,
    table: tableOver(send),
    lossy: tableOver(async (command, input) => {
      if (!['Put', 'Update', 'TransactWrite'].includes(command)) return send(command, input);
      // The SDK sends one token with all tries of a transaction.
      const sent = command === 'TransactWrite' ? { ClientRequestToken: randomUUID(), ...input } : input;
      await send(command, sent).catch(() => {});
      return send(command, sent);
    }),
    short: tableOver((command, input) => {
      const Limit = Math.min(ITEMS_OF_SHORT, Number(input.Limit ?? ITEMS_OF_SHORT));
      return send(command, command === 'Query' ? { ...input, Limit } : input);
    }),
    checked: () => tableOver(send),
  };
}

async function database(): Promise<Store> {
  const client = dynamoDbClient(databaseEndpoint());
  const TableName = randomUUID();
  await client.send(new CreateTableCommand({ ...TABLE, TableName }));
  const documents = documentClient.DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });
  const commands = documentClient as unknown as Record<string, new (input: object) => never>;
  return storeOf('the database', TableName, async (name, input) => {
    const Command = commands[`${name}Command`];
    if (!Command) throw new Error(`Unknown command ${name}`);
    return documents.send(new Command(input));
  });
}

function simulation(): Store {
  const memory = new RecordedDynamoDb();
  return storeOf('the simulation', 'table', async (name, input) => memory.execute({ name, input }));
}

export const memoryStore = simulation();

/** The real table and the one of the simulation. The contract tests hold for both. */
export const stores: Store[] = [await database(), memoryStore];

/** Creates a write for the transaction of another one, and reports whether it was performed. */
export function companion(table: Table, { isRefused = false } = {}) {
  const key = { pk: `ALSO#${randomUUID()}`, sk: 'ALSO' };
  const part: Write = put({ ...key }, isRefused ? exists : isNew);
  return { also: [part], isWritten: async () => (await table.get(key)) !== undefined };
}

/** What code with more than a table runs on. Calls to other services succeed. */
export const backendOf = (table: Table): Backend => ({ ...connect(runtimeWith(async () => ({}))), table });
