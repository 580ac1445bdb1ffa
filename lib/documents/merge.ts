import type { EventData } from '../events/data.ts';
import type { Json } from '../json.ts';
import {
  type Conflict,
  type DocumentState,
  type Fields,
  MAX_DOCUMENT_BYTES,
  MAX_FIELDS,
  type Mark,
  type OnConflict,
  sameJson,
} from './document.ts';

/** The maximum bytes of marks in a document. Above it, the marks of the fields that were removed first are dropped. */
const MAX_MARKS_BYTES = 214 * 1024;

/** A requested change. `put` replaces all fields, `patch` the given ones (`null` removes a field), and `delete` removes all. */
export interface Write {
  op: 'put' | 'patch' | 'delete';
  documentKey: string;
  /** Empty for a `delete`. */
  fields: Fields;
  /** The revision that the writer had seen. The default is the current one. */
  baseRevision: number | undefined;
  onConflict: OnConflict;
  origin: string;
  syncId: string | null;
}

type DocumentEvent = {
  [Type in 'document.created' | 'document.changed' | 'document.deleted' | 'sync.conflict']: {
    type: Type;
    data: EventData<Type>;
  };
}['document.created' | 'document.changed' | 'document.deleted' | 'sync.conflict'];

export type Merge =
  | { outcome: 'changed'; state: DocumentState; created: boolean; conflicts: Conflict[]; events: DocumentEvent[] }
  | { outcome: 'unchanged'; state: DocumentState | undefined; conflicts: Conflict[] }
  | { outcome: 'conflict'; conflicts: Conflict[] }
  | { outcome: 'future_base' }
  | { outcome: 'too_large' };

/**
 * Applies a write to the stored document. A field conflicts if it has changed after `baseRevision` to a value other than the
 * requested one. `null` means absent, so a `null` in a put removes the field. An effective write raises the revision by one. A
 * write that changes nothing has no event.
 */
export function merge(current: DocumentState | undefined, write: Write, nowMs: number): Merge {
  const { baseRevision, onConflict } = write;
  const stored = current ?? { ...EMPTY, createdAt: nowMs, updatedAt: nowMs };
  if (baseRevision !== undefined && baseRevision > stored.revision) return { outcome: 'future_base' };
  const differing = Object.entries(wanted(stored.fields, write)).filter(
    ([field, value]) => !sameJson(own(stored.fields, field), value),
  );
  const disputed = new Set(
    differing
      .map(([field]) => field)
      .filter((field) => baseRevision !== undefined && markOf(stored, field)[0] > baseRevision),
  );
  const revision = stored.revision + 1;
  const conflicts = differing.flatMap(([field, value]) =>
    disputed.has(field) ? [conflictOf(stored, write, revision, field, value)] : [],
  );
  if (conflicts.length > 0 && onConflict === 'reject') return { outcome: 'conflict', conflicts };

  const applied = onConflict === 'keep_server' ? differing.filter(([field]) => !disputed.has(field)) : differing;
  if (!isEffective(stored, write, applied, conflicts)) return { outcome: 'unchanged', state: current, conflicts };
  const state =
    write.op === 'delete' ? emptied(stored, write, revision, nowMs) : changed(stored, write, applied, revision, nowMs);
  if (!state) return { outcome: 'too_large' };
  const created = stored.deleted;
  return { outcome: 'changed', state, created, conflicts, events: eventsOf(stored, state, write, applied, conflicts) };
}

const EMPTY = { revision: 0, fields: {}, marks: {}, floor: [0, ''] as Mark, deleted: true };

// Customers choose the names of fields, so `__proto__` is a valid name.
const own = (fields: Fields, field: string): Json | undefined =>
  Object.hasOwn(fields, field) ? fields[field] : undefined;

function wanted(stored: Fields, { op, fields }: Write): Fields {
  if (op === 'patch') return fields;
  const removed = Object.keys(stored).map((field): [string, Json] => [field, null]);
  return Object.fromEntries([...removed, ...Object.entries(fields)]);
}

