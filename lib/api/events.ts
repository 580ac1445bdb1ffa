import * as v from 'valibot';
import { EventResource, PublishEvent, PublishEvents } from '../events/events.ts';
import { operation, WRITERS } from './operation.ts';
import { eventParameter } from './parameters.ts';

const event = { function: 'events', callers: WRITERS } as const;

export const eventOperations = {
  publishEvent: operation({
    ...event,
    method: 'POST',
    path: '/v1/events',
    summary: 'Publish an event to the webhooks subscribed to its type',
    body: PublishEvent,
    responses: { 202: EventResource },
    creates: true,
  }),
  publishEvents: operation({
    ...event,
    method: 'POST',
    path: '/v1/events/batch',
    summary: 'Publish up to 100 events: all or none',
    body: PublishEvents,
    responses: { 202: v.strictObject({ data: v.array(EventResource) }) },
    creates: true,
  }),
  getEvent: operation({
    ...event,
    method: 'GET',
    path: '/v1/events/{id}',
    parameters: { id: eventParameter },
    summary: 'Read an event',
    responses: { 200: EventResource },
  }),
};
