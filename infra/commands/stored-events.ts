import { type AttributeValue, DynamoDBClient, paginateScan, type ScanCommandInput } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { visible } from '../../lib/printable.ts';
import { UserError } from '../user-error.ts';
import type { Shell } from './command.ts';
import { type Deployment, invokeFunction } from './deployment.ts';

export type Attributes = Record<string, AttributeValue>;

/** Reads the items that pass a filter. A page has at most 1 MB. */
export async function* scan(
  { client }: Shell,
  { tableName: TableName }: Deployment,
  filter: Pick<ScanCommandInput, 'FilterExpression' | 'ExpressionAttributeNames'>,
  values: Record<string, unknown>,
): AsyncGenerator<Attributes[]> {
  const input = { TableName, ConsistentRead: true, ...filter, ExpressionAttributeValues: marshall(values) };
  for await (const { Items = [] } of paginateScan({ client: client(DynamoDBClient) }, input)) yield Items;
}

/** Passes the stored events since a time to the fan-out again, and returns their number. Reads the whole table. */
export async function fanOutStored(shell: Shell, service: Deployment, sinceMs: number): Promise<number> {
  const filter = {
    FilterExpression: 'begins_with(pk, :event) AND #at >= :since',
    ExpressionAttributeNames: { '#at': 'at' },
  };
  let [count, failed] = [0, 0];
  for await (const events of scan(shell, service, filter, { ':event': 'EVENT#', ':since': sinceMs })) {
    failed += await fanOutAgain(shell, service, events);
    count += events.length;
  }
  requireHandled(service, failed);
  return count;
}

/**
 * Invokes the fan-out with the insertions of the events of a page, and returns the number of events that it did not handle. They
 * do not stop the others. The insertions stay below the 6 MB of an invocation.
 */
export async function fanOutAgain(
  shell: Shell,
  { fanOut }: Deployment,
  events: readonly Attributes[],
): Promise<number> {
  let failed = 0;
  for (const some of parts(events, BATCH)) {
    const Records = some.map((NewImage, i) => {
      const dynamodb = { SequenceNumber: String(i), Keys: { pk: NewImage.pk, sk: NewImage.sk }, NewImage };
      return { eventName: 'INSERT', eventSource: 'aws:dynamodb', dynamodb };
    });
    try {
      const response = await invokeFunction(shell, fanOut, { Records, isReplay: true });
      failed += (response as { batchItemFailures: unknown[] }).batchItemFailures.length;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      shell.say(visible(error.message));
      failed += some.length;
    }
  }
  return failed;
}

/** Throws `UserError` if the fan-out did not handle some events. */
export function requireHandled({ fanOut }: Deployment, failed: number): void {
  if (failed > 0)
    throw new UserError(`${fanOut} did not handle ${failed} of the events. See its log, and repeat the command.`);
}

/** The maximum number of events in an invocation, as in a batch of the stream. */
const BATCH = 1000;

/** Splits a list into parts that have at most this number of elements. */
export const parts = <Value>(list: readonly Value[], size: number): Value[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, i * size + size));
