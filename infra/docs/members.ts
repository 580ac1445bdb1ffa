import { type JsonSchema, namedSchemas } from '../../lib/openapi/schemas.ts';
import { escaped, inline } from './html.ts';

const named = namedSchemas() as Record<string, JsonSchema>;
/** Deeper than any of our schemas, but for those that contain themselves. */
const MAX_DEPTH = 6;

/** The schema behind a reference. */
export function resolved(schema: JsonSchema): JsonSchema {
  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
  return name === undefined ? schema : { ...named[name], ...schema };
}

/** A list of the members of an object: name, type, whether it must be there, meaning, and its own members. */
export function membersOf(schema: JsonSchema, depth = 0): string {
  const { properties = {}, required = [] } = shapeOf(schema);
  const entries = Object.entries(properties as Record<string, JsonSchema>);
  if (entries.length === 0 || depth === MAX_DEPTH) return '';
  const rows = entries.map(([name, member]) => {
    const { description = '' } = resolved(member);
    const isRequired = (required as string[]).includes(name);
    return `<dt><code>${escaped(name)}</code> <small>${escaped(typeOf(member))}${isRequired ? '' : ', optional'}</small></dt>
<dd>${inline(String(description))}${limitsOf(member)}${nested(member, depth)}</dd>`;
  });
  return `<dl class="members">${rows.join('\n')}</dl>`;
}

function nested(member: JsonSchema, depth: number): string {
  const inner = membersOf(member, depth + 1);
  return inner && `<details><summary>Members</summary>${inner}</details>`;
}

/** What has the members: the schema, what a list holds, or what there is besides `null`. */
function shapeOf(schema: JsonSchema): JsonSchema {
  const found = resolved(schema);
  if (found.properties) return found;
  if (found.items) return shapeOf(found.items as JsonSchema);
  const parts = [found.anyOf, found.oneOf, found.allOf].flat().filter(Boolean) as JsonSchema[];
  return parts.map(shapeOf).find(({ properties }) => properties) ?? {};
}

export function typeOf(schema: JsonSchema): string {
  const { type, items, anyOf, oneOf, allOf, const: constant, enum: options } = resolved(schema);
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(options)) return options.map((option) => JSON.stringify(option)).join(' | ');
  if (type === 'array' && items) return `list of ${typeOf(items as JsonSchema)}`;
  const parts = [anyOf, oneOf, allOf].flat().filter(Boolean) as JsonSchema[];
  if (parts.length > 0) return [...new Set(parts.map(typeOf))].join(' | ');
  return [type ?? 'any'].flat().join(' | ');
}

const LIMITS: Record<string, string> = {
  minimum: 'at least',
  maximum: 'at most',
  minLength: 'characters, at least',
  maxLength: 'characters, at most',
  minItems: 'entries, at least',
  maxItems: 'entries, at most',
  format: 'format',
};

function limitsOf(member: JsonSchema): string {
  const found = resolved(member);
  const texts = Object.entries(LIMITS).flatMap(([keyword, words]) => {
    const value = found[keyword];
    return value === undefined || typeof value === 'object' ? [] : `${words} ${value}`;
  });
  return texts.length === 0 ? '' : ` <small class="limits">${escaped(texts.join(' · '))}</small>`;
}
