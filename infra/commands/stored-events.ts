import { type AttributeValue, DynamoDBClient, paginateScan, type ScanCommandInput } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { UserError } from '../user-error.ts';
import type { Shell } from './command.ts';
import { type Deployment, invokeFunction } from './deployment.ts';

export type Attributes = Record<string, AttributeValue>;
type Clients = Pick<Shell, 'client'>;

/** Below the 6 MB of an invocation, because the JSON of the items contains the JSON of the events. */
const BATCH_BYTES = 2 ** 21;

export async function* scan({ client }: Clients, input: ScanCommandInput): AsyncGenerator<Attributes> {
  const pages = paginateScan({ client: client(DynamoDBClient) }, { ...input, ConsistentRead: true });
  for await (const { Items = [] } of pages) yield* Items;
}

/** Passes the stored events of a period to the fan-out again, and returns their number. Reads the whole table. */
export async function fanOutStored(
  shell: Clients,
  { tableName: TableName, fanOut }: Pick<Deployment, 'tableName' | 'fanOut'>,
  sinceMs: number,
  untilMs: number,
): Promise<number> {
  const events = scan(shell, {
    TableName,
    FilterExpression: 'begins_with(pk, :event) AND #at BETWEEN :since AND :until',
    ExpressionAttributeNames: { '#at': 'at' },
    ExpressionAttributeValues: {
      ':event': { S: 'EVENT#' },
      ':since': { N: String(sinceMs) },
      ':until': { N: String(untilMs) },
    },
  });
  return fanOutAgain(shell, fanOut, events);
}

/** Invokes the fan-out with the insertions of these events, and returns their number. */
export async function fanOutAgain(
  { client }: Clients,
  functionName: string,
  events: Iterable<Attributes> | AsyncIterable<Attributes>,
): Promise<number> {
  const lambda = client(LambdaClient);
  let count = 0;
  let batch: object[] = [];
  let bytes = 0;
  const flush = async () => {
    if (batch.length === 0) return;
    const response = await invokeFunction(lambda, functionName, JSON.stringify({ Records: batch, isReplay: true }));
    const { batchItemFailures } = response as { batchItemFailures: unknown[] };
    if (batchItemFailures.length > 0)
      throw new UserError(`${functionName} did not handle all events. Repeat the command.`);
    batch = [];
    bytes = 0;
  };
  for await (const NewImage of events) {
    const { pk, sk } = NewImage;
    count++;
    const dynamodb = { SequenceNumber: String(count), Keys: { pk, sk }, NewImage };
    batch.push({ eventName: 'INSERT', eventSource: 'aws:dynamodb', dynamodb });
    bytes += JSON.stringify(NewImage).length;
    if (bytes > BATCH_BYTES || batch.length === 1000) await flush();
  }
  await flush();
  return count;
}
