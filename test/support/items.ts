import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { dynamoDbClient } from '../../infra/local/services/dynamodb.ts';
import type { LocalStack } from '../../infra/local/stack.ts';

/** Writes many items directly, like those of a busy project. */
export async function writeItems(
  { tableName: TableName }: LocalStack,
  databaseEndpoint: string,
  items: readonly Record<string, unknown>[],
): Promise<void> {
  const client = dynamoDbClient(databaseEndpoint);
  const left = [...items];
  const write = async () => {
    for (let item = left.pop(); item; item = left.pop())
      await client.send(new PutItemCommand({ TableName, Item: marshall(item) }));
  };
  await Promise.all([write(), write(), write(), write()]);
  client.destroy();
}
