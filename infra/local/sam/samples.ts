import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord, StreamRecord } from 'aws-lambda';
import { EVENT_TYPES } from '../../../lib/events/types.ts';
import { queueRecord } from '../lambda/queue-poller.ts';
import { streamRecord } from '../lambda/stream-consumer.ts';
import { emailEvent } from '../services/email-events.ts';
import { ACCOUNT, REGION } from '../template.ts';
import type { Invoke } from './functions.ts';
import type { Items } from './items.ts';

export interface SampleOptions {
  invoke: Invoke;
  items: Items;
  /** The endpoint URL of the webhook for containers, and its secret. */
  receiver: { url: string; secret: string };
  now: number;
}

const document = 'org:acme:doc-1';
const change = {
  type: 'document.changed',
  data: {
    document_key: document,
    revision: 2,
    changes: [{ field: 'title', old_value: 'Draft', new_value: 'Final', origin: 'sample' }],
  },
};
const bounced = { recipient: 'ops@example.com', source: '', messageId: '', configurationSet: '' };
/** The minimum lease of a connection. */
const LEASE_SECONDS = 10;

/**
 * Returns a sample event for every function, by its name. Creates the resources of the samples: a project with a key, a webhook,
 * a connection, and an event for every delivery.
 */
export async function createSamples({ invoke, items, receiver, now }: SampleOptions): Promise<Record<string, object>> {
  const CreateProject = { name: 'Acme', email: 'ops@example.com' };
  const { project, admin_key } = await invoke('CreateProject', CreateProject);
  const proxy = (method: string, resource: string, body?: object, parameters?: Record<string, string>) =>
    proxyEvent({ method, resource, body, parameters, projectId: project.id, keyId: admin_key.id, now });

  const Keys = proxy('POST', '/v1/keys', { type: 'live', name: 'Sample' });
  const key = created(await invoke('Keys', Keys));
  const endpoint = { ...receiver, events: EVENT_TYPES };
  const webhook = created(await invoke('Webhooks', proxy('POST', '/v1/webhooks', endpoint)));
  await items.set(webhook.id, 'quickSince', { N: String(now) }); // otherwise the quick lane forwards it
  const Events = proxy('POST', '/v1/events', change);
  const publish = async () => created(await invoke('Events', Events)).id as string;
  const connection = (lease_seconds: number) => {
    const body = { node_id: 'laptop', lease_seconds };
    return proxy('PUT', '/v1/connections/{id}', body, { id: 'laptop-1' });
  };
  created(await invoke('Documents', connection(LEASE_SECONDS)));
  // The lease has expired, so the check finds a lost connection.
  await items.set('CONNECTION', 'expiresAt', { N: String(now - 1) });

  const space = { projectId: project.id, environment: 'live' };
  const delivery = async () =>
    queueEvent(
      { webhookId: webhook.id, eventId: await publish(), ...space, run: 0, attempt: 1, trigger: 'schedule' },
      now,
    );
  const token = { documents: ['org:acme:*'], permissions: ['read'], ttl: 3600 };
  return {
    Authorize: authorizerEvent(proxy('GET', '/v1/webhooks'), key.key),
    CreateProject,
    Projects: { operation: 'show', id: project.id },
    Keys,
    Tokens: proxy('POST', '/v1/tokens', token),
    Project: proxy('GET', '/v1/project'),
    Webhooks: proxy('POST', '/v1/webhooks', { url: 'https://example.com/hook', events: ['document.changed'] }),
    Events,
    Documents: proxy('PUT', '/v1/documents/{key}', { fields: { title: 'Draft' } }, { key: document }),
    Dashboard: proxy('GET', '/dashboard'),
    DeliveryFanOut: streamEvent(await items.find(await publish()), now),
    StatsCount: { ...streamEvent(deliveryItem(webhook.id, now), now), shardId: 'shard-1', state: {} },
    DeliveryDeliver: await delivery(),
    DeliveryDeliverNew: await delivery(),
    DeliveryDeliverSlow: await delivery(),
    SenderEmailEvents: emailEvent('Bounce', { ...bounced, tags: { project: project.id } }, new Date(now)),
    ConnectionsCheck: queueEvent({ connectionId: 'laptop-1', ...space }, now),
  };
}

