import * as v from 'valibot';
import { MAX_PER_SECOND } from '../deliveries/rate-limit.ts';
import { DeliveryResource } from '../deliveries/record.ts';
import { DEFAULT_PER_SECOND } from '../deliveries/recovery.ts';
import { DELIVERY_STATUSES } from '../deliveries/retry-schedule.ts';
import { dataOfType, EventDocumentKey } from '../events/event.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { KIB, listOf, operation, page, WRITERS } from '../http/operation.ts';
import { eventParameter, webhookParameter } from '../http/path-parameters.ts';
import { described, integer, jsonObject, named, oneOf, timestampInput, wholeNumber } from '../schema.ts';
import { ChangeWebhook, CreateWebhook, RotateSecret, WebhookResource, WebhookWithSecret } from './webhook.ts';

const webhooks = { function: 'webhooks', callers: WRITERS, maxBodyBytes: 64 * KIB } as const;
const webhook = { ...webhooks, parameters: { id: webhookParameter } } as const;

export const TestWebhook = named(
  'TestWebhook',
  v.pipe(
    v.strictObject({
      type: v.optional(described(oneOf(EVENT_TYPES), 'The type of the sample event.'), 'document.changed'),
      data: v.optional(
        described(jsonObject, 'Your own data for the event. By default, the service sends sample data.'),
      ),
    }),
    dataOfType(),
  ),
);

const Accepted = v.object({ event_id: described(v.string(), 'The sample event.') });
const since = described(
  timestampInput,
  'Deliveries of events at this time or later. The default window starts at the first failed attempt or pause since the last success, and covers everything if there is none.',
);
const until = described(timestampInput, 'Only deliveries of events before this time. The default is now.');
const Recover = v.strictObject({
  since: v.optional(since),
  until: v.optional(until),
  per_second: v.optional(
    described(
      integer(1, MAX_PER_SECOND),
      `Deliveries per second. The default is ${DEFAULT_PER_SECOND}. A lower \`max_per_second\` of the webhook takes precedence.`,
    ),
  ),
  enable: v.optional(
    described(v.boolean('must be true or false'), '`true` enables the webhook first, if it is disabled.'),
  ),
});
const Recovered = v.object({
  count: described(
    wholeNumber(),
    'The number of deliveries in the recovery. Above 100,000 of one status, it is a lower bound. Deliveries that are `pending` before any attempt are not included. After 24 hours, you can redeliver each of them.',
  ),
});

export const webhookOperations = {
  createWebhook: operation({
    ...webhooks,
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Create a webhook',
    body: CreateWebhook,
    responses: { 201: WebhookWithSecret },
    location: '/v1/webhooks/{id}',
    problems: ['limit_reached'],
    creates: true,
    secrets: ['secret'],
  }),
  listWebhooks: operation({
    ...webhooks,
    method: 'GET',
    path: '/v1/webhooks',
    summary: 'List the webhooks',
    query: page,
    responses: { 200: listOf(WebhookResource) },
  }),
  getWebhook: operation({
    ...webhook,
    method: 'GET',
    path: '/v1/webhooks/{id}',
    summary: 'Read a webhook',
    responses: { 200: WebhookResource },
  }),
  changeWebhook: operation({
    ...webhook,
    method: 'PATCH',
    path: '/v1/webhooks/{id}',
    summary: 'Change, pause or enable a webhook',
    body: ChangeWebhook,
    responses: { 200: WebhookResource },
  }),
  deleteWebhook: operation({
    ...webhook,
    method: 'DELETE',
    path: '/v1/webhooks/{id}',
    summary: 'Delete a webhook',
    responses: { 204: null },
  }),
  rotateSecret: operation({
    ...webhook,
    method: 'POST',
    path: '/v1/webhooks/{id}/rotate-secret',
    summary: 'Rotate the signing secret',
    body: RotateSecret,
    responses: { 200: WebhookWithSecret },
    problems: ['limit_reached'],
    creates: true,
    secrets: ['secret'],
  }),
  testWebhook: operation({
    ...webhook,
    method: 'POST',
    path: '/v1/webhooks/{id}/test',
    summary: 'Send a sample event to this webhook',
    body: TestWebhook,
    responses: { 202: Accepted },
    creates: true,
  }),
  listDeliveries: operation({
    ...webhook,
    method: 'GET',
    path: '/v1/webhooks/{id}/deliveries',
    summary: 'List the deliveries, newest first',
    query: {
      ...page,
      status: v.optional(
        described(
          oneOf(DELIVERY_STATUSES),
          'Only deliveries with this status. A delivery appears after its first attempt. Before that, the deliveries of the event list it as `pending`.',
        ),
      ),
      type: v.optional(described(oneOf(EVENT_TYPES), 'Only deliveries of events of this type.')),
      document_key: v.optional(
        described(EventDocumentKey, 'Only deliveries of events of this document. Test events have no document.'),
      ),
      since: v.optional(described(timestampInput, 'Only deliveries of events at this time or later.')),
      until: v.optional(described(timestampInput, 'Only deliveries of events before this time.')),
    },
    responses: { 200: listOf(DeliveryResource) },
  }),
  getDelivery: operation({
    ...webhook,
    method: 'GET',
    path: '/v1/webhooks/{id}/deliveries/{event_id}',
    parameters: { id: webhookParameter, event_id: eventParameter },
    summary: 'Read a delivery with every attempt',
    responses: { 200: DeliveryResource },
  }),
  redeliver: operation({
    ...webhook,
    method: 'POST',
    path: '/v1/webhooks/{id}/deliveries/{event_id}/redeliver',
    parameters: { id: webhookParameter, event_id: eventParameter },
    summary: 'Redeliver an event with the full retry schedule',
    responses: { 202: DeliveryResource },
    problems: ['conflict'],
    creates: true,
  }),
  countRecovery: operation({
    ...webhook,
    method: 'GET',
    path: '/v1/webhooks/{id}/recover',
    summary: 'Count the deliveries that a recovery would redeliver',
    query: { since: v.optional(since), until: v.optional(until) },
    responses: { 200: Recovered },
  }),
  recover: operation({
    ...webhook,
    method: 'POST',
    path: '/v1/webhooks/{id}/recover',
    summary: 'Recover failed, canceled and skipped deliveries, and optionally enable the webhook',
    body: Recover,
    responses: { 202: Recovered },
    problems: ['conflict'],
    creates: true,
  }),
};
