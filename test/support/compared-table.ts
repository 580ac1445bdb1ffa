import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { CreateTableCommand, DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import * as documentClient from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Command } from '../../infra/local/memory/requests.ts';
import { schemaOf } from '../../infra/local/memory/schema.ts';
import { MemoryDynamoDb } from '../../infra/local/memory/table.ts';
import { dynamoDbClient } from '../../infra/local/services/table.ts';
import { databaseEndpoint } from './database.ts';
import { TABLE } from './dynamodb-table.ts';

// biome-ignore lint/suspicious/noExplicitAny: inputs and outputs of many shapes
type Members = Record<string, any>;

/** A table in memory and an equal one in the database of this worker. Both perform each command. */
export async function comparedTable() {
  const client = dynamoDbClient(databaseEndpoint());
  const documents = documentClient.DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });
  const commands = documentClient as unknown as Record<string, new (input: object) => never>;
  const memory = new MemoryDynamoDb(schemaOf(TABLE));
  const TableName = randomUUID();
  let difference: Error | undefined;
  await client.send(new CreateTableCommand({ ...TABLE, TableName }));

  /** Returns or throws the result in memory. Throws another error if the database has a different result. */
  async function perform({ name, input }: Command): Promise<object> {
    const own = withTable(input, TableName);
    const Command = commands[`${name}Command`];
    if (!Command) throw new Error(`Unknown command ${name}`);
    const outcome = (async () => memory.execute({ name, input: own }))();
    const results = [resultOf(outcome), resultOf(documents.send(new Command(own)))] as const;
    const [inMemory, inDatabase] = comparable({ name, input }, ...(await Promise.all(results)));
    if (isDeepStrictEqual(inMemory, inDatabase)) return outcome;
    const [request, expected, actual] = [input, inDatabase, inMemory].map((each) =>
      JSON.stringify(each).slice(0, 2000),
    );
    difference ??= new Error(`${name} ${request} has the result ${expected} in the database, and in memory ${actual}`);
    throw difference;
  }

  return {
    perform,
    /** Compares all items and indexes. */
    async compareItems(): Promise<void> {
      const indexes = TABLE.GlobalSecondaryIndexes.map((index) => index.IndexName);
      for (const IndexName of [undefined, ...indexes]) await perform({ name: 'Scan', input: { IndexName } });
    },
    /** Throws the first difference, also if a test expected an error. */
    async drop(): Promise<void> {
      await client.send(new DeleteTableCommand({ TableName }));
      client.destroy();
      if (difference) throw difference;
    },
  };
}

function withTable(input: Members, TableName: string): Members {
  const { RequestItems, TransactItems } = input;
  const ofTable = (item: Members) =>
    Object.fromEntries(Object.entries(item).map(([kind, write]) => [kind, { ...write, TableName }]));
  if (TransactItems) return { ...input, TransactItems: TransactItems.map(ofTable) };
  if (RequestItems) return { ...input, RequestItems: { [TableName]: Object.values(RequestItems)[0] } };
  return { ...input, TableName };
}

/** The errors that depend on stored items. The databases describe the others differently. */
const CONDITIONS_FAILED = ['ConditionalCheckFailedException', 'TransactionCanceledException'];

async function resultOf(outcome: Promise<object>): Promise<Members> {
  try {
    const { $metadata: _, ConsumedCapacity: __, UnprocessedKeys: ___, ...result } = (await outcome) as Members;
    return JSON.parse(JSON.stringify(result)); // without undefined members
  } catch (error) {
    const { name, Item, CancellationReasons } = error as Members;
    if (!CONDITIONS_FAILED.includes(name)) return { rejected: true };
    const plain = ({ Code, Item }: Members) => ({ Code, Item: Item && unmarshall(Item) });
    return { name, Item: Item && unmarshall(Item), reasons: CancellationReasons?.map(plain) };
  }
}

const idOf = ({ pk, sk }: Members): string => `${pk} ${sk}`;
const sorted = (items: readonly Members[] = []) => [...items].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));

/** The members of two results that DynamoDB defines. */
function comparable({ name, input }: Command, inMemory: Members, inDatabase: Members): unknown[] {
  const results = [inMemory, inDatabase];
  if (results.some(({ rejected }) => rejected)) return results;
  if (name === 'BatchGet') return results.map(({ Responses }) => sorted(Object.values(Responses as Members).flat()));
  if (name === 'Scan') {
    // Each database has its own order of partitions, and so its own positions.
    if (input.ExclusiveStartKey || results.some(({ LastEvaluatedKey }) => LastEvaluatedKey)) return [];
    return results.map(({ Items, ...rest }) => [rest, sorted(Items)]);
  }
  if (!inMemory.LastEvaluatedKey || inMemory.ScannedCount === input.Limit) return results;
  // The page has reached 1 MB, which the table in memory measures less exactly.
  const length = Math.min(...results.map(({ Items }) => Items.length));
  return results.map(({ Items }) => Items.slice(0, length));
}
