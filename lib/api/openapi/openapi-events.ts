import { RETRY_DELAYS_SECONDS } from '../../deliveries/retry-schedule.ts';
import { EVENT_DATA } from '../../events/data.ts';
import { EVENT_MEANINGS, EVENT_TYPES, type EventType } from '../../events/types.ts';
import { EXAMPLE_EVENTS } from './examples.ts';
import { eventSchema, type JsonSchema, jsonSchemaOf, refTo, schemaNameOf, simplified } from './schemas.ts';

const OPTIONAL_HEADERS = ['X-Service-Signature-Previous', 'X-Service-Test'];

/** The request of a delivery and its possible responses. */
export function delivered(type: EventType) {
  const header = (name: string, description: string, schema: JsonSchema = { type: 'string' }) => ({
    name,
    in: 'header',
    required: !OPTIONAL_HEADERS.includes(name),
    description,
    schema,
  });
  return {
    operationId: `deliver${schemaNameOf(type)}`,
    summary: EVENT_MEANINGS[type],
    description: `Any 2xx within 5 seconds is success. Everything else is retried ${RETRY_DELAYS_SECONDS.map(duration).join(', ')} after the previous failure; the sixth failure disables the webhook. An event may arrive more than once, and events arrive in no particular order. A receiver that keeps a copy of a document compares \`revision\` for each field.`,
    security: [],
    parameters: [
      header(
        'X-Service-Signature',
        '`sha256=` and the hexadecimal HMAC-SHA256 of the raw body, keyed with the secret.',
        {
          type: 'string',
          pattern: '^sha256=[0-9a-f]{64}$',
        },
      ),
      header('X-Service-Signature-Previous', 'The same with the previous secret, for 24 hours after a rotation.'),
      header('X-Service-Event-Id', 'The id of the event, the same for every attempt.'),
      header('X-Service-Event-Type', 'The type of the event.', { type: 'string', const: type }),
      header('X-Service-Attempt', 'Number of the attempt.', { type: 'integer', minimum: 1, maximum: 6 }),
      header('X-Service-Test', '`true`: a sample event.'),
      header('webhook-id', 'The id of the event (Standard Webhooks).'),
      header('webhook-timestamp', 'When this attempt was signed, in seconds since 1970 (Standard Webhooks).'),
      header(
        'webhook-signature',
        '`v1,` and the signature (Standard Webhooks), with one more for each previous secret after a rotation.',
      ),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: refTo(schemaNameOf(type)) }, example: EXAMPLE_EVENTS[type] } },
    },
    responses: {
      '2XX': { description: 'Delivered. Respond first, and do slow work asynchronously.' },
      default: { description: 'Failed. The delivery is retried.' },
    },
  };
}

const duration = (seconds: number): string => (seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`);

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
