import * as v from 'valibot';
import { DocumentKey, KeyPrefix } from '../documents/document.ts';
import { listOf, MAX_BODY_BYTES, operationsOf, pageQuery } from '../http/operation.ts';
import { alternatives, described, oneOf, timestampInput } from '../schema.ts';
import { EventResource, eventParameter, PublishEvent, PublishEvents } from './event.ts';
import { eventRoutes } from './routes.ts';
import { EVENT_TYPES } from './types.ts';

export const eventOperations = operationsOf(eventRoutes, {
  publishEvent: {
    summary: 'Publish an event to the webhooks subscribed to its type',
    body: PublishEvent,
    maxBodyBytes: MAX_BODY_BYTES,
    responses: { 202: EventResource },
    publishes: true,
    idempotencyKey: true,
  },
  publishEvents: {
    summary: 'Publish up to 100 events in one transaction',
    body: PublishEvents,
    maxBodyBytes: MAX_BODY_BYTES,
    responses: { 202: v.object({ data: v.array(EventResource) }) },
    publishes: true,
    idempotencyKey: true,
  },
  listEvents: {
    summary: 'List the events of the last 30 days, newest first, also within a batch',
    query: {
      ...pageQuery,
      type: v.optional(
        described(alternatives(EVENT_TYPES), 'Only events of this type. Repeat it for events of several types.'),
      ),
      document_key: v.optional(described(DocumentKey, 'Only events of this document.')),
      prefix: v.optional(
        described(
          KeyPrefix,
          'Only events of the document with this key, and of documents whose keys start with this key and `:`. If few events match, a page can have fewer events than `limit`.',
        ),
      ),
      since: v.optional(described(timestampInput, 'Only events at this time or later.')),
      until: v.optional(described(timestampInput, 'Only events before this time.')),
      include: v.optional(
        described(
          oneOf(['outcome']),
          '`outcome` adds `outcome` to each event. With more than 10 webhooks, a page can have fewer events than `limit`.',
        ),
      ),
    },
    responses: { 200: listOf(EventResource) },
  },
  getEvent: {
    parameters: { id: eventParameter },
    summary: 'Read an event',
    responses: { 200: EventResource },
  },
});
