import * as v from 'valibot';
import { MEANINGS } from '../events/types.ts';
import { CursorText } from '../http/operation.ts';
import { isJsonObject } from '../json.ts';
import { list, uniqueList } from '../lists.ts';
import { optional } from '../optional.ts';
import { described, integer, jsonObject, oneOf, pathItem, request, resource, wholeNumber } from '../schema.ts';
import { NodeId } from './connections.ts';
import { baseRevision, ConflictResource, DocumentKey, fields, onConflict, Pattern } from './document.ts';

export const MAX_PUSHES = 25;
export const MAX_KNOWN = 2000;
const MAX_PATTERNS = 32;
const MAX_SYNC_PAGE = 100;

const pushMembers = {
  document_key: described(DocumentKey, MEANINGS.documentKey),
  base_revision: described(baseRevision, MEANINGS.baseRevision),
  on_conflict: onConflict,
};
const pushed = described(fields, 'The fields, for `put` and `patch`.');
const opOf = <const Ops extends readonly string[]>(...ops: Ops) => described(oneOf(ops), 'The kind of change.');

/** Each kind of push has its own name and members, because generators ignore members next to `oneOf`. */
const PUSHES = [
  request('PushWrite', { op: opOf('put', 'patch'), ...pushMembers, fields: pushed }),
  request('PushDelete', { op: opOf('delete'), ...pushMembers }),
];

/** A push, whose violations are all reported, also with an unknown `op`. */
export const Push = v.pipe(
  v.strictObject({ op: opOf('put', 'patch', 'delete'), ...pushMembers, fields: optional(pushed) }),
  v.forward(
    v.check(
      ({ op, fields }) => (op === 'delete') === (fields === undefined),
      'is required for put and patch, and not allowed for delete',
    ),
    ['fields'],
  ),
);
export type Push = v.InferOutput<typeof Push>;

/** A push in a request. It is validated separately (`Push`), because an invalid one must not stop the others. */
const UncheckedPush = v.pipe(v.unknown(), v.metadata({ alternatives: PUSHES }));

/** The document of a push that can be invalid. */
export const documentOf = (push: unknown): string =>
  isJsonObject(push) && typeof push.document_key === 'string' ? push.document_key : '';

const Known = v.pipe(
  jsonObject,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const entries = Object.entries(dataset.value);
    if (entries.length > MAX_KNOWN) addIssue({ message: `must have at most ${MAX_KNOWN} members` });
    else if (!entries.every(([, revision]) => v.is(baseRevision, revision)))
      addIssue({ message: 'must map document keys to revisions' });
  }),
  v.transform(
    (value) => new Map(Object.entries(value).map(([key, revision]) => [key, v.parse(baseRevision, revision)])),
  ),
  v.metadata({
    jsonSchema: {
      type: 'object',
      maxProperties: MAX_KNOWN,
      additionalProperties: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    },
  }),
);

const members = v.strictObject({
  node_id: described(NodeId, MEANINGS.nodeId),
  sync_id: optional(
    described(
      v.pipe(v.string('must be a string'), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 _ -')),
      'Identifies one cycle. Use a new one for each cycle. For 24 hours, a repeated request returns the stored result of each push, so no push takes effect twice. It belongs to the key, or to the `user` of the token, and to the node. Without it, the service generates one, and only later pages can be repeated. For credentials without `write` it has no effect.',
    ),
  ),
  pattern: optional(
    described(Pattern, 'The documents of the cycle: a document key in which a whole segment may be `*`.'),
  ),
  patterns: optional(
    described(
      // Generated clients send an empty list for an absent one.
      v.pipe(
        uniqueList(Pattern, 0, MAX_PATTERNS),
        v.transform((patterns) => (patterns.length > 0 ? patterns : undefined)),
      ),
      'Several patterns, in place of `pattern`. An empty list means the same as its absence.',
    ),
  ),
  push: described(
    list(UncheckedPush, 0, MAX_PUSHES),
    'The changes. The service applies each independently, so a rejected one does not stop the others, whatever is wrong with it.',
  ),
  known: optional(
    described(
      Known,
      'The revision of every document that the node has. Send it on every page of a cycle without `since`.',
    ),
  ),
  since: optional(
    described(
      CursorText,
      'The `checkpoint` of an earlier cycle with the same patterns, in place of `known`, which is then absent or empty.',
    ),
  ),
  cursor: optional(described(CursorText, 'The cursor of the last response of this cycle.')),
  limit: v.nullish(described(integer(1, MAX_SYNC_PAGE), 'The maximum number of changes per page.'), 50),
});
type Members = v.InferOutput<typeof members>;

/** Rules about several members. */
const combinations = v.rawCheck<Members>(({ dataset, addIssue }) => {
  if (!dataset.typed) return;
  const { pattern, patterns, known, since } = dataset.value;
  const reject = (member: keyof Members, message: string) =>
    addIssue({ message, path: [pathItem(dataset.value, member)] });
  if (pattern === undefined && patterns === undefined) reject('pattern', 'is required');
  if (pattern !== undefined && patterns !== undefined) reject('patterns', 'must not be sent together with pattern');
  if (since !== undefined && known && known.size > 0) reject('known', 'must not be sent together with since');
});

export const SyncCycle = v.pipe(members, combinations, v.title('SyncCycle'));

/** The patterns of a request, in an order that does not depend on that of the request. */
export const patternsOf = ({ pattern, patterns }: Pick<Members, 'pattern' | 'patterns'>) =>
  pattern === undefined ? [...(patterns ?? [])].sort() : [pattern];

const PUSH_STATUSES = ['applied', 'merged', 'unchanged', 'rejected'] as const;
export const PushResult = resource('PushResult', {
  document_key: described(v.string(), 'The `document_key` of the push. Empty if the push has none.'),
  status: described(
    v.picklist(PUSH_STATUSES),
    '`merged`: applied together with concurrent changes. `unchanged`: the document already had these values, or the stored ones won. `rejected`: see `code`.',
  ),
  revision: described(
    v.nullable(wholeNumber()),
    'The revision of the document after the push; `null` if the push was rejected.',
  ),
  conflicts: described(v.array(ConflictResource), MEANINGS.conflicts),
  code: v.optional(described(v.string(), 'The error code of a rejected push.')),
  detail: v.optional(described(v.string(), 'Why the push was rejected, and what to do.')),
});
export type PushResult = v.InferOutput<typeof PushResult>;

export const SyncResult = resource('SyncResult', {
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
    'Documents whose revision differs from `known`, or that have changed since the checkpoint, in pages. Also known documents that do not exist, with `revision` 0.',
  ),
  cursor: described(v.nullable(v.string()), 'The cursor of the next request of the cycle, or `null` at its end.'),
  has_more: described(v.boolean(), 'Whether another page follows. The last page ends the cycle.'),
  checkpoint: described(
    v.nullable(v.string()),
    'The `since` of the next cycle with the same patterns. `null` before the last page, and for a token without `read`.',
  ),
});
