import * as v from 'valibot';
import { operationsOf } from '../http/operation.ts';
import { described, jsonObject, resource } from '../schema.ts';
import { EventResource } from './event.ts';
import { eventTypeRoutes } from './routes.ts';
import { EVENT_TYPES } from './types.ts';

const EventTypeDescription = resource('EventTypeDescription', {
  name: described(v.picklist(EVENT_TYPES), 'The `type` of the events.'),
  meaning: described(v.string(), 'The change that the event reports.'),
  schema: described(jsonObject, 'The JSON Schema (2020-12) of the events, as they are delivered.'),
  sample: described(EventResource, 'An event of this type.'),
});

/** A file that the synthesis creates. */
export const eventTypeOperations = operationsOf(eventTypeRoutes, {
  listEventTypes: {
    summary: 'List the event types, each with its JSON Schema and a sample',
    responses: { 200: v.object({ data: v.array(EventTypeDescription) }) },
  },
});
