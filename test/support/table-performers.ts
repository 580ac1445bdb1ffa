import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ListTagsOfResourceCommand,
  PutItemCommand,
  paginateScan,
  ScanCommand,
  TagResourceCommand,
  TransactWriteItemsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { dynamoDbClient } from '../../infra/local/services/dynamodb.ts';
import type { LocalStack } from '../../infra/local/stack.ts';
import { REGION } from '../../infra/local/template.ts';
import { afterFile } from './after-file.ts';
import { databaseEndpoint } from './database.ts';
import type { Performers } from './operator.ts';

const credentials = { accessKeyId: 'operator', secretAccessKey: 'local' };
type Items = Record<string, never>[];
type Named = { TableName: string };

/** The copies of the tables of a database, by name and second. A restore is possible at these times. */
const copies = new Map<string, Items>();
const keyOf = (TableName: string, atMs: number) => `${TableName} ${Math.floor(atMs / 1000)}`;

async function itemsOf(TableName: string): Promise<Items> {
  const database = dynamoDbClient(databaseEndpoint());
  const items: Items = [];
  for await (const { Items = [] } of paginateScan({ client: database }, { TableName, ConsistentRead: true }))
    items.push(...(Items as Items));
  database.destroy();
  return items;
}

/** Copies the table of a stack, which later can be restored to this time. Commands have no virtual time. */
export async function copyTable({ tableName }: LocalStack): Promise<number> {
  const at = Math.floor(Date.now() / 1000) * 1000;
  copies.set(keyOf(tableName, at), await itemsOf(tableName));
  return at;
}

/** Runs the DynamoDB operations of the AWS CLI on the database of a local stack. A restore needs `copyTable`. */
export function tablePerformers(stack: LocalStack): Performers {
  // The operator has already validated the requests.
  const database = new DynamoDBClient({ endpoint: databaseEndpoint(), region: REGION, credentials });
  afterFile(() => database.destroy());
  const describe = async (input: Named) => database.send(new DescribeTableCommand(input));
  return {
    'dynamodb DescribeTable': (input) => describe(input as Named),
    // A restore keeps keys and indexes, and no other settings.
    async 'dynamodb RestoreTableToPointInTime'({ SourceTableName, TargetTableName, RestoreDateTime }) {
      const source = String(SourceTableName);
      const TableName = String(TargetTableName);
      const items = copies.get(keyOf(source, Number(RestoreDateTime) * 1000));
      if (!items) throw new Error(`InvalidRestoreTimeException: ${RestoreDateTime}`);
      const { Table } = await describe({ TableName: source });
      const indexes = Table?.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
        IndexName,
        KeySchema,
        Projection,
      }));
      await database.send(
        new CreateTableCommand({
          TableName,
          KeySchema: Table?.KeySchema,
          AttributeDefinitions: Table?.AttributeDefinitions,
          GlobalSecondaryIndexes: indexes,
          BillingMode: 'PAY_PER_REQUEST',
        }),
      );
      for (const Item of items) await database.send(new PutItemCommand({ TableName, Item }));
      return undefined;
    },
    // The database encrypts nothing.
    'dynamodb UpdateTable': ({ SSESpecification, ...input }) =>
      SSESpecification ? describe(input as Named) : database.send(new UpdateTableCommand(input as never)),
    'dynamodb UpdateTimeToLive': (input) => database.send(new UpdateTimeToLiveCommand(input as never)),
    'dynamodb ListTagsOfResource': (input) => database.send(new ListTagsOfResourceCommand(input as never)),
    'dynamodb TagResource': (input) => database.send(new TagResourceCommand(input as never)),
    'dynamodb Scan': (input) => database.send(new ScanCommand(input as never)),
    async 'dynamodb TransactWriteItems'(input) {
      await database.send(new TransactWriteItemsCommand(input as never));
      stack.writes.give();
    },
  };
}
