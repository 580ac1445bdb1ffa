import { randomBytes, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayRequestAuthorizerEvent, SQSRecord } from 'aws-lambda';
import { itemKey } from '../../../lib/aws/items.ts';
import { carrying, type DeliveryMessage, firstMessage } from '../../../lib/deliveries/messages.ts';
import { newEvent } from '../../../lib/events/event.ts';
import { parseApiKey } from '../../../lib/keys/key-format.ts';
import { changed } from '../../support/changed.ts';
import { bareClient } from './bare-client.ts';
import { median } from './median.ts';

/** The bundles of two functions and their inputs. */
export interface Calls {
  authorizer: string;
  deliver: string;
  key: string;
  token: string;
  projectId: string;
  webhookId: string;
  url: string;
}

export type Call =
  | 'one read by the SDK'
  | 'authorizer, key'
  | 'authorizer, token'
  | 'bare client'
  | 'bare client, and a write by the SDK'
  | 'deliver, in batches of 10';

const REPEATS = 9;
/** Warm-up calls, which compile code and open connections. */
const WARM_UP = 4;
/** The calls of each kind in one repetition. */
const CALLS = 500;
/** The maximum number of messages in an invocation. */
const BATCH = 10;

// Sends the CPU milliseconds of each call to its parent process.
process.once('message', async (calls: Calls) => {
  process.send?.(await measure(calls));
  process.disconnect();
});

async function measure({ authorizer, deliver, key, token, projectId, webhookId, url }: Calls) {
  const require = createRequire(import.meta.url);
  const { handler: authorize } = require(authorizer);
  const { handler: deliverBatch } = require(deliver);
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient());
  const read = new GetCommand({
    TableName: process.env.TABLE_NAME,
    Key: itemKey.key(parseApiKey(key)?.id ?? ''),
    ConsistentRead: true,
  });
  const postAll = bareClient(url, BATCH);
  const bodiesOf = (messages: DeliveryMessage[]) => messages.map(({ event }) => event?.body ?? '');
  const record = ({ eventId }: DeliveryMessage) =>
    new PutCommand({
      TableName: process.env.TABLE_NAME,
      Item: { ...itemKey.delivery('bench', eventId), at: Date.now(), statusCode: 204, durationMs: 50, url },
    });
  const cases: Record<Call, () => Promise<unknown>> = {
    'one read by the SDK': () => times(CALLS, () => documents.send(read)),
    'authorizer, key': () => times(CALLS, () => authorize(authorizerEvent(key))),
    'authorizer, token': () => times(CALLS, () => authorize(authorizerEvent(token))),
    'bare client': () => times(CALLS / BATCH, () => postAll(bodiesOf(newMessages(BATCH)))),
    'bare client, and a write by the SDK': () =>
      times(CALLS / BATCH, async () => {
        const messages = newMessages(BATCH);
        await postAll(bodiesOf(messages));
        await Promise.all(messages.map((message) => documents.send(record(message))));
      }),
    'deliver, in batches of 10': () =>
      times(CALLS / BATCH, async () => {
        const Records = newMessages(BATCH).map((message) => ({
          messageId: randomUUID(),
          body: JSON.stringify(message),
        }));
        const { batchItemFailures } = await deliverBatch({ Records: Records as SQSRecord[] }, {});
        if (batchItemFailures.length > 0) throw new Error('Some deliveries failed');
      }),
  };
  const taken = new Map<string, number[]>(Object.keys(cases).map((name) => [name, []]));
  for (let i = 0; i < WARM_UP + REPEATS; i++) {
    for (const [name, run] of Object.entries(cases)) {
      const before = process.cpuUsage();
      await run();
      const { user, system } = process.cpuUsage(before);
      if (i >= WARM_UP) taken.get(name)?.push((user + system) / 1000 / CALLS);
    }
  }
  return Object.fromEntries([...taken].map(([name, all]) => [name, median(all)]));

  function newMessages(count: number) {
    return Array.from({ length: count }, (_, i) => {
      const [type, at, space] = ['document.changed', Date.now(), { projectId, environment: 'live' }] as const;
      const { data } = changed({ document_key: `org:acme:doc-${i}` });
      const event = newEvent({ ...space, type, at, data }, randomBytes);
      return carrying(firstMessage(space, webhookId, event.id), event);
    });
  }
}

async function times(count: number, run: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i++) await run();
}

const authorizerEvent = (credential: string) =>
  ({
    methodArn: 'arn:aws:execute-api:us-east-1:000000000000:api/prod/GET/v1/documents',
    httpMethod: 'GET',
    resource: '/v1/documents',
    multiValueHeaders: { Authorization: [`Bearer ${credential}`] },
    requestContext: { requestId: 'bench', identity: { sourceIp: '127.0.0.1' } },
  }) as unknown as APIGatewayRequestAuthorizerEvent;
