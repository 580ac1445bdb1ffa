import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { CreateTableCommand, DeleteTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as documentClient from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type Command, DynamoDbError } from '../../infra/local/memory/requests.ts';
import { schemaOf } from '../../infra/local/memory/schema.ts';
import { MemoryDynamoDb } from '../../infra/local/memory/table.ts';
import { dynamoDbClient } from '../../infra/local/services/dynamodb.ts';
import { databaseEndpoint } from './database.ts';
import { TABLE } from './dynamodb-table.ts';

/*
 * Proves that the table in memory behaves like the database. It records what tests do with tables in memory, repeats it after
 * their file on the database of this worker, and compares every result. So a test needs only the table in memory.
 */

/** Members whose value does not change the kind of a request. */
const DATA = ['Key', 'Keys', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey', 'ClientRequestToken', 'Limit'];
const WRITES = ['Put', 'Update', 'Delete', 'TransactWrite'];
/** Tables on which a worker repeats histories at the same time. */
const CONCURRENT_TABLES = 4;

type History = Command[];
// biome-ignore lint/suspicious/noExplicitAny: inputs and outputs of many shapes
type Members = Record<string, any>;

const known = new Set<string>();
/** Histories with a kind of request and result that no earlier history of this worker had, and the number of requests up to it. */
const wanted = new Map<History, number>();

/** Records a request that a table in memory accepted, and its result or error. */
export function recordRequest(history: History, command: Command, result: object): void {
  const kind = JSON.stringify([command, kindOf(result)], (name, value) => (DATA.includes(name) ? undefined : value));
  const isNew = !known.has(kind);
  known.add(kind);
  // Other requests leave the table unchanged.
  if (isNew || (WRITES.includes(command.name) && !(result instanceof DynamoDbError))) history.push(command);
  if (isNew) wanted.set(history, history.length);
}

function kindOf({ name, CancellationReasons, Item, Attributes, Count, LastEvaluatedKey }: Members): unknown[] {
  const codes = CancellationReasons?.map(({ Code, Item }: Members) => [Code, Item !== undefined]);
  return [
    name,
    codes,
    ...[Item, Attributes, LastEvaluatedKey].map((each) => each !== undefined),
    Math.min(Count ?? 0, 2),
  ];
}

/** Repeats the recorded histories, and throws if the database behaves differently from the table in memory. */
export async function replayRecorded(): Promise<void> {
  if (wanted.size === 0) return;
  const histories = [...wanted].map(([history, length]) => history.slice(0, length));
  wanted.clear();
  const client = dynamoDbClient(databaseEndpoint());
  const next = async () => {
    for (let history = histories.pop(); history; history = histories.pop()) await replay(history, client);
  };
  await Promise.all(Array.from({ length: CONCURRENT_TABLES }, next)).finally(() => client.destroy());
}

async function replay(history: History, client: DynamoDBClient): Promise<void> {
  const TableName = randomUUID();
  await client.send(new CreateTableCommand({ ...TABLE, TableName }));
  const documents = documentClient.DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });
  const commands = documentClient as unknown as Record<string, new (input: object) => never>;
  const memory = new MemoryDynamoDb(schemaOf(TABLE));

  const sameResult = async ({ name, input }: Command) => {
    const Command = commands[`${name}Command`];
    if (!Command) throw new Error(`Unknown command ${name}`);
    const inMemory = await resultOf(async () => memory.execute({ name, input }));
    const inDatabase = await resultOf(() => documents.send(new Command(input)));
    const [expected, actual] = comparable({ name, input }, inDatabase, inMemory);
    if (isDeepStrictEqual(expected, actual)) return;
    const texts = [input, expected, actual].map((each) => JSON.stringify(each).slice(0, 2000));
    throw new Error(
      `${name} has another result in memory:\n${texts[0]}\nin the database:\n${texts[1]}\nin memory:\n${texts[2]}`,
    );
  };

  const tokens = new Map<string, string>();
  for (const { name, input } of history) {
    const { ClientRequestToken: token } = input;
    // The database must not know the token of a transaction from another history.
    if (token !== undefined) tokens.set(token, tokens.get(token) ?? randomUUID());
    const ClientRequestToken = tokens.get(token);
    await sameResult({ name, input: { ...withTable(input, TableName), ...(token && { ClientRequestToken }) } });
  }
  for (const IndexName of [undefined, ...TABLE.GlobalSecondaryIndexes.map((index) => index.IndexName)])
    await sameResult({ name: 'Scan', input: { TableName, IndexName } });
  await client.send(new DeleteTableCommand({ TableName }));
}

function withTable(input: Members, TableName: string): Members {
  const { RequestItems, TransactItems } = input;
  const ofTable = (item: Members) =>
    Object.fromEntries(Object.entries(item).map(([kind, write]) => [kind, { ...write, TableName }]));
  if (TransactItems) return { ...input, TransactItems: TransactItems.map(ofTable) };
  if (RequestItems) return { ...input, RequestItems: { [TableName]: Object.values(RequestItems)[0] } };
  return { ...input, TableName };
}

async function resultOf(act: () => Promise<object>): Promise<Members> {
  try {
    const { $metadata: _, ConsumedCapacity: __, UnprocessedKeys: ___, ...result } = (await act()) as Members;
    return JSON.parse(JSON.stringify(result)); // without undefined members
  } catch (error) {
    const { name, message, Item, CancellationReasons } = error as Members;
    const plain = ({ Code, Item }: Members) => ({ Code, Item: Item && unmarshall(Item) });
    const isKnown = ['ConditionalCheckFailedException', 'TransactionCanceledException'].includes(name);
    return {
      name: isKnown ? name : `${name}: ${message}`,
      Item: Item && unmarshall(Item),
      reasons: CancellationReasons?.map(plain),
    };
  }
}

const idOf = ({ pk, sk }: Members): string => `${pk} ${sk}`;
const sorted = (items: readonly Members[]) => [...items].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));

/** The members of two results that DynamoDB defines. */
function comparable({ name, input }: Command, ...results: [Members, Members]): unknown[] {
  if (name === 'BatchGet')
    return results.map(({ Responses, ...rest }) => [
      rest,
      Responses && sorted(Object.values(Responses as Members).flat()),
    ]);
  if (name === 'Scan') {
    // Each database has its own order of partitions, and so its own positions.
    if (input.ExclusiveStartKey || results.some(({ LastEvaluatedKey }) => LastEvaluatedKey)) return [];
    return results.map(({ Items, ...rest }) => [rest, Items && sorted(Items)]);
  }
  const [, { LastEvaluatedKey, ScannedCount }] = results;
  if (!LastEvaluatedKey || ScannedCount === input.Limit) return results;
  // The page has reached 1 MB, which the table in memory measures less exactly.
  const length = Math.min(...results.map(({ Items }) => Items.length));
  return results.map(({ Items }) => Items.slice(0, length));
}
