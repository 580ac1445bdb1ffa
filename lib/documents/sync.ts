import * as v from 'valibot';
import { MEANINGS } from '../events/types.ts';
import { list } from '../lists.ts';
import { described, integer, jsonObject, oneOf, request, resource, wholeNumber } from '../schema.ts';
import { NodeId } from './connections.ts';
import {
  baseRevision,
  ConflictResource,
  DOCUMENT_KEY_SCHEMA,
  DocumentKey,
  fields,
  onConflict,
  Pattern,
} from './document.ts';
import { isDocumentKey } from './patterns.ts';

export const MAX_PUSHES = 25;
export const MAX_KNOWN = 2000;
const MAX_SYNC_PAGE = 100;

/** How long the request that started a completed cycle can be repeated, because its response can be lost. */
export const CYCLE_REPEAT_MS = 10 * 60 * 1000;

const members = {
  document_key: described(DocumentKey, MEANINGS.documentKey),
  base_revision: described(baseRevision, MEANINGS.baseRevision),
  on_conflict: onConflict,
};
const pushed = described(fields, 'The fields, for `put` and `patch`.');
const opOf = <const Ops extends readonly string[]>(...ops: Ops) => described(oneOf(ops), 'The kind of change.');

/** Each kind of push has its own name and members, because generators ignore members next to `oneOf`. */
const PUSHES = [
  request('PushWrite', { op: opOf('put', 'patch'), ...members, fields: pushed }),
  request('PushDelete', { op: opOf('delete'), ...members }),
];

/** A push, whose violations are all reported, also with an unknown `op`. */
const Push = v.pipe(
  v.strictObject({ op: opOf('put', 'patch', 'delete'), ...members, fields: v.optional(pushed) }),
  v.forward(
    v.check(
      ({ op, fields }) => (op === 'delete') === (fields === undefined),
      'is required for put and patch, and not allowed for delete',
    ),
    ['fields'],
  ),
  v.metadata({ alternatives: PUSHES }),
);
export type Push = v.InferOutput<typeof Push>;

const Known = v.pipe(
  jsonObject,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const entries = Object.entries(dataset.value);
    if (entries.length > MAX_KNOWN) addIssue({ message: `must have at most ${MAX_KNOWN} members` });
    else if (!entries.every(([key, revision]) => isDocumentKey(key) && v.is(baseRevision, revision)))
      addIssue({ message: 'must map document keys to revisions' });
  }),
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

export const SyncRequest = request('SyncRequest', {
  node_id: described(NodeId, MEANINGS.nodeId),
  sync_id: v.optional(
    described(
      v.pipe(v.string('must be a string'), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 _ -')),
      'Identifies one cycle, and belongs to the credential that used it first. Starting a completed cycle again returns 409, except that the same request can be repeated for 10 minutes. Without it, the service generates an id. For credentials without `write` it has no effect.',
    ),
  ),
  pattern: described(Pattern, 'The documents of the cycle: a document key in which a whole segment may be `*`.'),
  push: described(
    list(Push, 0, MAX_PUSHES),
    'The changes. The service applies each independently, so a rejected one does not stop the others.',
  ),
  known: described(Known, 'The revision of every document that the node has.'),
  cursor: v.optional(described(v.string('must be a string'), 'The cursor of the last response of this cycle.')),
  limit: v.optional(described(integer(1, MAX_SYNC_PAGE), 'The maximum number of changes per page.'), 50),
});

const PUSH_STATUSES = ['applied', 'merged', 'unchanged', 'rejected'] as const;
export const PushResult = resource('PushResult', {
  document_key: described(v.string(), MEANINGS.documentKey),
  status: described(
    v.picklist(PUSH_STATUSES),
    '`merged`: applied together with concurrent changes. `rejected`: see `code`.',
  ),
  revision: described(
    v.nullable(wholeNumber()),
    'The current revision of the document; `null` if the push was rejected.',
  ),
  conflicts: described(v.array(ConflictResource), MEANINGS.conflicts),
  code: v.optional(described(v.string(), 'The error code of a rejected push.')),
});
export type PushResult = v.InferOutput<typeof PushResult>;

export const SyncResponse = resource('SyncResponse', {
  sync_id: described(v.string(), 'Identifies the cycle.'),
  results: described(v.array(PushResult), 'The result of each push, in the same order.'),
  changes: described(
    v.array(
      v.object({
        document_key: described(v.string(), MEANINGS.documentKey),
        revision: described(wholeNumber(), MEANINGS.revision),
        deleted: described(v.boolean(), 'Whether the document was deleted.'),
        fields: described(v.nullable(jsonObject), 'The fields; `null` if the document was deleted.'),
      }),
    ),
    'Documents whose revision differs from `known`, in pages.',
  ),
  cursor: described(v.nullable(v.string()), 'The cursor of the next request of the cycle, or `null` at its end.'),
  has_more: described(v.boolean(), 'Whether another page follows. The last page ends the cycle.'),
});

/** The start of a cycle with a name. */
export interface CycleClaim {
  credentialId: string;
  /** Identifies the content of the request. */
  fingerprint: string;
  nowMs: number;
}

/** The state of a cycle. Its cursor contains it, and callers cannot change it. */
export const Cycle = v.strictObject({
  syncId: v.string(),
  startedAt: v.number(),
  pushed: v.number(),
  pulled: v.number(),
  conflicts: v.number(),
  after: v.optional(v.string()),
});
export type Cycle = v.InferOutput<typeof Cycle>;
