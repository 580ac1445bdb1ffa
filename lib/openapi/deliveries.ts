import { RETRY_DELAYS_SECONDS } from '../delivery/schedule.ts';
import { EVENT_MEANINGS, type EventType } from '../events/types.ts';
import { EXAMPLE_EVENTS } from './examples.ts';
import { type JsonSchema, refTo, schemaNameOf } from './schemas.ts';

/** What a receiver gets (interface §5.1). */
export function delivered(type: EventType) {
  const required = (name: string, description: string, schema: JsonSchema = { type: 'string' }) => ({
    name,
    in: 'header',
    required: !name.endsWith('-Previous') && name !== 'X-Service-Test',
    description,
    schema,
  });
  return {
    operationId: `deliver${schemaNameOf(type)}`,
    summary: EVENT_MEANINGS[type],
    description: `Any 2xx within 5 seconds is success. Everything else is tried again ${RETRY_DELAYS_SECONDS.map(duration).join(', ')} after the failure before; the sixth failure disables the webhook. An event may come twice, and events come in no particular order.`,
    security: [],
    parameters: [
      required('X-Service-Signature', '`sha256=` and the hexadecimal HMAC-SHA256 of the raw body under the secret.', {
        type: 'string',
        pattern: '^sha256=[0-9a-f]{64}$',
      }),
      required('X-Service-Signature-Previous', 'The same under the old secret, for 24 hours after a rotation.'),
      required('X-Service-Event-Id', 'The id of the event: the same at every attempt.'),
      required('X-Service-Event-Type', 'The type of the event.', { const: type }),
      required('X-Service-Attempt', 'Counts the attempts.', { type: 'integer', minimum: 1, maximum: 6 }),
      required('X-Service-Test', '`true`: a sample event.'),
      required('webhook-id', 'As Standard Webhooks has it: the id of the event.'),
      required('webhook-timestamp', 'When this attempt was signed, in seconds since 1970.'),
      required('webhook-signature', '`v1,` and the signature by Standard Webhooks; two of them after a rotation.'),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: refTo(schemaNameOf(type)) }, example: EXAMPLE_EVENTS[type] } },
    },
    responses: {
      '2XX': { description: 'Taken. Work that takes long is done after the answer.' },
      default: { description: 'Failed: it is tried again.' },
    },
  };
}

const duration = (seconds: number): string => (seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`);
