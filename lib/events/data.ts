import * as v from 'valibot';
import { DocumentKey } from '../documents/document.ts';
import { examined } from '../lists.ts';
import { anyJson, DATE_TIME_SCHEMA, described, integer, iso, jsonObject, timestampInput } from '../schema.ts';
import { type EventType, MEANINGS } from './types.ts';

// A table, a queue and every Unicode encoding reject lone surrogates.
const name = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must not be empty'),
  v.check((value) => value.isWellFormed(), 'must not contain lone surrogates'),
);
const count = integer(0, Number.MAX_SAFE_INTEGER);
const revision = integer(1, Number.MAX_SAFE_INTEGER);
const side = v.looseObject(
  {
    value: described(anyJson, 'The value; `null` if the field was removed.'),
    origin: described(name, 'The node that wrote the value.'),
    revision: described(count, 'The revision at which it was written.'),
  },
  'must be an object',
);
/** A list of at least one object. Additional members are allowed. */
const objects = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  v.pipe(examined(v.looseObject(entries, 'must be an object')), v.minLength(1, 'must have at least 1 entry'));
const time = v.pipe(timestampInput, v.transform(iso), v.metadata({ jsonSchema: DATE_TIME_SCHEMA }));

const field = described(v.string('must be a string'), 'The name of the field.');
const documentKey = described(DocumentKey, MEANINGS.documentKey);
const documentRevision = described(revision, MEANINGS.revision);
const origin = described(name, MEANINGS.origin);

const COUNTED = 'Absent only if an engine published the event and does not count them.';

const schemas = {
  'document.created': v.looseObject({
    document_key: documentKey,
    revision: documentRevision,
    fields: described(jsonObject, MEANINGS.fields),
    origin,
  }),
  'document.changed': v.looseObject({
    document_key: documentKey,
    changes: described(
      objects({
        field,
        old_value: described(
          anyJson,
          'The value before; `null` if the field was added, or if the publisher does not know it.',
        ),
        new_value: described(anyJson, 'The value after; `null` if the field was removed.'),
        origin,
        delta: v.optional(
          described(
            anyJson,
            'The change in the format of the engine that published it, such as a Yjs update in base64.',
          ),
        ),
      }),
      'One entry for every changed field. To keep a copy of the document, compare `revision` for each field.',
    ),
    revision: documentRevision,
  }),
  'document.deleted': v.looseObject({
    document_key: documentKey,
    revision: documentRevision,
    origin,
  }),
  'sync.conflict': v.looseObject({
    document_key: documentKey,
    revision: documentRevision,
    base_revision: described(count, MEANINGS.baseRevision),
    sync_id: described(
      v.nullable(v.string('must be a string or null')),
      'The sync cycle; `null` if the write was not part of one.',
    ),
    resolution: described(name, 'The rule that resolved the conflict.'),
    conflicts: described(
      objects({
        field,
        winner: described(side, 'The current value of the field.'),
        loser: described(side, 'The value of the other side.'),
      }),
      MEANINGS.conflicts,
    ),
  }),
  'sync.completed': v.looseObject({
    sync_id: described(name, 'Identifies the sync cycle.'),
    node_id: described(name, MEANINGS.nodeId),
    pattern: described(v.nullable(name), 'The documents of the cycle; `null` if it had several patterns.'),
    patterns: v.optional(described(v.array(name, 'must be an array'), 'The patterns of a cycle with several.')),
    pushed: v.optional(described(count, `Pushes that were applied. ${COUNTED}`)),
    pulled: v.optional(described(count, `Documents that the response returned. ${COUNTED}`)),
    conflicts: v.optional(described(count, `Conflicts of all pushes, also of rejected ones. ${COUNTED}`)),
    started_at: described(time, 'When the cycle started.'),
    completed_at: described(time, 'When the cycle ended.'),
  }),
  'connection.lost': v.looseObject({
    connection_id: described(name, 'Identifies the connection.'),
    node_id: described(name, MEANINGS.nodeId),
    document_key: v.optional(described(DocumentKey, 'The document that the connection was for, if it was named.')),
    user: v.optional(described(name, 'The user who was connected, if it was named.')),
    connected_at: described(time, 'When the connection was opened.'),
    last_seen_at: described(time, 'When the lease was last renewed.'),
    lost_at: described(time, 'When the lease expired.'),
  }),
};

// An interface, because the compiler names it in its messages. It would print the schemas of a type.
interface Schemas extends Readonly<typeof schemas> {}
const ofTypes: Schemas = schemas;
/** `data` of each type. Additional members are allowed. */
export const EVENT_DATA: Readonly<Record<EventType, v.GenericSchema>> = ofTypes;

export type EventData<Type extends keyof Schemas = keyof Schemas> = v.InferInput<Schemas[Type]>;

/** A plausible event of a type, for `POST /v1/webhooks/{id}/test`. */
export function sampleData(type: EventType, at: number): EventData {
  const document_key = 'org:acme:doc-1';
  const origin = 'sample-node';
  const seconds = (n: number) => iso(at - n * 1000);
  const samples: Readonly<Record<EventType, EventData>> & { [Type in keyof Schemas]: EventData<Type> } = {
    'document.created': { document_key, revision: 1, fields: { title: 'Draft' }, origin },
    'document.changed': {
      document_key,
      changes: [{ field: 'title', old_value: 'Draft', new_value: 'Final', origin }],
      revision: 2,
    },
    'document.deleted': { document_key, revision: 3, origin },
    'sync.conflict': {
      document_key,
      revision: 2,
      base_revision: 1,
      sync_id: null,
      resolution: 'last_write_wins',
      conflicts: [
        {
          field: 'title',
          winner: { value: 'Final', origin, revision: 2 },
          loser: { value: 'Draft', origin: 'other-node', revision: 1 },
        },
      ],
    },
    'sync.completed': {
      sync_id: 'syn_sample',
      node_id: origin,
      pattern: 'org:acme:*',
      pushed: 1,
      pulled: 2,
      conflicts: 0,
      started_at: seconds(1),
      completed_at: seconds(0),
    },
    'connection.lost': {
      connection_id: 'con_sample',
      node_id: origin,
      document_key,
      user: 'user-7',
      connected_at: seconds(120),
      last_seen_at: seconds(60),
      lost_at: seconds(0),
    },
  };
  return samples[type];
}
