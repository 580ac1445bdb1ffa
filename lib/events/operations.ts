import * as v from 'valibot';
import { DeliveryResource } from '../deliveries/record.ts';
import { DocumentKey } from '../documents/document.ts';
import { listOf, MAX_BODY_BYTES, operation, page, WRITERS } from '../http/operation.ts';
import { described, jsonObject, oneOf, resource, timestampInput } from '../schema.ts';
import { EventResource, eventParameter, PublishEvent, PublishEvents } from './event.ts';
import { EVENT_TYPES } from './types.ts';

const event = { function: 'events', callers: WRITERS } as const;

const EventTypeDescription = resource('EventTypeDescription', {
  name: described(v.picklist(EVENT_TYPES), 'The `type` of the events.'),
  meaning: described(v.string(), 'The change that the event reports.'),
  schema: described(jsonObject, 'The JSON Schema (2020-12) of the events, as they are delivered.'),
  sample: described(EventResource, 'An event of this type.'),
});

export const eventOperations = {
  publishEvent: operation({
    ...event,
    method: 'POST',
    path: '/v1/events',
    summary: 'Publish an event to the webhooks subscribed to its type',
    body: PublishEvent,
    maxBodyBytes: MAX_BODY_BYTES,
    responses: { 202: EventResource },
    publishes: true,
    idempotencyKey: true,
  }),
  publishEvents: operation({
    ...event,
    method: 'POST',
    path: '/v1/events/batch',
    summary: 'Publish up to 100 events in one transaction',
    body: PublishEvents,
    maxBodyBytes: MAX_BODY_BYTES,
    responses: { 202: v.object({ data: v.array(EventResource) }) },
    publishes: true,
    idempotencyKey: true,
  }),
  listEvents: operation({
    ...event,
    method: 'GET',
    path: '/v1/events',
    summary: 'List the events of the last 30 days, newest first, also within a batch',
    query: {
      ...page,
      type: v.optional(described(oneOf(EVENT_TYPES), 'Only events of this type.')),
      document_key: v.optional(described(DocumentKey, 'Only events of this document.')),
      since: v.optional(described(timestampInput, 'Only events at this time or later.')),
      until: v.optional(described(timestampInput, 'Only events before this time.')),
    },
    responses: { 200: listOf(EventResource) },
  }),
  listEventTypes: operation({
    function: 'dashboard',
    callers: 'anyone',
    method: 'GET',
    path: '/v1/event-types',
    summary: 'List the event types, each with its JSON Schema and a sample',
    responses: { 200: v.object({ data: v.array(EventTypeDescription) }) },
  }),
  getEvent: operation({
    ...event,
    method: 'GET',
    path: '/v1/events/{id}',
    parameters: { id: eventParameter },
    summary: 'Read an event',
    responses: { 200: EventResource },
  }),
  listEventDeliveries: operation({
    function: 'webhooks',
    callers: WRITERS,
    method: 'GET',
    path: '/v1/events/{id}/deliveries',
    parameters: { id: eventParameter },
    summary: 'List the deliveries of an event, one for each webhook',
    query: page,
    responses: { 200: listOf(DeliveryResource) },
  }),
};