interface ProxyEventOptions {
  method: string;
  resource: string;
  body: object | undefined;
  parameters: Record<string, string> | undefined;
  projectId: string;
  keyId: string;
  now: number;
}

/**
 * A request with an admin key, as API Gateway passes it to a function (API Gateway Developer Guide, "Input format of a Lambda
 * function").
 */
function proxyEvent({ method, resource, body, parameters, projectId, keyId, now }: ProxyEventOptions) {
  const path = resource.replace(/\{(\w+)\}/, (_, name) => parameters?.[name] ?? '');
  const headers = { ...(body && { 'Content-Type': 'application/json' }), Host: '127.0.0.1:3000' };
  return {
    resource,
    path,
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: parameters ?? null,
    stageVariables: null,
    requestContext: {
      accountId: ACCOUNT,
      apiId: 'local',
      protocol: 'HTTP/1.1',
      httpMethod: method,
      path,
      stage: 'live',
      requestId: '00000000-0000-4000-8000-000000000000',
      requestTimeEpoch: now,
      resourceId: 'local',
      resourcePath: resource,
      identity: { sourceIp: '127.0.0.1', userAgent: 'sam' },
      authorizer: { principalId: keyId, project_id: projectId, key_id: keyId, caller: 'admin' },
    },
    body: body ? JSON.stringify(body) : null,
    isBase64Encoded: false,
  };
}

type ProxyEvent = ReturnType<typeof proxyEvent>;

/** A request before authorization. It has no body. */
function authorizerEvent({ requestContext, body: _, ...event }: ProxyEvent, credential: string) {
  const { authorizer: __, ...context } = requestContext;
  const { httpMethod, path } = event;
  const Authorization = `Bearer ${credential}`;
  return {
    ...event,
    headers: { ...event.headers, Authorization },
    multiValueHeaders: { ...event.multiValueHeaders, Authorization: [Authorization] },
    requestContext: context,
    type: 'REQUEST',
    methodArn: `arn:aws:execute-api:${REGION}:${ACCOUNT}:local/live/${httpMethod}${path}`,
  };
}

function queueEvent(body: object, now: number) {
  const message = { messageId: '1', receiptHandle: '1', body: JSON.stringify(body), group: undefined };
  const received = { ...message, receiveCount: 1, sentAt: now };
  return { Records: [queueRecord(received, `arn:aws:sqs:${REGION}:${ACCOUNT}:queue`)] };
}

const deliveryItem = (webhookId: string, now: number) =>
  marshall({
    pk: `HOOK#${webhookId}#0`,
    sk: 'evt_sample',
    webhookId,
    eventId: 'evt_sample',
    eventType: 'document.changed',
    status: 'succeeded',
    run: 0,
    attempt: 1,
    attempts: [
      { number: 1, trigger: 'schedule', at: now, statusCode: 200, error: null, durationMs: 50, excerpt: null },
    ],
    createdAt: now,
  }) as Record<string, AttributeValue>;

function streamEvent(item: Record<string, AttributeValue>, now: number) {
  const NewImage = item as NonNullable<StreamRecord['NewImage']>;
  const { pk, sk } = NewImage;
  const record: DynamoDBRecord = {
    eventID: '1',
    eventName: 'INSERT',
    eventVersion: '1.1',
    dynamodb: {
      ApproximateCreationDateTime: now / 1000,
      Keys: { pk, sk } as typeof NewImage,
      NewImage,
      SequenceNumber: '1',
      StreamViewType: 'NEW_IMAGE',
    },
  };
  const arn = `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/local/stream/local`;
  return { Records: [streamRecord(record, arn)] };
}

function created({ statusCode, body }: { statusCode: number; body: string }) {
  if (statusCode >= 300) throw new Error(`A sample could not be created: ${body}`);
  return JSON.parse(body);
}
