import { CreateTableCommand, DescribeTableCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { dynamoDbClient } from '../../infra/local/services/table.ts';
import type { LocalStack } from '../../infra/local/stack.ts';
import { afterFile } from './after-file.ts';
import { databaseEndpoint } from './database.ts';
import { type Items, itemsOf, writeItems } from './items.ts';
import type { Performers } from './shell.ts';

/** The copies of the tables of a database, by name and second. A restore is possible at these times. */
const copies = new Map<string, Items>();
const keyOf = (TableName: string, atMs: number) => `${TableName} ${Math.floor(atMs / 1000)}`;

/** Copies the table of a stack, which later can be restored to this time. Commands have no virtual time. */
export async function copyTable({ tableName }: LocalStack): Promise<number> {
  const at = Math.floor(Date.now() / 1000) * 1000;
  copies.set(keyOf(tableName, at), await itemsOf(databaseEndpoint(), tableName));
  return at;
}

/** Performs the operations of DynamoDB on the database of a local stack. A restore needs `copyTable`. */
export function tablePerformers(stack: LocalStack): Performers {
  const database = dynamoDbClient(databaseEndpoint());
  afterFile(() => database.destroy());
  const pass: Performers[string] = (_, command) => database.send(command);
  return {
    DescribeTable: pass,
    // A restore keeps keys and indexes, and no other settings.
    async RestoreTableToPointInTime({ SourceTableName, TargetTableName: TableName, RestoreDateTime }) {
      const items = copies.get(keyOf(SourceTableName, RestoreDateTime.getTime()));
      if (!items) throw new Error(`InvalidRestoreTimeException: ${RestoreDateTime}`);
      const { Table } = await database.send(new DescribeTableCommand({ TableName: SourceTableName }));
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
      await writeItems(databaseEndpoint(), TableName, items);
    },
    UpdateTable: pass,
    UpdateTimeToLive: pass,
    UpdateContinuousBackups: () => {}, // local databases have no backups
    ListTagsOfResource: pass,
    TagResource: pass,
    Scan: pass,
    GetItem: pass,
    async UpdateItem(input) {
      await database.send(new UpdateItemCommand(input));
      stack.writes.give();
    },
  };
}
