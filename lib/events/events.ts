import * as v from 'valibot';
import type { Json } from '../json.ts';
import { anyJson, DATE_TIME_SCHEMA, integer, iso, jsonObject, oneOf, timestamp, timestampInput } from '../schema.ts';
import type { Space } from '../space.ts';
import { EVENT_TYPES, type EventType } from './types.ts';

/** Bytes that an event may have, as stored and sent. */
export const MAX_EVENT_BYTES = 256 * 1024;
/** Events in one batch. */
export const MAX_BATCH = 100;
export const EVENT_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

const name = v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty'));
const count = integer(0, Number.MAX_SAFE_INTEGER);
const revision = integer(1, Number.MAX_SAFE_INTEGER);
const side = v.looseObject({ value: anyJson, origin: name, revision: count }, 'must be an object');
const time = v.pipe(timestampInput, v.transform(iso), v.metadata({ jsonSchema: DATE_TIME_SCHEMA }));

/** `data` of each type (§6); further members are allowed. */
export const EVENT_DATA = {
  'document.created': v.looseObject({ document_key: name, revision, fields: jsonObject, origin: name }),
  'document.changed': v.looseObject({
    document_key: name,
    changes: v.pipe(
      v.array(
        v.looseObject({ field: v.string('must be a string'), old_value: anyJson, new_value: anyJson, origin: name }),
      ),
      v.minLength(1, 'must have at least 1 entry'),
    ),
    revision,
  }),
  'document.deleted': v.looseObject({ document_key: name, revision, origin: name }),
  'sync.conflict': v.looseObject({
    document_key: name,
    revision,
    base_revision: count,
    sync_id: v.nullable(v.string('must be a string or null')),
    resolution: name,
    conflicts: v.pipe(
      v.array(v.looseObject({ field: v.string('must be a string'), winner: side, loser: side })),
      v.minLength(1, 'must have at least 1 entry'),
    ),
  }),
  'sync.completed': v.looseObject({
    sync_id: name,
    node_id: name,
    pattern: name,
    pushed: count,
    pulled: count,
    conflicts: count,
    started_at: time,
    completed_at: time,
  }),
  'connection.lost': v.looseObject({
    connection_id: name,
    node_id: name,
    connected_at: time,
    last_seen_at: time,
    lost_at: time,
  }),
} satisfies Record<EventType, v.GenericSchema>;

export type EventData<Type extends EventType = EventType> = v.InferInput<(typeof EVENT_DATA)[Type]>;

export const PublishEvent = v.pipe(
  v.strictObject({ type: oneOf(EVENT_TYPES), data: jsonObject }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const issue of v.safeParse(EVENT_DATA[dataset.value.type], dataset.value.data).issues ?? []) {
      const path = {
        type: 'object',
        origin: 'value',
        input: dataset.value,
        key: 'data',
        value: dataset.value.data,
      } as const;
      const missing = issue.input === undefined || (issue.type === 'loose_object' && issue.expected !== 'Object');
      addIssue({ message: missing ? 'is required' : issue.message, path: [path, ...((issue.path ?? []) as [])] });
    }
  }),
);
export const PublishEvents = v.strictObject({
  events: v.pipe(
    v.array(PublishEvent, 'must be an array'),
    v.minLength(1, 'must have at least 1 entry'),
    v.maxLength(MAX_BATCH, `must have at most ${MAX_BATCH} entries`),
  ),
});

export const EventResource = v.strictObject({
  id: v.string(),
  type: v.picklist(EVENT_TYPES),
  timestamp,
  data: jsonObject,
});

/** An event as it is stored: `body` is what every delivery sends, byte for byte. */
export interface StoredEvent extends Space {
  id: string;
  type: EventType;
  body: string;
  at: number;
  /** The only webhook it goes to: a test event. */
  webhookId?: string | undefined;
}

export interface NewEvent extends Space {
  id: string;
  at: number;
  type: EventType;
  data: Json | EventData;
  webhookId?: string;
}

/** An immutable event, its body fixed here once and for all. */
export function newEvent({ data, ...event }: NewEvent): StoredEvent {
  const body = JSON.stringify({ id: event.id, type: event.type, timestamp: iso(event.at), data });
  return { ...event, body };
}

export const isTooLarge = ({ body }: Pick<StoredEvent, 'body'>): boolean => Buffer.byteLength(body) > MAX_EVENT_BYTES;

/** A plausible event of a type, for `POST /v1/webhooks/{id}/test`. */
export function sampleData(type: EventType, at: number): EventData {
  const document_key = 'org:acme:doc-1';
  const origin = 'sample-node';
  const seconds = (n: number) => iso(at - n * 1000);
  const samples: { [Type in EventType]: EventData<Type> } = {
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
      connected_at: seconds(120),
      last_seen_at: seconds(60),
      lost_at: seconds(0),
    },
  };
  return samples[type];
}
