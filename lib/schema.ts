import * as v from 'valibot';
import { parseDateTime } from './date-time.ts';
import { isJsonObject, isRawNumber, type Json } from './json.ts';

/** The same schema with its description in the API reference. */
export const described = <const Schema extends v.GenericSchema>(schema: Schema, meaning: string) =>
  v.pipe(schema, v.description(meaning));

/** An object of responses, with its name in the API reference and in generated clients. New members can be added. */
export const resource = <const Entries extends v.ObjectEntries>(name: string, entries: Entries) =>
  named(name, v.object(entries));

/** An object of requests, with its name. Unknown members are violations. */
export const request = <const Entries extends v.ObjectEntries>(name: string, entries: Entries) =>
  named(name, v.strictObject(entries));

/** The same object with its name. */
export const named = <const Schema extends v.GenericSchema>(name: string, schema: Schema) =>
  v.pipe(schema, v.title(name));

/** The kinds of violations that decide more than the text of a response. */
const VIOLATION_KINDS = ['document_name'] as const;
type ViolationKind = (typeof VIOLATION_KINDS)[number];

/** One violation in a request, with its field and its solution. */
export interface Violation {
  field: string;
  detail: string;
  /** Not part of the response. */
  kind?: ViolationKind | undefined;
}

/** A check whose violations have a kind. */
export const checkOf = <Input>(kind: ViolationKind, requirement: (input: Input) => boolean, message: string) => ({
  ...v.check(requirement, message),
  expects: kind, // valibot copies it into its issues, and no schema expects a kind
});
const kindOf = ({ expected }: v.BaseIssue<unknown>): ViolationKind | undefined =>
  VIOLATION_KINDS.find((kind) => kind === expected);

/** The characters of a text, as JSON Schema counts them. An emoji is one character, but two UTF-16 code units. */
export const charactersOf = (value: string): string[] => Array.from(value);

/** Whether a text has at most `max` characters. A character has at most two code units, so a longer text is not counted completely. */
const hasAtMost =
  (max: number) =>
  (value: string): boolean =>
    charactersOf(value.slice(0, 2 * max + 1)).length <= max;

