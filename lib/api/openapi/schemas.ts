import { isDeepStrictEqual } from 'node:util';
import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { EVENT_DATA } from '../../events/data.ts';
import { EventResource, OccurredAt } from '../../events/event.ts';
import { EVENT_TYPES, type EventType } from '../../events/types.ts';
import { optional } from '../../optional.ts';
import { NAMED, NAMED_LISTS } from './names.ts';

export type JsonSchema = { [keyword: string]: unknown };

// Schemas that JSON Schema cannot express contain an approximation as metadata, and the function checks the rest.
type Approximation = {
  jsonSchema?: object;
  /** Named schemas, exactly one of which is valid. */
  alternatives?: readonly v.GenericSchema[];
};

const CONVERSION: ConversionConfig = {
  target: 'draft-2020-12',
  definitions: NAMED,
  overrideRef: ({ referenceId }) => refTo(referenceId),
  overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'custom' ? {} : null),
  overrideAction({ valibotAction, jsonSchema }) {
    if (valibotAction.type === 'metadata') {
      const { metadata } = valibotAction as unknown as v.MetadataAction<unknown, Approximation>;
      const names = metadata.alternatives?.map((each) => v.getTitle(each) ?? '');
      if (names) return { oneOf: names.map((name) => ({ $ref: refTo(name) })) };
      const { jsonSchema: _merged, ...rest } = jsonSchema as JsonSchema; // the library copies metadata unchanged
      return { ...rest, ...metadata.jsonSchema };
    }
    if (valibotAction.type === 'title') {
      const { title: _name, ...rest } = jsonSchema as JsonSchema; // the key of the schema in the document
      return rest;
    }
    return BEYOND_JSON_SCHEMA.has(valibotAction.type) ? jsonSchema : null;
  },
};
const BEYOND_JSON_SCHEMA = new Set(['check', 'partial_check', 'raw_check', 'raw_transform', 'transform']);

export const refTo = (name: string): string => `#/components/schemas/${name}`;

/** Converts a schema to JSON Schema. Named schemas become references. */
export function jsonSchemaOf(schema: v.GenericSchema): JsonSchema {
  const { $schema, $defs, ...converted } = toJsonSchema(schema, CONVERSION) as JsonSchema;
  return simplified(converted);
}

