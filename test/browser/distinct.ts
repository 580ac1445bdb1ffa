import { createHash } from 'node:crypto';
import { schemaNameOf } from '../../lib/api/openapi/schemas.ts';
import { LATENCY_BOUNDS_MS } from '../../lib/deliveries/latency.ts';
import { EVENT_TYPES } from '../../lib/events/types.ts';
import { openApi, pathOf } from '../support/openapi.ts';

/*
 * Creates responses from the OpenAPI document. Every member of every resource has a unique value, so a test can see which member a
 * page displays. A value depends only on the path of its member in the document and on the index of its entry.
 */

// biome-ignore lint/suspicious/noExplicitAny: JSON Schemas of many shapes
type Schema = any;

/** In the time zone of the tests, the last entries of a list are from the year before. */
export const NOW = Date.parse('2026-01-01T07:00:00Z');
const HOUR_MS = 3_600_000;
/** Members that are `null` only in repeated responses. */
const SECRETS = ['key', 'secret', 'token'];
/** The length of a list: each status and type occurs. */
const ENTRIES = 6;

const numbered = (prefix: string, length: number) => (index: number) => prefix + String(index).padStart(length, '0');
export const idOf = {
  key: numbered('key_', 12),
  webhook: numbered('whk_', 26),
  event: numbered('evt_', 26),
  document: numbered('org:acme:', 3),
};
const REFERENCES: Readonly<Record<string, (index: number) => string>> = {
  webhook_id: idOf.webhook,
  event_id: idOf.event,
  document_key: idOf.document,
  actor: idOf.key,
  replaces: (index) => idOf.key(index + 10),
  replaced_by: (index) => idOf.key(index + 20),
};

/** Returns the response to a request. A resource has the number at the end of its id. A list has two pages. */
export function distinctResponse(method: string, { pathname, searchParams }: URL): object | null {
  const path = decodeURIComponent(pathname);
  const template = pathOf(path) ?? '';
  const operation: Schema = openApi.paths[template]?.[method.toLowerCase()];
  const schema = Object.values<Schema>(operation.responses)[0].content?.['application/json']?.schema;
  if (!schema) return null;
  const isSecondPage = searchParams.has('cursor');
  const index = isSecondPage ? ENTRIES : Number(/(\d{3,})(?=(\/[a-z-]+)?$)/.exec(path)?.[1] ?? 0);
  const body = asRequested(valueFor(schema, template, '', index), searchParams) as object;
  return 'next_cursor' in body ? { ...body, next_cursor: isSecondPage ? null : 'second page' } : body;
}

/** Leaves out the members that a request did not ask for. */
const asRequested = (value: unknown, query: URLSearchParams): unknown =>
  JSON.parse(JSON.stringify(value, (name, each) => (name === 'outcome' && !query.has('include') ? undefined : each)));

const numberOf = (text: string): number => createHash('sha256').update(text).digest().readUInt16BE() % 900;

function valueFor(schema: Schema, place: string, name: string, index: number): unknown {
  if (schema.$ref) {
    const type = schema.$ref.split('/').at(-1);
    return valueFor(openApi.components.schemas[type as never], type, name, index);
  }
  const at = `${place}.${name}`;
  const number = numberOf(at);
  if (schema.const) return schema.const;
  if (schema.enum) return schema.enum[index % schema.enum.length];
  if (schema === true) return `value-${100 + number + index}`;
  const options: Schema[] = schema.oneOf ?? schema.anyOf ?? [];
  const isNullable = Array.isArray(schema.type) && schema.type.includes('null');
  const isOptional = isNullable || options.some(({ type }) => type === 'null');
  if (isOptional && !SECRETS.includes(name) && numberOf(`${at} ${index}`) % 3 === 0) return null;
  const present = options.filter(({ type }) => type !== 'null');
  if (present.length > 0) return valueFor(present[index % present.length], place, name, index);
  const type = isNullable ? schema.type[0] : schema.type;
  if (type === 'object') {
    const { properties = { [`Name-${number}`]: schema.additionalProperties } } = schema;
    const members = Object.entries(properties).map(([member, each]) => [
      member,
      valueFor(each, name ? at : place, member, index),
    ]);
    return Object.fromEntries(members);
  }
  if (type === 'array') {
    const isPage = name === 'data';
    return Array.from({ length: isPage ? ENTRIES : 2 }, (_, i) =>
      valueFor(schema.items, at, '', isPage ? index + i : 2 * index + i),
    );
  }
  if (type === 'boolean') return (index + number) % 2 === 0;
  if (name === 'le') return LATENCY_BOUNDS_MS[(7 * index) % LATENCY_BOUNDS_MS.length]; // in no order
  if (name === 'status_code') return 100 + number + index;
  if (type === 'integer') return place === 'Stats' && index === ENTRIES - 1 ? 0 : 1100 + number + index; // without attempts
  if (schema.format?.startsWith('date')) {
    const isLater = /expires|next/.test(name);
    const agoMs = place === 'Stats' ? index * HOUR_MS : index * HOUR_MS + number * 1000;
    const time = isLater ? NOW + (number + index) * 60_000 : NOW - agoMs;
    return new Date(time).toISOString().slice(0, schema.format === 'date' ? 10 : undefined);
  }
  const reference = name === 'id' ? IDS[place] : REFERENCES[name];
  if (reference) return reference(index);
  const text = `${name || place.split('.').at(-1)}-${100 + number + index}`;
  return name === 'url' ? `https://${text}.example/` : text;
}

/** The ids of resources, by the name of their schema. */
const IDS: Readonly<Record<string, (index: number) => string>> = {
  Key: idOf.key,
  CreatedKey: idOf.key,
  Webhook: idOf.webhook,
  WebhookWithSecret: idOf.webhook,
  ...Object.fromEntries(EVENT_TYPES.map((type) => [schemaNameOf(type), idOf.event])),
};