/** A text without control characters. */
export const text = (min: 0 | 1, max: number) =>
  v.pipe(
    v.string('must be a string'),
    v.minLength(min, 'must not be empty'),
    v.check(hasAtMost(max), `must have at most ${max} characters`),
    v.check((value) => !UNPRINTABLE.test(value), 'must not contain control characters or lone surrogates'),
    v.metadata({ jsonSchema: { maxLength: max, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' } }),
  );

// The Unicode categories Cc and Cs: control characters and lone surrogates.
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

// Bodies keep the text of unusual numbers (lib/json.ts). Here `60.0` is the integer 60, and 1e400 is not an integer.
const isInteger = (min: number, max: number) => (value: unknown) => {
  const number = isRawNumber(value) ? Number(value.rawJSON) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max;
};

export const integer = (min: number, max: number) =>
  v.pipe(
    v.custom<number>(isInteger(min, max), `must be an integer from ${min} to ${max}`),
    v.transform((value) => Number(isRawNumber(value) ? value.rawJSON : value) + 0),
    v.metadata({ jsonSchema: { type: 'integer', minimum: min, maximum: max } }),
  );

/** An integer in a response. */
export const wholeNumber = () => v.pipe(v.number(), v.integer());

/** An integer in a query string, in plain decimal. */
export const integerText = (min: number, max: number) =>
  v.pipe(
    v.custom<string>(
      (value) => typeof value === 'string' && /^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max,
      `must be an integer from ${min} to ${max}`,
    ),
    v.transform(Number),
    v.metadata({ jsonSchema: { type: 'integer', minimum: min, maximum: max } }),
  );

export const oneOf = <const Options extends readonly string[]>(options: Options) =>
  v.picklist(options, `must be one of ${options.join(', ')}`);

/** The words of a query parameter that can be repeated, sorted. An entry of the list has one of them. */
export const alternatives = <const Options extends readonly string[]>(options: Options) =>
  v.pipe(
    v.custom<Options[number] | Options[number][]>(
      (value) => [value].flat().every((each) => options.includes(each as string)),
      `must be one of ${options.join(', ')}`,
    ),
    v.transform((value): Options[number][] => [...new Set([value].flat() as Options[number][])].sort()),
    v.metadata({ jsonSchema: { type: 'array', items: { type: 'string', enum: options }, minItems: 1 } }),
  );

/** One step in the path of an issue that a raw check adds: a member of an object. */
export const pathItem = (input: Record<string, unknown>, key: string): v.ObjectPathItem => ({
  type: 'object',
  origin: 'value',
  input,
  key,
  value: input[key],
});

/** A JSON object whose members are the customer's own. */
export const jsonObject = v.pipe(
  v.custom<{ [key: string]: Json }>(isJsonObject, 'must be an object'),
  v.metadata({ jsonSchema: { type: 'object', additionalProperties: true } }),
);

/** Any JSON value, including `null`. A missing value is a violation. */
export const anyJson = v.pipe(
  v.custom<Json>((value) => value !== undefined, 'is required'),
  v.metadata({ jsonSchema: {} }),
);

/** The JSON Schema of a date-time in a request, with the years 1970 to 9999. */
export const DATE_TIME_SCHEMA = {
  type: 'string',
  format: 'date-time',
  pattern: '^(19[7-9][0-9]|[2-9][0-9]{3})-',
} as const;

/** A date-time with an offset, as milliseconds since 1970. */
export const timestampInput = v.pipe(
  v.custom<string>(() => true),
  v.rawTransform<string, number>(({ dataset: { value }, addIssue, NEVER }) => {
    const parsed = parseDateTime(value);
    if ('ms' in parsed) return parsed.ms;
    addIssue({ message: parsed.violation });
    return NEVER;
  }),
  v.metadata({ jsonSchema: DATE_TIME_SCHEMA }),
);

/** A date-time in a response: ISO 8601 in UTC with milliseconds. */
export const timestamp = v.pipe(v.string(), v.isoTimestamp());

/** Milliseconds since 1970, as the interface writes them. */
export const iso = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : iso(ms));

/** The maximum number of violations in a response. */
export const MAX_VIOLATIONS = 100;

/** The maximum characters of a name or value in a violation. */
const MAX_QUOTED_LENGTH = 64;

/** A text from the request, short enough to be repeated in the response. */
export const clipped = (text: string): string =>
  text.length <= MAX_QUOTED_LENGTH ? text : `${text.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}…`;

/** Returns the value. Throws an error that lists every violation. */
export function requireValid<Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> {
  const checked = check(schema, input);
  if ('value' in checked) return checked.value;
  throw new Error(checked.violations.map(({ field, detail }) => `${field} ${detail}`).join('; '));
}

/** Either the value, or its violations, each with the path of its field. */
export function check<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
): { value: v.InferOutput<Schema> } | { violations: Violation[] } {
  const result = v.safeParse(schema, input);
  return result.success ? { value: result.output } : { violations: result.issues.map(violationOf) };
}

function violationOf(issue: v.BaseIssue<unknown>): Violation {
  const path = (issue.path ?? [])
    .map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${clipped(String(key)) || '""'}`))
    .join('');
  const field = path.replace(/^\./, '') || 'body';
  if (issue.kind === 'schema' && issue.type === 'strict_object') {
    if (issue.expected === 'never') return { field, detail: 'is not a known field' };
    if (issue.expected !== 'Object') return { field, detail: 'is required' };
    return { field, detail: 'must be an object' };
  }
  if (issue.input === undefined) return { field, detail: 'is required' };
  const kind = kindOf(issue);
  return { field, detail: issue.message, ...(kind && { kind }) };
}
