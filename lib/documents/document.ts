import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { MEANINGS } from '../events/types.ts';
import type { PathParameter } from '../http/path-parameter.ts';
import type { Json } from '../json.ts';
import { optional } from '../optional.ts';
import {
  checkOf,
  described,
  integer,
  iso,
  jsonObject,
  oneOf,
  request,
  resource,
  timestamp,
  wholeNumber,
} from '../schema.ts';
import { isDocumentKey, isKeyPrefix, isPattern, MAX_KEY_LENGTH, MAX_SEGMENTS } from './patterns.ts';

const segmentsOf = (segment: string): string => `${segment}(:${segment}){0,${MAX_SEGMENTS - 1}}$`;
const LITERAL_SEGMENT = '[A-Za-z0-9._~@-]{1,64}';
const NO_DOT_SEGMENT = '^(?!\\.{1,2}$)';

/** The JSON Schema of a document key. */
const DOCUMENT_KEY_SCHEMA = {
  maxLength: MAX_KEY_LENGTH,
  pattern: NO_DOT_SEGMENT + segmentsOf(LITERAL_SEGMENT),
} as const;

const PREFIX_RULE = 'must be 1 to 16 segments of A-Z a-z 0-9 . _ ~ @ - joined by ":"';
const KEY_RULE = `${PREFIX_RULE}, and not "." or ".."`;
const PATTERN_RULE = 'must be a document key in which a whole segment may be "*"';

export const DocumentKey = v.pipe(
  v.string('must be a string'),
  checkOf('document_name', isDocumentKey, KEY_RULE),
  v.metadata({ jsonSchema: DOCUMENT_KEY_SCHEMA }),
);

export const documentParameter: PathParameter = {
  resource: 'document',
  isChosen: true,
  schema: DocumentKey,
  description: 'The key of the document.',
  example: 'org:acme:doc-1',
};

export const KeyPrefix = v.pipe(
  v.string('must be a string'),
  checkOf('document_name', isKeyPrefix, PREFIX_RULE),
  v.metadata({ jsonSchema: { maxLength: MAX_KEY_LENGTH, pattern: `^${segmentsOf(LITERAL_SEGMENT)}` } }),
);
export const Pattern = v.pipe(
  v.string('must be a string'),
  checkOf('document_name', isPattern, PATTERN_RULE),
  v.metadata({
    jsonSchema: { maxLength: MAX_KEY_LENGTH, pattern: NO_DOT_SEGMENT + segmentsOf(`(${LITERAL_SEGMENT}|\\*)`) },
  }),
);

/** Bytes of a document's fields, as JSON. */
export const MAX_DOCUMENT_BYTES = 128 * 1024;
export const MAX_FIELDS = 1000;

export const ON_CONFLICT = ['last_write_wins', 'keep_server', 'reject'] as const;
export type OnConflict = (typeof ON_CONFLICT)[number];
/** A revision in a request. 0 means that the document did not exist. */
export const baseRevision = integer(0, Number.MAX_SAFE_INTEGER);

export type Fields = { [field: string]: Json };

/** A stored document. A deleted document has no fields, and its revision continues. */
export interface DocumentState {
  revision: number;
  fields: Fields;
  /** The last writer and revision of each field, including fields that were removed since. */
  marks: { [field: string]: Mark };
  /** Every field without a mark was removed at or before this revision. */
  floor: Mark;
  deleted: boolean;
  createdAt: number;
  updatedAt: number;
}
export type Mark = [revision: number, origin: string];

export const fields = v.pipe(
  jsonObject,
  v.check((value) => Object.keys(value).length <= MAX_FIELDS, `must have at most ${MAX_FIELDS} members`),
  v.metadata({ jsonSchema: { maxProperties: MAX_FIELDS } }),
);
export const onConflict = v.nullish(
  described(
    oneOf(ON_CONFLICT),
    'Which value wins when both sides changed a field to different values. `reject` changes nothing.',
  ),
  'last_write_wins',
);
export const PutDocument = request('PutDocument', {
  fields: described(fields, MEANINGS.fields),
});
export const PatchDocument = request('PatchDocument', {
  fields: described(fields, 'The fields to set, with any JSON values. `null` removes a field.'),
  base_revision: optional(described(baseRevision, MEANINGS.baseRevision)),
  on_conflict: onConflict,
});

// `value` is absent on the side of others for a token that may not read.
const side = v.object({
  value: v.optional(
    described(v.any(), 'The value; `null` if the field was removed. A token without `read` sees only its own.'),
  ),
  origin: described(v.string(), 'The node that wrote the value.'),
  revision: described(wholeNumber(), 'The revision at which it was written.'),
});
export const ConflictResource = resource('Conflict', {
  field: described(v.string(), 'The name of the field.'),
  winner: described(side, 'The current value of the field.'),
  loser: described(side, 'The value of the other side.'),
});
type ShownConflict = v.InferOutput<typeof ConflictResource>;

type Side = { value: Json; origin: string; revision: number };
/** A field that both sides changed to different values. */
export type Conflict = { field: string; winner: Side; loser: Side };

export const DocumentResource = resource('Document', {
  document_key: described(v.string(), MEANINGS.documentKey),
  revision: described(wholeNumber(), MEANINGS.revision),
  fields: described(jsonObject, MEANINGS.fields),
  created_at: described(timestamp, 'When the document was created.'),
  updated_at: described(timestamp, 'When the document was last changed.'),
});
export const MergedDocument = resource('MergedDocument', {
  ...DocumentResource.entries,
  deleted: described(
    v.boolean(),
    'Whether the document was deleted after `base_revision`. The deletion then wins, and `conflicts` contains the lost fields.',
  ),
  conflicts: described(v.array(ConflictResource), MEANINGS.conflicts),
});

export function documentResource(document_key: string, state: DocumentState): v.InferOutput<typeof DocumentResource> {
  const { revision, fields, createdAt, updatedAt } = state;
  return { document_key, revision, fields, created_at: iso(createdAt), updated_at: iso(updatedAt) };
}

/** The fields that a request sent. A token without `read` receives only these. */
export const fieldsHeld = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/**
 * The conflicts for a token without `read`: only fields of its request, without the values of other writers. `theirs` is the side
 * of the other writers.
 */
export function withoutOthersValues(
  conflicts: readonly ShownConflict[],
  fields: Fields,
  theirs: 'winner' | 'loser',
): ShownConflict[] {
  return conflicts
    .filter(({ field }) => Object.hasOwn(fields, field))
    .map((conflict) => {
      const { value: _, ...side } = conflict[theirs];
      return { ...conflict, [theirs]: side };
    });
}

/** The value of a field, if the document has it. Customers choose the names of fields, so `__proto__` is a valid name. */
export const fieldIn = (fields: Fields, field: string): Json | undefined =>
  Object.hasOwn(fields, field) ? fields[field] : undefined;

export const etagOf = ({ revision }: Pick<DocumentState, 'revision'>): string => `"${revision}"`;

/** Whether two JSON values are equal. Compares members in any order, and numbers by their text. */
export const sameJson = (a: Json | undefined, b: Json | undefined): boolean => isDeepStrictEqual(a ?? null, b ?? null);
