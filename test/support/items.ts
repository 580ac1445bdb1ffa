import { type AttributeValue, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { dynamoDbClient } from '../../infra/local/services/table.ts';

export type Items = Record<string, AttributeValue>[];

/** Returns all items of a table. */
export async function itemsOf(endpoint: string, TableName: string): Promise<Items> {
  const client = dynamoDbClient(endpoint);
  const items: Items = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
    items.push(...Items);
  client.destroy();
  return items;
}

/** Writes many items directly, like those of a busy project. */
export async function writeItems(endpoint: string, TableName: string, items: Readonly<Items>): Promise<void> {
  const client = dynamoDbClient(endpoint);
  const left = [...items];
  const write = async () => {
    for (let Item = left.pop(); Item; Item = left.pop()) await client.send(new PutItemCommand({ TableName, Item }));
  };
  await Promise.all([write(), write(), write(), write()]);
  client.destroy();
}