const markOf = ({ marks, floor }: DocumentState, field: string): Mark =>
  Object.hasOwn(marks, field) ? (marks[field] as Mark) : floor;

function conflictOf(stored: DocumentState, write: Write, revision: number, field: string, value: Json): Conflict {
  const [theirRevision, theirOrigin] = markOf(stored, field);
  const theirs = { value: own(stored.fields, field) ?? null, origin: theirOrigin, revision: theirRevision };
  const isKept = write.onConflict !== 'last_write_wins';
  const ours = { value, origin: write.origin, revision: isKept ? (write.baseRevision ?? 0) : revision };
  return isKept ? { field, winner: theirs, loser: ours } : { field, winner: ours, loser: theirs };
}

// A put creates a missing document, even without fields. A delete that lost a conflict deletes nothing.
function isEffective(
  { deleted }: DocumentState,
  { op, onConflict }: Write,
  applied: unknown[],
  conflicts: Conflict[],
): boolean {
  const isKept = onConflict === 'keep_server' && conflicts.length > 0;
  if (op === 'delete') return !deleted && !isKept;
  const creates = deleted && op === 'put' && !isKept;
  return creates || applied.length > 0;
}

function emptied(stored: DocumentState, { origin }: Write, revision: number, nowMs: number): DocumentState {
  return { ...stored, revision, fields: {}, marks: {}, floor: [revision, origin], deleted: true, updatedAt: nowMs };
}

function changed(
  stored: DocumentState,
  write: Write,
  applied: [string, Json][],
  revision: number,
  nowMs: number,
): DocumentState | null {
  const fields = new Map(Object.entries(stored.fields));
  const marks = new Map(Object.entries(stored.marks));
  for (const [field, value] of applied) {
    if (value === null) fields.delete(field);
    else fields.set(field, value);
    marks.set(field, [revision, write.origin]);
  }
  const fieldValues = Object.fromEntries(fields);
  if (fields.size > MAX_FIELDS || Buffer.byteLength(JSON.stringify(fieldValues)) > MAX_DOCUMENT_BYTES) return null;
  const createdAt = stored.deleted ? nowMs : stored.createdAt;
  const state = {
    ...stored,
    revision,
    fields: fieldValues,
    marks: Object.fromEntries(marks),
    deleted: false,
    createdAt,
    updatedAt: nowMs,
  };
  return withoutOldMarks(state);
}

function withoutOldMarks(state: DocumentState): DocumentState {
  if (Buffer.byteLength(JSON.stringify(state.marks)) <= MAX_MARKS_BYTES) return state;
  const removed = Object.entries(state.marks).filter(([field]) => !Object.hasOwn(state.fields, field));
  const newest = removed.sort(([, [a]], [, [b]]) => b - a).slice(0, Math.floor(removed.length / 2));
  const floor = removed[newest.length]?.[1] ?? state.floor;
  const present = Object.entries(state.marks).filter(([field]) => Object.hasOwn(state.fields, field));
  return { ...state, marks: Object.fromEntries([...present, ...newest]), floor };
}

function eventsOf(
  stored: DocumentState,
  state: DocumentState,
  write: Write,
  applied: [string, Json][],
  conflicts: Conflict[],
): DocumentEvent[] {
  const { documentKey: document_key, origin, syncId: sync_id, baseRevision, onConflict: resolution } = write;
  const { revision, fields } = state;
  const events: DocumentEvent[] = [];
  if (write.op === 'delete') events.push({ type: 'document.deleted', data: { document_key, revision, origin } });
  else if (stored.deleted) events.push({ type: 'document.created', data: { document_key, revision, fields, origin } });
  else {
    const changes = applied.map(([field, value]) => ({
      field,
      old_value: own(stored.fields, field) ?? null,
      new_value: value,
      origin,
    }));
    events.push({ type: 'document.changed', data: { document_key, changes, revision } });
  }
  if (conflicts.length > 0) {
    const data = { document_key, revision, base_revision: baseRevision ?? 0, sync_id, resolution, conflicts };
    events.push({ type: 'sync.conflict', data });
  }
  return events;
}
