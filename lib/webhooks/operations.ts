import * as v from 'valibot';
import { dataOfType } from '../events/event.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { KIB, listOf, operationsOf, pageQuery } from '../http/operation.ts';
import { optional } from '../optional.ts';
import { described, jsonObject, named, oneOf } from '../schema.ts';
import { webhookRoutes } from './routes.ts';
import { RotateSecret } from './signing.ts';
import { ChangeWebhook, CreateWebhook, WebhookResource, WebhookWithSecret, webhookParameter } from './webhook.ts';

const webhooks = { maxBodyBytes: 64 * KIB } as const;
const webhook = { ...webhooks, parameters: { id: webhookParameter } } as const;

const TestWebhook = named(
  'TestWebhook',
  v.pipe(
    v.strictObject({
      type: v.nullish(described(oneOf(EVENT_TYPES), 'The type of the sample event.'), 'document.changed'),
      data: optional(described(jsonObject, 'Your own data for the event. By default, the service sends sample data.')),
    }),
    dataOfType(),
  ),
);

const Accepted = v.object({ event_id: described(v.string(), 'The sample event.') });
export const webhookOperations = operationsOf(webhookRoutes, {
  createWebhook: {
    ...webhooks,
    summary: 'Create a webhook',
    body: CreateWebhook,
    responses: { 201: WebhookWithSecret },
    location: '/v1/webhooks/{id}',
    problems: ['limit_reached'],
    idempotencyKey: true,
    secrets: ['secret'],
  },
  listWebhooks: {
    ...webhooks,
    summary: 'List the webhooks',
    query: pageQuery,
    responses: { 200: listOf(WebhookResource) },
  },
  getWebhook: {
    ...webhook,
    summary: 'Read a webhook',
    responses: { 200: WebhookResource },
  },
  changeWebhook: {
    ...webhook,
    summary: 'Change, pause or enable a webhook',
    body: ChangeWebhook,
    responses: { 200: WebhookResource },
  },
  deleteWebhook: {
    ...webhook,
    summary: 'Delete a webhook',
    responses: { 204: null },
  },
  rotateSecret: {
    ...webhook,
    summary: 'Rotate the signing secret',
    body: RotateSecret,
    responses: { 200: WebhookWithSecret },
    problems: ['limit_reached', 'conflict'],
    idempotencyKey: true,
    secrets: ['secret'],
  },
  testWebhook: {
    ...webhook,
    summary: 'Send a sample event to this webhook',
    body: TestWebhook,
    responses: { 202: Accepted },
    publishes: true,
    idempotencyKey: true,
  },
});
