import { type AttributeValue, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { dynamoDbClient } from '../services/dynamodb.ts';

type Item = Record<string, AttributeValue>;

/** Access to the items of a small table. */
export interface Items {
  /** Returns the item with this id or sort key. Throws if there is no such item. */
  find(id: string): Promise<Item>;
  /** Sets an attribute of the item. */
  set(id: string, name: string, value: AttributeValue): Promise<void>;
}

export function tableItems(endpoint: string, TableName: string): Items {
  const client = dynamoDbClient(endpoint);
  const find = async (id: string): Promise<Item> => {
    const { Items = [] } = await client.send(new ScanCommand({ TableName }));
    const item = Items.find((item) => item['id']?.S === id || item['sk']?.S === id);
    if (!item) throw new Error(`The table has no item ${id}`);
    return item;
  };
  return {
    find,
    async set(id, name, value) {
      const { pk, sk } = await find(id);
      const set = {
        UpdateExpression: 'SET #name = :value',
        ExpressionAttributeNames: { '#name': name },
        ExpressionAttributeValues: { ':value': value },
      };
      await client.send(new UpdateItemCommand({ TableName, Key: { pk, sk } as Item, ...set }));
    },
  };
}
