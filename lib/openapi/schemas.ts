import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { AuditResource } from '../access/audit.ts';
import { KeyUsage } from '../access/key-usage.ts';
import {
  Allowlist,
  AllowlistResource,
  ChangeKey,
  CreatedKey,
  CreateKey,
  KeyResource,
  RotateKey,
} from '../access/keys.ts';
import { LeakMatch } from '../access/leaks.ts';
import { ChangeProject, ProjectResource } from '../access/projects.ts';
import { MintedToken, MintToken } from '../access/tokens.ts';
import { PROBLEMS } from '../api/problems.ts';
import { DeliveryResource } from '../delivery/record.ts';
import { ConnectionResource, RenewConnection } from '../documents/connections.ts';
import {
  ConflictResource,
  DocumentResource,
  MergedDocument,
  PatchDocument,
  PutDocument,
} from '../documents/documents.ts';
import { SyncRequest, SyncResponse } from '../documents/sync.ts';
import { EVENT_DATA } from '../events/data.ts';
import { EventResource, PublishEvent, PublishEvents } from '../events/events.ts';
import { EVENT_TYPES, type EventType } from '../events/types.ts';
import { described } from '../schema.ts';
import {
  ChangeWebhook,
  CreateWebhook,
  RotateSecret,
  TestWebhook,
  WebhookResource,
  WebhookWithSecret,
} from '../webhooks/webhooks.ts';

export type JsonSchema = { [keyword: string]: unknown };

/** An error response (RFC 9457), as lib/api/problems.ts writes it. */
const Problem = v.strictObject({
  type: described(v.string(), 'Where the code is explained: an absolute URI.'),
  title: described(v.string(), 'What the code means.'),
  status: described(v.number(), 'The HTTP status code.'),
  detail: described(v.string(), 'What to do.'),
  code: described(v.picklist(Object.keys(PROBLEMS) as (keyof typeof PROBLEMS)[]), 'Stable: match on it.'),
  request_id: described(v.string(), 'Also in `X-Request-Id`. Quote it to the operator.'),
  errors: v.optional(
    described(
      v.array(
        v.strictObject({
          field: described(v.string(), 'A member of the body, or a parameter.'),
          detail: described(v.string(), 'What is wrong with it.'),
        }),
      ),
      'Everything that is wrong with the request, on a 400.',
    ),
  ),
});

/** The schemas that have a name in the document. */
const NAMED = {
  Allowlist,
  AuditEntry: AuditResource,
  ChangeKey,
  ChangeProject,
  ChangeWebhook,
  Conflict: ConflictResource,
  Connection: ConnectionResource,
  CreateKey,
  CreateWebhook,
  CreatedKey,
  Delivery: DeliveryResource,
  Document: DocumentResource,
  Event: EventResource,
  Key: KeyResource,
  KeyUsage,
  KeyAllowlist: AllowlistResource,
  LeakMatch,
  MergedDocument,
  MintToken,
  PatchDocument,
  Problem,
  Project: ProjectResource,
  PublishEvent,
  PublishEvents,
  PutDocument,
  RenewConnection,
  RotateKey,
  RotateSecret,
  SyncResponse,
  SyncRequest,
  TestWebhook,
  Token: MintedToken,
  Webhook: WebhookResource,
  WebhookWithSecret,
} satisfies Record<string, v.GenericSchema>;

// What JSON Schema has no word for carries its JSON Schema as metadata, or is what the function checks beyond it.
const CONVERSION: ConversionConfig = {
  target: 'draft-2020-12',
  definitions: NAMED,
  overrideRef: ({ referenceId }) => refTo(referenceId),
  overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'custom' ? {} : null),
  overrideAction({ valibotAction, jsonSchema }) {
    if (valibotAction.type === 'metadata') {
      const { metadata } = valibotAction as unknown as v.MetadataAction<unknown, { jsonSchema?: object }>;
      const { jsonSchema: _merged, ...rest } = jsonSchema as JsonSchema; // the library copies metadata as it is
      return { ...rest, ...metadata.jsonSchema };
    }
    return BEYOND_JSON_SCHEMA.has(valibotAction.type) ? jsonSchema : null;
  },
};
const BEYOND_JSON_SCHEMA = new Set(['check', 'check_items', 'raw_check', 'raw_transform', 'transform', 'forward']);

export const refTo = (name: string): string => `#/components/schemas/${name}`;

/** A schema as JSON Schema; whatever has a name in the document is a reference. */
export function jsonSchemaOf(schema: v.GenericSchema): JsonSchema {
  const { $schema, $defs, ...converted } = toJsonSchema(schema, CONVERSION) as JsonSchema;
  return converted;
}

/** `components.schemas`: the named ones, and one for the event of each type. */
export function namedSchemas(): Record<string, JsonSchema> {
  const converted = toJsonSchemaDefs(NAMED, CONVERSION) as object as Record<string, JsonSchema>;
  const events = EVENT_TYPES.flatMap((type) => [
    [`${schemaNameOf(type)}Data`, jsonSchemaOf(EVENT_DATA[type])],
    [schemaNameOf(type), eventSchema(type, dataOf(type))],
  ]);
  const all: Record<string, JsonSchema> = { ...converted, ...Object.fromEntries(events) };
  all.Event = oneOfTypes(schemaNameOf);
  all.PublishEvent = {
    oneOf: EVENT_TYPES.map((type) => ({ ...published(type), description: `Publishes \`${type}\`.` })),
  };
  return Object.fromEntries(
    Object.entries(all)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => [name, simplified(schema)]),
  );
}

/** `document.changed` → `DocumentChanged`. */
export const schemaNameOf = (type: EventType): string =>
  type.replace(/(^|\.)(\w)/g, (_all, _dot, letter: string) => letter.toUpperCase());

const dataOf = (type: EventType): JsonSchema => ({ $ref: refTo(`${schemaNameOf(type)}Data`) });

const membersOf = (type: EventType, data: JsonSchema) => ({
  type: { const: type, description: 'The type of the event.' },
  data: { ...data, description: 'What happened. More members may be present.' },
});

const published = (type: EventType): JsonSchema => ({
  type: 'object',
  properties: membersOf(type, dataOf(type)),
  required: ['type', 'data'],
  additionalProperties: false,
});

/** The event of a type, around the schema of its data. */
export function eventSchema(type: EventType, data: JsonSchema): JsonSchema {
  const whole = toJsonSchema(EventResource, { ...CONVERSION, definitions: {} }) as JsonSchema & { properties: object };
  const { $schema, ...schema } = whole;
  return { ...schema, properties: { ...whole.properties, ...membersOf(type, data) } };
}

const oneOfTypes = (nameOf: (type: EventType) => string): JsonSchema => ({
  oneOf: EVENT_TYPES.map((type) => ({ $ref: refTo(nameOf(type)) })),
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(EVENT_TYPES.map((type) => [type, refTo(nameOf(type))])),
  },
});

/** With `nullable` types all the way down. */
export function simplified(given: JsonSchema): JsonSchema {
  const schema = nullable(given);
  const properties = schema.properties as Record<string, JsonSchema> | undefined;
  const items = schema.items as JsonSchema | undefined;
  return {
    ...schema,
    ...(items && { items: simplified(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, simplified(each)])),
    }),
  };
}

// Shorter to read than `anyOf`.
function nullable(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema as { anyOf?: JsonSchema[] };
  const [type, none] = anyOf ?? [];
  if (typeof type?.type !== 'string' || none?.type !== 'null') return schema;
  const values = type.enum as unknown[] | undefined;
  return { ...type, ...rest, type: [type.type, 'null'], ...(values && { enum: [...values, null] }) };
}
