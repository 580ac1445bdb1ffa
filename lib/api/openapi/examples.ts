import type * as v from 'valibot';
import { DeliveryResource } from '../../deliveries/record.ts';
import { DocumentResource } from '../../documents/document.ts';
import { sampleData } from '../../events/data.ts';
import { EventResource } from '../../events/event.ts';
import { EVENT_TYPES, type EventType } from '../../events/types.ts';
import { listOf } from '../../http/operation.ts';
import { WebhookResource, WebhookWithSecret } from '../../webhooks/webhook.ts';
import { type OperationId, operations } from '../operations.ts';
import { AT, accessExamples, accessSchemas, at, type Example, exampleList } from './access-examples.ts';
import { document, documentExamples } from './document-examples.ts';
import { EXAMPLE_IDS } from './example-ids.ts';

export const EXAMPLE_REQUEST_ID = '3f0b6c1e-6a5d-4d8e-9a55-0d1c2b3a4f5e';

const webhook = {
  id: EXAMPLE_IDS.webhook,
  url: 'https://example.com/webhooks',
  events: ['document.changed', 'document.deleted'],
  documents: ['org:acme:*'],
  headers: {},
  description: 'Search index',
  max_per_second: null,
  status: 'enabled',
  environment: 'live',
  secret_hint: 'Yw4=',
  created_at: at(0),
  updated_at: at(0),
  disabled_at: null,
  disabled_reason: null,
  failing_since: null,
  undelivered: 0,
  undelivered_paused: 0,
  retrying: 0,
};
const secret = 'whsec_…';

const delivery = {
  webhook_id: EXAMPLE_IDS.webhook,
  event_id: EXAMPLE_IDS.event,
  event_type: 'document.changed',
  document_key: EXAMPLE_IDS.document,
  url: 'https://example.com/webhooks',
  test: false,
  status: 'retrying',
  reason: null,
  attempts: [
    {
      number: 1,
      trigger: 'schedule',
      at: at(1),
      requests: 1,
      url: 'https://example.com/webhooks',
      status_code: 503,
      error: 'status_not_2xx',
      error_reason: null,
      duration_ms: 84,
      request_headers: {
        'Content-Type': 'application/json',
        'X-Service-Attempt': '1',
        'X-Service-Signature': 'sha256=9f2c…',
        Authorization: '***',
      },
      response_headers: { 'Content-Type': 'text/plain' },
      response_excerpt: 'Service Unavailable',
    },
  ],
  next_attempt_at: at(61),
  last_attempt_at: at(1),
  created_at: at(1),
};

/** A delivery without the content of its requests and responses, as in lists. */
const entry = {
  ...delivery,
  attempts: delivery.attempts.map((attempt) => ({
    ...attempt,
    url: null,
    request_headers: null,
    response_headers: null,
    response_excerpt: null,
  })),
};

/** The schema of each event type, as published and delivered. */
export const EXAMPLE_EVENTS = Object.fromEntries(
  EVENT_TYPES.map((type) => [type, { id: EXAMPLE_IDS.event, type, timestamp: at(0), data: sampleData(type, AT) }]),
) as { [Type in EventType]: { id: string; type: Type; timestamp: string; data: object } };
const { id: _id, timestamp: _timestamp, ...published } = EXAMPLE_EVENTS['document.changed'];

/** The example of each schema of responses, and of a list of it. */
const OF_SCHEMAS = new Map<unknown, unknown>(
  [
    ...accessSchemas,
    [WebhookResource, webhook] as const,
    [WebhookWithSecret, { ...webhook, secret }] as const,
    [DeliveryResource, delivery] as const,
    [EventResource, EXAMPLE_EVENTS['document.changed']] as const,
    [DocumentResource, document] as const,
  ].flatMap(([schema, example]): [v.GenericSchema, unknown][] => [
    [schema, example],
    [listOf(schema), exampleList(example)],
  ]),
);

/** The examples of bodies, and of responses that show the effect of the operation. */
const OF_OPERATIONS: Readonly<Partial<Record<OperationId, Example>>> = {
  ...accessExamples,
  createWebhook: {
    body: { url: webhook.url, events: webhook.events, description: webhook.description },
  },
  changeWebhook: {
    body: { status: 'disabled' },
    response: { ...webhook, status: 'disabled', updated_at: at(60), disabled_at: at(60), disabled_reason: 'paused' },
  },
  rotateSecret: { body: {}, response: { ...webhook, updated_at: at(60), secret } },
  testWebhook: { body: { type: 'document.changed' }, response: { event_id: EXAMPLE_IDS.event } },
  listDeliveries: { response: exampleList(entry) },
  redeliver: { response: { ...entry, next_attempt_at: at(7200) } },
  getRecovery: {
    response: {
      count: 2,
      recovery: {
        recovery_id: EXAMPLE_IDS.recovery,
        started_at: at(7200),
        ended_at: at(7211),
        since: at(0),
        until: at(7200),
        sent: 12,
        delivered: 10,
        failed: 1,
      },
    },
  },
  recover: { body: { enable: true }, response: { recovery_id: EXAMPLE_IDS.recovery, count: 12 } },
  getStats: {
    response: exampleList({
      at: at(0),
      webhook_id: EXAMPLE_IDS.webhook,
      type: 'document.changed',
      delivered: 1204,
      attempts_failed: 9,
      failed: 0,
      skipped: 0,
      canceled: 0,
      latency_ms: { p50: 75, p95: 200, p99: 500, histogram: null },
    }),
  },
  publishEvent: { body: published },
  publishEvents: {
    body: { events: [published] },
    response: { data: [EXAMPLE_EVENTS['document.changed']] },
  },
  listEventDeliveries: { response: exampleList(entry) },
  ...documentExamples,
};

export const EXAMPLES = Object.fromEntries(
  Object.entries(operations).map(([id, { responses }]) => [
    id,
    { response: OF_SCHEMAS.get(Object.values(responses)[0]), ...OF_OPERATIONS[id as OperationId] },
  ]),
) as Readonly<Record<OperationId, Example>>;
