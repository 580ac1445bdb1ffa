import { type JsonSchema, namedSchemas } from '../../../../lib/api/openapi/schemas.ts';
import { escaped, inline } from './html.ts';

const named = namedSchemas() as Record<string, JsonSchema>;

/** The schema behind a reference. */
function resolved(schema: JsonSchema): JsonSchema {
  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
  return name === undefined ? schema : { ...named[name], ...schema };
}

/**
 * Lists the members of an object with name, type, description, nested members, and whether they are required. Lists the
 * alternatives of an object that has several, such as events.
 */
export function membersOf(schema: JsonSchema): string {
  const alternatives = alternativesOf(schema).map(
    ([name, each]) => `<details><summary><code>${escaped(name)}</code></summary>${membersOf(each)}</details>`,
  );
  if (alternatives.length > 0) return alternatives.join('\n');
  const { properties = {}, required = [] } = shapeOf(schema);
  const entries = Object.entries(properties as Record<string, JsonSchema>);
  if (entries.length === 0) return '';
  const rows = entries.map(([name, member]) => {
    const { description = '' } = resolved(member);
    const isRequired = (required as string[]).includes(name);
    return `<dt><code>${escaped(name)}</code> <small>${escaped(typeOf(member))}${isRequired ? '' : ', optional'}</small></dt>
<dd>${inline(String(description))}${limitsOf(member)}${nested(member)}</dd>`;
  });
  return `<dl class="members">${rows.join('\n')}</dl>`;
}

function nested(member: JsonSchema): string {
  const inner = membersOf(member);
  return inner && `<details><summary>Members</summary>${inner}</details>`;
}

/** The alternatives of an object, or of the entries of a list, by the member that distinguishes them. */
function alternativesOf(schema: JsonSchema): [name: string, schema: JsonSchema][] {
  const { items, oneOf, anyOf } = resolved(schema);
  if (items) return alternativesOf(items as JsonSchema);
  const parts = ((oneOf ?? anyOf ?? []) as JsonSchema[]).map((part) => [typeNameOf(part), part] as const);
  return parts.flatMap(([name, part]) => (name === undefined ? [] : [[name, part]]));
}

/** The type of event, or the kinds of changes, that an alternative is for. */
function typeNameOf(schema: JsonSchema): string | undefined {
  const { type, op } = (resolved(schema).properties ?? {}) as { type?: JsonSchema; op?: JsonSchema };
  return typeof type?.const === 'string' ? type.const : optionsOf(type ?? op ?? {}).join(', ') || undefined;
}

/** Returns the schema with the members, for an object, a list, or an object that can be `null`. */
function shapeOf(schema: JsonSchema): JsonSchema {
  const target = resolved(schema);
  const [object, none] = (target.anyOf ?? []) as JsonSchema[];
  if (object && none?.type === 'null') return shapeOf(object);
  return target.items ? shapeOf(target.items as JsonSchema) : target;
}

/** The words that a member can be, apart from `null`, or an empty list for other types. */
export const optionsOf = (schema: JsonSchema): string[] => {
  const { enum: options } = resolved(schema);
  return Array.isArray(options) ? options.filter((option) => option !== null).map(String) : [];
};

export function typeOf(schema: JsonSchema): string {
  const { type, items, anyOf, oneOf, const: constant, enum: options } = resolved(schema);
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(options)) return options.map((option) => JSON.stringify(option)).join(' | ');
  const types = [type ?? 'any'].flat() as string[];
  if (items) return [`list of ${typeOf(items as JsonSchema)}`, ...types.filter((each) => each !== 'array')].join(' | ');
  const parts = (oneOf ?? anyOf ?? []) as JsonSchema[];
  if (type === undefined && parts.length > 0) return [...new Set(parts.map(typeOf))].join(' | ');
  return types.join(' | ');
}

/** The keywords of ranges, with the unit that they limit. */
const RANGES = [
  ['minimum', 'maximum', ''],
  ['minLength', 'maxLength', 'characters'],
  ['minItems', 'maxItems', 'entries'],
] as const;

function limitsOf(member: JsonSchema): string {
  const target = resolved(member);
  const texts = RANGES.map(([least, most, counted]) => rangeText(target[least], target[most], counted));
  if (typeof target.format === 'string') texts.push(`format ${target.format}`);
  const limits = texts.filter(Boolean).join(' · ');
  return limits && ` <small class="limits">${escaped(limits)}</small>`;
}

/**
 * Formats a range, such as `1 to 32 entries`. Empty without a limit. A minimum of 0 entries and the largest exact number are not
 * limits.
 */
export function rangeText(least: unknown, most: unknown, counted: string): string {
  const from = counted && least === 0 ? undefined : least;
  const to = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (from === undefined && to === undefined) return '';
  if (to === undefined) return counted && from === 1 ? 'not empty' : `at least ${from} ${counted}`.trim();
  return `${from === undefined ? 'at most' : `${from} to`} ${to} ${counted}`.trim();
}
