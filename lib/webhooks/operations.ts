import * as v from 'valibot';
import { dataOfType } from '../events/event.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { KIB, listOf, operation, page, WRITERS } from '../http/operation.ts';
import { described, jsonObject, named, oneOf } from '../schema.ts';
import {
  ChangeWebhook,
  CreateWebhook,
  RotateSecret,
  WebhookResource,
  WebhookWithSecret,
  webhookParameter,
} from './webhook.ts';

const webhooks = { function: 'webhooks', callers: WRITERS, maxBodyBytes: 64 * KIB } as const;
const webhook = { ...webhooks, parameters: { id: webhookParameter } } as const;

const TestWebhook = named(
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
    idempotencyKey: true,
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
    idempotencyKey: true,
    secrets: ['secret'],
  }),
  testWebhook: operation({
    ...webhook,
    method: 'POST',
    path: '/v1/webhooks/{id}/test',
    summary: 'Send a sample event to this webhook',
    body: TestWebhook,
    responses: { 202: Accepted },
    publishes: true,
    idempotencyKey: true,
  }),
};