/** `components.schemas`: the named ones, and one for the event of each type. */
export function namedSchemas(): Record<string, JsonSchema> {
  const converted = toJsonSchemaDefs(NAMED, CONVERSION) as object as Record<string, JsonSchema>;
  const events = EVENT_TYPES.flatMap((type) => [
    [publishedNameOf(type), asPublished(jsonSchemaOf(EVENT_DATA[type]))],
    [`${schemaNameOf(type)}Data`, jsonSchemaOf(EVENT_DATA[type])],
    [schemaNameOf(type), eventSchema(type, dataOf(type))],
    [`Publish${schemaNameOf(type)}`, { ...published(type), description: `Publishes \`${type}\`.` }],
    [`Test${schemaNameOf(type)}`, { ...tested(type), description: `Sends a \`${type}\` event as a test.` }],
  ]);
  const all: Record<string, JsonSchema> = { ...converted, ...Object.fromEntries(events) };
  all.Event = oneOfTypes(schemaNameOf);
  all.PublishEvent = oneOfTypes((type) => `Publish${schemaNameOf(type)}`);
  all.TestWebhook = { anyOf: EVENT_TYPES.map((type) => ({ $ref: refTo(`Test${schemaNameOf(type)}`) })) };
  const lists = Object.entries(NAMED_LISTS).map(([name, words]) => [name, { type: 'string', enum: words }]);
  const simple = Object.entries(all).map(([name, schema]) => [name, simplified(schema)]);
  return Object.fromEntries([...simple, ...lists].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

/** `document.changed` → `DocumentChanged`. */
export const schemaNameOf = (type: EventType): string =>
  type.replace(/(^|\.)(\w)/g, (_all, _dot, letter: string) => letter.toUpperCase());

const dataOf = (type: EventType): JsonSchema => ({ $ref: refTo(`${schemaNameOf(type)}Data`) });

/** The name of the published data, which is that of the event if both have the same members. */
function publishedNameOf(type: EventType): string {
  const schema = jsonSchemaOf(EVENT_DATA[type]);
  return `${isDeepStrictEqual(asPublished(schema), schema) ? '' : 'Publish'}${schemaNameOf(type)}Data`;
}

const publishedDataOf = (type: EventType): JsonSchema => ({ $ref: refTo(publishedNameOf(type)) });

/** Data as publishers send them: nullable members can be absent, and optional members `null` (lib/events/completed-data.ts). */
function asPublished(schema: JsonSchema): JsonSchema {
  const {
    properties,
    required = [],
    items,
    ...rest
  } = schema as JsonSchema & {
    properties?: Record<string, JsonSchema>;
    required?: readonly string[];
    items?: JsonSchema;
  };
  if (items) return { ...rest, items: asPublished(items) };
  if (!properties) return schema;
  const members = Object.entries(properties).map(([name, member]) => ({ name, member: asPublished(member) }));
  return {
    ...rest,
    properties: Object.fromEntries(
      members.map(({ name, member }) => [name, required.includes(name) ? member : orNull(member)]),
    ),
    required: members
      .filter(({ name, member }) => required.includes(name) && !acceptsNull(member))
      .map(({ name }) => name),
  };
}

/** A schema without a type accepts any value. */
const acceptsNull = ({ type, $ref }: JsonSchema): boolean =>
  $ref === undefined && (type === undefined || [type].flat().includes('null'));
const orNull = (schema: JsonSchema): JsonSchema =>
  acceptsNull(schema) ? schema : { ...schema, type: [schema.type, 'null'].flat() };

const membersOf = (type: EventType, data: JsonSchema) => ({
  type: { type: 'string', const: type, description: 'The type of the event.' },
  data: { ...data, description: 'The data of the event. More members can be present.' },
});

const published = (type: EventType): JsonSchema => {
  const { type: name, data } = membersOf(type, publishedDataOf(type));
  return {
    type: 'object',
    properties: { type: name, occurred_at: jsonSchemaOf(optional(OccurredAt)), data },
    required: ['type', 'data'],
    additionalProperties: false,
  };
};

/** A test event. Without a type, or with `null`, it is `document.changed`. */
function tested(type: EventType): JsonSchema {
  const { type: name, data } = membersOf(type, {});
  const isDefault = type === 'document.changed';
  const { const: _, ...named } = name;
  return {
    ...published(type),
    properties: {
      type: isDefault ? { ...named, type: ['string', 'null'], enum: [type, null] } : name,
      data: { ...data, anyOf: [publishedDataOf(type), { type: 'null' }] },
    },
    required: isDefault ? [] : ['type'],
  };
}

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

/** Simplifies nullable types, named enums and defaults, recursively. */
export function simplified(jsonSchema: JsonSchema): JsonSchema {
  const schema = withoutDefault(named(nullable(jsonSchema)));
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

function named(schema: JsonSchema): JsonSchema {
  const words = JSON.stringify(schema.enum);
  const [name] = Object.entries(NAMED_LISTS).find(([, list]) => JSON.stringify(list) === words) ?? [];
  if (name === undefined) return schema;
  const { enum: _, type: __, ...rest } = schema;
  return { $ref: refTo(name), ...rest };
}

// Generators treat a member with a default as required, even in requests.
function withoutDefault({ default: value, ...schema }: JsonSchema): JsonSchema {
  if (value === undefined || typeof value === 'object') return schema; // `null`, and empty lists and objects
  return { ...schema, description: `${schema.description} Default: \`${value}\`.` };
}

// Shorter to read than `anyOf`.
function nullable(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema as { anyOf?: JsonSchema[] };
  const [type, none] = anyOf ?? [];
  if (typeof type?.type !== 'string' || none?.type !== 'null') return schema;
  const reference = named(type);
  if (reference.$ref) {
    const { description, ...words } = reference;
    return { ...(description !== undefined && { description }), ...rest, anyOf: [words, none] }; // generators give the words one type
  }
  const values = type.enum as unknown[] | undefined;
  return { ...type, ...rest, type: [type.type, 'null'], ...(values && { enum: [...values, null] }) };
}
