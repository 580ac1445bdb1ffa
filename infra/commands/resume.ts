import {
  DynamoDBClient,
  type ScanCommandInput,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { itemKey } from '../../lib/aws/items.ts';
import { toDelivery } from '../../lib/deliveries/log-store.ts';
import { type DeliveryMessage, groupOf } from '../../lib/deliveries/messages.ts';
import type { DeliveryRecord } from '../../lib/deliveries/record.ts';
import { UNDER_WAY } from '../../lib/deliveries/retry-schedule.ts';
import type { ConnectionRecord } from '../../lib/documents/connections.ts';
import type { Space } from '../../lib/space.ts';
import { UserError } from '../user-error.ts';
import type { Shell } from './command.ts';
import type { Deployment } from './deployment.ts';
import { type Attributes, fanOutAgain, scan } from './stored-events.ts';

type Clients = Pick<Shell, 'client'>;

/** The maximum number of writes in a transaction, and of messages in a request. */
const WRITES = 100;
const MESSAGES = 10;

/** Splits a list into parts that have at most this number of elements. */
const parts = <Value>(list: readonly Value[], size: number): Value[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, i * size + size));

/**
 * Queues the work that waited when the table was copied, because its messages and schedules are gone or belong to another state
 * of the table. Repeated work is harmless: a recorded attempt is not sent again, and a schedule that still exists stays as it is.
 *
 * - A delivery with a recorded attempt gets the mark that its retry is not queued, and the message of that attempt. The deliver
 *   function then queues the retry for the time when it is due.
 * - A run without an attempt gets its first message.
 * - Events since `sinceMs` pass the fan-out again, because the copied table contains no sign of messages before the first attempt.
 * - Each connection gets a check.
 */
export async function resume(
  shell: Clients,
  service: Deployment,
  sinceMs: number,
): Promise<Record<'deliveries' | 'events' | 'connections', number>> {
  const spaces = new Map<string, Space>();
  const found: DeliveryRecord[] = [];
  const events: Attributes[] = [];
  const connections: ConnectionRecord[] = [];
  for await (const item of scan(shell, { TableName: service.tableName, ...waitingSince(sinceMs) })) {
    const [kind, projectId = '', environment = ''] = String(item.pk?.S).split('#');
    if (kind === 'EVENT') events.push(item);
    else if (kind === 'HOOKS') spaces.set(String(item.sk?.S), { projectId, environment } as Space);
    else if (kind === 'CONNECTION') connections.push(unmarshall(item) as ConnectionRecord);
    else found.push(toDelivery(unmarshall(item)));
  }
  const deliveries = found.filter(({ webhookId, test }) => spaces.has(webhookId) && !test);
  const attempted = deliveries.filter(({ attempt }) => attempt > 0);
  for (const some of parts(attempted, WRITES))
    await markUnqueued(shell.client(DynamoDBClient), service.tableName, some);
  const messages = deliveries.map((delivery) => messageOf(delivery, spaces.get(delivery.webhookId) as Space));
  await send(
    shell,
    service.deliveriesUrl,
    messages.map((message) => ({ message, group: groupOf(message) })),
  );
  const checks = connections.map(({ id, ...space }) => ({
    message: { connectionId: id, projectId: space.projectId, environment: space.environment },
  }));
  await send(shell, service.checksUrl, checks);
  await fanOutAgain(shell, service.fanOut, events);
  return { deliveries: deliveries.length, events: events.length, connections: connections.length };
}

function waitingSince(sinceMs: number): Omit<ScanCommandInput, 'TableName'> {
  const [pending, retrying] = UNDER_WAY;
  return {
    FilterExpression: `begins_with(pk, :hooks) OR begins_with(pk, :connection) OR (begins_with(pk, :event) AND #at >= :since)
      OR (begins_with(pk, :hook) AND #status IN (:pending, :retrying))`,
    ExpressionAttributeNames: { '#at': 'at', '#status': 'status' },
    ExpressionAttributeValues: {
      ':hooks': { S: 'HOOKS#' },
      ':hook': { S: 'HOOK#' },
      ':connection': { S: 'CONNECTION#' },
      ':event': { S: 'EVENT#' },
      ':since': { N: String(sinceMs) },
      ':pending': { S: pending },
      ':retrying': { S: retrying },
    },
  };
}

/** Marks that the retries of recorded attempts are not queued, except for deliveries that have changed since. */
async function markUnqueued(
  database: DynamoDBClient,
  TableName: string,
  deliveries: readonly DeliveryRecord[],
): Promise<void> {
  const TransactItems = deliveries.map(({ webhookId, eventId, run, attempt }) => ({
    Update: {
      TableName,
      Key: marshall(itemKey.delivery(webhookId, eventId)),
      UpdateExpression: 'SET retryPending = :true',
      ConditionExpression: '#run = :run AND #attempt = :attempt AND #status = :retrying',
      ExpressionAttributeNames: { '#run': 'run', '#attempt': 'attempt', '#status': 'status' },
      ExpressionAttributeValues: {
        ':true': { BOOL: true },
        ':run': { N: String(run) },
        ':attempt': { N: String(attempt) },
        ':retrying': { S: 'retrying' },
      },
    },
  }));
  try {
    await database.send(new TransactWriteItemsCommand({ TransactItems }));
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    if (deliveries.length > 1)
      for (const half of parts(deliveries, Math.ceil(deliveries.length / 2)))
        await markUnqueued(database, TableName, half);
  }
}

function messageOf({ webhookId, eventId, run, attempt, attempts }: DeliveryRecord, space: Space): DeliveryMessage {
  const trigger = attempts.at(-1)?.trigger ?? 'schedule';
  return { webhookId, eventId, ...space, run, attempt: Math.max(attempt, 1), trigger };
}

async function send(
  { client }: Clients,
  QueueUrl: string,
  messages: { message: object; group?: string }[],
): Promise<void> {
  const sqs = client(SQSClient);
  for (const some of parts(messages, MESSAGES)) {
    const Entries = some.map(({ message, group }, i) => ({
      Id: String(i),
      MessageBody: JSON.stringify(message),
      ...(group && { MessageGroupId: group }),
    }));
    const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    if (Failed.length > 0)
      throw new UserError(`SQS did not accept all messages. Repeat the command. ${JSON.stringify(Failed)}`);
  }
}
