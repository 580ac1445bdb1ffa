import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { dynamoDbClient } from '../../infra/local/services/dynamodb.ts';
import type { LocalStack } from '../../infra/local/stack.ts';

/** Writes many items directly, like those of a busy project. */
export async function writeItems(
  { template }: LocalStack,
  databaseEndpoint: string,
  items: readonly Record<string, unknown>[],
): Promise<void> {
  const client = dynamoDbClient(databaseEndpoint);
  const name = template.ref(template.ofType('AWS::DynamoDB::Table')[0]?.id ?? '');
  const batches = Array.from({ length: Math.ceil(items.length / 25) }, (_, i) => items.slice(i * 25, i * 25 + 25));
  const write = async () => {
    for (let batch = batches.pop(); batch; batch = batches.pop()) {
      const requests = batch.map((item) => ({ PutRequest: { Item: marshall(item) } }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { [name]: requests } }));
    }
  };
  await Promise.all([write(), write(), write(), write()]);
  client.destroy();
}
