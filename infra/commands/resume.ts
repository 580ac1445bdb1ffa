import { ConditionalCheckFailedException, DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { itemKey } from '../../lib/aws/items.ts';
import { toDelivery } from '../../lib/deliveries/log-store.ts';
import { firstMessage, groupOf, type QueueMessage } from '../../lib/deliveries/messages.ts';
import type { DeliveryRecord } from '../../lib/deliveries/record.ts';
import { pageMessage, type RecoveryRecord } from '../../lib/deliveries/recovery-record.ts';
import { UNDER_WAY } from '../../lib/deliveries/retry-schedule.ts';
import type { ItemKind } from '../../lib/deployment.ts';
import type { CheckMessage, ConnectionRecord } from '../../lib/documents/connections.ts';
import type { EngineCheck, EngineRecord } from '../../lib/documents/engines.ts';
import type { Space } from '../../lib/space.ts';
import { UserError } from '../user-error.ts';
import type { Shell } from './command.ts';
import type { Deployment } from './deployment.ts';
import { fanOutAgain, parts, requireHandled, scan } from './stored-events.ts';

/** Concurrent writes. */
const WRITES = 50;
/** The maximum number of messages in a request. */
const MESSAGES = 10;

/**
 * Queues the work that waited when the table was copied, because its messages and schedules are gone or belong to another state
 * of the table. Repeated work is harmless: a recorded attempt is not sent again, and a schedule that still exists stays as it is.
 *
 * - A delivery with a recorded attempt gets the mark that its retry is not queued, and the message of that attempt. The deliver
 *   function then queues the retry for the time when it is due.
 * - A run without an attempt gets its first message.
 * - Events since `sinceMs` pass the fan-out again, because the copied table contains no sign of messages before the first attempt.
 * - Each connection, and each lease of an engine, gets a check.
 * - Each recovery that had not ended gets the message of its next page.
 */
export async function resume(shell: Shell, service: Deployment, sinceMs: number) {
  const spaces = new Map<string, Space>();
  const found: DeliveryRecord[] = [];
  const running: (RecoveryRecord & { webhookId: string })[] = [];
  let events = 0;
  let connections = 0;
  let failed = 0;
  for await (const page of scan(shell, service, WAITING, { ...WAITING_VALUES, ':since': sinceMs })) {
    const itemsOf = (kind: ItemKind) => page.filter(({ pk }) => pk?.S?.startsWith(`${kind}#`));
    for (const { pk, sk } of itemsOf('HOOKS')) {
      const [, projectId = '', environment = ''] = String(pk?.S).split('#');
      spaces.set(String(sk?.S), { projectId, environment } as Space);
    }
    found.push(...itemsOf('HOOK').map((item) => toDelivery(unmarshall(item))));
    for (const item of itemsOf('RECOVERY')) {
      const [, webhookId = ''] = String(item.pk?.S).split('#');
      running.push({ ...(unmarshall(item) as RecoveryRecord), webhookId });
    }
    const ofConnections = itemsOf('CONNECTION').map((item) => {
      const { id, projectId, environment } = unmarshall(item) as ConnectionRecord;
      return { connectionId: id, projectId, environment };
    });
    const ofEngines = itemsOf('ENGINE').map((item) => {
      const { id, session, projectId, environment } = unmarshall(item) as EngineRecord;
      return { engineId: id, session, projectId, environment };
    });
    const checks = [...ofConnections, ...ofEngines];
    await send(shell, service.checksUrl, checks);
    connections += checks.length;
    failed += await fanOutAgain(shell, service, itemsOf('EVENT'));
    events += itemsOf('EVENT').length;
  }
  const deliveries = found.filter(({ webhookId, test }) => spaces.has(webhookId) && !test);
  const attempted = deliveries.filter(({ attempt }) => attempt > 0);
  for (const some of parts(attempted, WRITES))
    await Promise.all(some.map((delivery) => markUnqueued(shell, service.tableName, delivery)));
  const messages = deliveries.map(({ webhookId, eventId, run, recovery, attempt, attempts }) => {
    const trigger = attempts.at(-1)?.trigger ?? 'schedule';
    const first = firstMessage(spaces.get(webhookId) as Space, webhookId, eventId, { run, trigger, recovery });
    return { ...first, attempt: Math.max(attempt, 1) };
  });
  const pages = running.flatMap(({ webhookId, ...recovery }) => {
    const space = spaces.get(webhookId);
    return space ? [pageMessage({ ...space, id: webhookId }, recovery)] : [];
  });
  await send(shell, service.deliveriesUrl, [...messages, ...pages]);
  requireHandled(service, failed);
  return { deliveries: deliveries.length, recoveries: pages.length, events, connections };
}

/** Webhooks, connections, leases of engines, deliveries under way, recoveries without an end, and events since a time. */
const WAITING = {
  FilterExpression: `begins_with(pk, :hooks) OR begins_with(pk, :connection)
    OR (begins_with(pk, :engine) AND attribute_exists(checkAt)) OR (begins_with(pk, :event) AND #at >= :since)
    OR (begins_with(pk, :hook) AND #status IN (:pending, :retrying))
    OR (begins_with(pk, :recovery) AND attribute_not_exists(endedAt))`,
  ExpressionAttributeNames: { '#at': 'at', '#status': 'status' },
};
const WAITING_VALUES = {
  ':hooks': 'HOOKS#',
  ':hook': 'HOOK#',
  ':recovery': 'RECOVERY#',
  ':connection': 'CONNECTION#',
  ':engine': 'ENGINE#',
  ':event': 'EVENT#',
  ':pending': UNDER_WAY[0],
  ':retrying': UNDER_WAY[1],
};

/** Marks that the retry of a recorded attempt is not queued, unless the delivery has changed since. */
async function markUnqueued(
  { client }: Shell,
  TableName: string,
  { webhookId, eventId, run, attempt }: DeliveryRecord,
): Promise<void> {
  const update = new UpdateItemCommand({
    TableName,
    Key: marshall(itemKey.delivery(webhookId, eventId)),
    UpdateExpression: 'SET retryPending = :true',
    ConditionExpression: '#run = :run AND #attempt = :attempt AND #status = :retrying',
    ExpressionAttributeNames: { '#run': 'run', '#attempt': 'attempt', '#status': 'status' },
    ExpressionAttributeValues: marshall({ ':true': true, ':run': run, ':attempt': attempt, ':retrying': 'retrying' }),
  });
  await client(DynamoDBClient)
    .send(update)
    .catch((error: Error) => {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    });
}

async function send(
  { client }: Shell,
  QueueUrl: string,
  messages: readonly (QueueMessage | CheckMessage | EngineCheck)[],
): Promise<void> {
  for (const some of parts(messages, MESSAGES)) {
    const Entries = some.map((message, i) => ({
      Id: String(i),
      MessageBody: JSON.stringify(message),
      ...(!('connectionId' in message || 'engineId' in message) && { MessageGroupId: groupOf(message) }),
    }));
    const { Failed = [] } = await client(SQSClient).send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    if (Failed.length > 0)
      throw new UserError(`SQS did not accept all messages. Repeat the command. ${JSON.stringify(Failed)}`);
  }
}
