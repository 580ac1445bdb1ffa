import * as v from 'valibot';
import { DOCUMENT_KEY_SCHEMA, DocumentKey, isDocumentKey, Pattern } from '../access/patterns.ts';
import { isJsonObject } from '../json.ts';
import { check, integer, jsonObject, oneOf } from '../schema.ts';
import { NodeId } from './connections.ts';
import { baseRevision, ConflictResource, fields, ON_CONFLICT } from './documents.ts';

export const MAX_PUSHES = 25;
export const MAX_KNOWN = 2000;
export const MAX_SYNC_PAGE = 100;

const Push = v.pipe(
  v.strictObject({
    op: oneOf(['put', 'patch', 'delete']),
    document_key: DocumentKey,
    base_revision: baseRevision,
    fields: v.optional(fields),
    on_conflict: v.optional(oneOf(ON_CONFLICT), 'last_write_wins'),
  }),
  v.forward(
    v.check(
      ({ op, fields }) => (op === 'delete') === (fields === undefined),
      'is for put and patch, and required there',
    ),
    ['fields'],
  ),
  v.metadata({
    jsonSchema: {
      oneOf: [
        { properties: { op: { enum: ['put', 'patch'] } }, required: ['op', 'fields'] },
        { properties: { op: { const: 'delete' }, fields: false }, required: ['op'] },
      ],
    },
  }),
);
export type Push = v.InferOutput<typeof Push>;

const Known = v.pipe(
  jsonObject,
  v.check((value) => Object.keys(value).length <= MAX_KNOWN, `must have at most ${MAX_KNOWN} members`),
  v.check(
    (value) =>
      isJsonObject(value) &&
      Object.entries(value).every(([key, revision]) => isDocumentKey(key) && 'value' in check(baseRevision, revision)),
    'must map document keys to revisions',
  ),
  v.transform(
    (value) => new Map(Object.entries(value).map(([key, revision]) => [key, v.parse(baseRevision, revision)])),
  ),
  v.metadata({
    jsonSchema: {
      type: 'object',
      maxProperties: MAX_KNOWN,
      propertyNames: DOCUMENT_KEY_SCHEMA,
      additionalProperties: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    },
  }),
);

export const SyncRequest = v.strictObject({
  node_id: NodeId,
  sync_id: v.optional(
    v.pipe(v.string('must be a string'), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 _ -')),
  ),
  pattern: Pattern,
  push: v.pipe(v.array(Push, 'must be an array'), v.maxLength(MAX_PUSHES, `must have at most ${MAX_PUSHES} entries`)),
  known: Known,
  cursor: v.optional(v.string('must be a string')),
  limit: v.optional(integer(1, MAX_SYNC_PAGE), 50),
});

export const PUSH_STATUSES = ['applied', 'merged', 'unchanged', 'rejected'] as const;
export const PushResult = v.strictObject({
  document_key: v.string(),
  status: v.picklist(PUSH_STATUSES),
  revision: v.nullable(v.number()),
  conflicts: v.array(ConflictResource),
  code: v.optional(v.string()),
});
export type PushResult = v.InferOutput<typeof PushResult>;

export const SyncResponse = v.strictObject({
  sync_id: v.string(),
  results: v.array(PushResult),
  changes: v.array(
    v.strictObject({
      document_key: v.string(),
      revision: v.number(),
      deleted: v.boolean(),
      fields: v.nullable(jsonObject),
    }),
  ),
  cursor: v.nullable(v.string()),
  has_more: v.boolean(),
});

/** A cycle so far; it travels in its own cursor, which nobody can change. */
export const Cycle = v.strictObject({
  syncId: v.string(),
  startedAt: v.number(),
  pushed: v.number(),
  pulled: v.number(),
  conflicts: v.number(),
  after: v.optional(v.string()),
});
export type Cycle = v.InferOutput<typeof Cycle>;
