import { EVENT_DATA } from '../../events/data.ts';
import { EVENT_MEANINGS, EVENT_TYPES } from '../../events/types.ts';
import { EXAMPLE_EVENTS } from './examples.ts';
import { eventSchema, jsonSchemaOf, simplified } from './schemas.ts';

/** The response of `GET /v1/event-types`: each type with the JSON Schema of its events, which needs no other document. */
export function eventTypes() {
  const data = EVENT_TYPES.map((name) => ({
    name,
    meaning: EVENT_MEANINGS[name],
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...simplified(eventSchema(name, jsonSchemaOf(EVENT_DATA[name]))),
    },
    sample: EXAMPLE_EVENTS[name],
  }));
  return { data };
}
