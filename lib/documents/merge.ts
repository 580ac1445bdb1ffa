import type { Json } from '../json.ts';
import {
  type Conflict,
  type DocumentState,
  type Fields,
  fieldIn,
  MAX_DOCUMENT_BYTES,
  MAX_FIELDS,
  type Mark,
  sameJson,
} from './document.ts';
import { conflictEvents, type DocumentEvent, type DocumentWrite, eventsOf } from './document-write.ts';
import { nextRevision } from './epochs.ts';

/** The maximum bytes of marks in a document. Above it, the marks of the fields that were removed first are dropped. */
const MAX_MARKS_BYTES = 214 * 1024;

export type Merge =
  | { outcome: 'changed'; state: DocumentState; created: boolean; conflicts: Conflict[]; events: DocumentEvent[] }
  | { outcome: 'unchanged'; state: DocumentState | undefined; conflicts: Conflict[] }
  /** A deletion won over a patch. Nothing changes, but the conflicts have an event. */
  | { outcome: 'stays_deleted'; state: DocumentState; conflicts: Conflict[]; events: DocumentEvent[] }
  | { outcome: 'conflict'; conflicts: Conflict[] }
  | { outcome: 'future_base' }
  | { outcome: 'too_large' };

/**
 * Applies a write to the stored document. A field conflicts if it has changed after `baseRevision` to a value other than the
 * requested one. `null` means absent, so a `null` in a put removes the field. A patch does not create a document again that was
 * deleted after `baseRevision`, because it is not a whole document. An effective write raises the revision by one, or to the
 * first one of a new epoch. A write that changes nothing has no event, except if a deletion won.
 */
export function merge(current: DocumentState | undefined, write: DocumentWrite, nowMs: number, epoch: number): Merge {
  const { baseRevision, onConflict, ownRevisions } = write;
  const stored = current ?? { ...EMPTY, createdAt: nowMs, updatedAt: nowMs };
  if (baseRevision !== undefined && baseRevision > stored.revision) return { outcome: 'future_base' };
  const isNews = ([revision]: Mark): boolean =>
    baseRevision !== undefined && revision > baseRevision && !ownRevisions?.has(revision);
  const differing = Object.entries(wanted(stored.fields, write)).filter(
    ([field, value]) => !sameJson(fieldIn(stored.fields, field), value),
  );
  if (write.op === 'patch' && stored.deleted && isNews(stored.floor) && differing.length > 0) {
    const lost = differing.map(([field, value]) => keptConflict(stored, write, field, value));
    if (onConflict === 'reject') return { outcome: 'conflict', conflicts: lost };
    const events = conflictEvents(stored, write, lost);
    return { outcome: 'stays_deleted', state: stored, conflicts: lost, events };
  }
  const disputed = new Set(differing.map(([field]) => field).filter((field) => isNews(markOf(stored, field))));
  const revision = nextRevision(stored.revision, epoch);
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

function wanted(stored: Fields, { op, fields }: DocumentWrite): Fields {
  if (op === 'patch') return fields;
  const removed = Object.keys(stored).map((field): [string, Json] => [field, null]);
  return Object.fromEntries([...removed, ...Object.entries(fields)]);
}

const markOf = ({ marks, floor }: DocumentState, field: string): Mark =>
  Object.hasOwn(marks, field) ? (marks[field] as Mark) : floor;

function conflictOf(
  stored: DocumentState,
  write: DocumentWrite,
  revision: number,
  field: string,
  value: Json,
): Conflict {
  const kept = keptConflict(stored, write, field, value);
  if (write.onConflict !== 'last_write_wins') return kept;
  return { field, winner: { ...kept.loser, revision }, loser: kept.winner };
}

/** A conflict that the stored document wins. */
function keptConflict(stored: DocumentState, write: DocumentWrite, field: string, value: Json): Conflict {
  const [revision, origin] = markOf(stored, field);
  const winner = { value: fieldIn(stored.fields, field) ?? null, origin, revision };
  return { field, winner, loser: { value, origin: write.origin, revision: write.baseRevision ?? 0 } };
}

// A put creates a missing document, even without fields. A delete that lost a conflict deletes nothing.
function isEffective(
  { deleted }: DocumentState,
  { op, onConflict }: DocumentWrite,
  applied: unknown[],
  conflicts: Conflict[],
): boolean {
  const isKept = onConflict === 'keep_server' && conflicts.length > 0;
  if (op === 'delete') return !deleted && !isKept;
  const creates = deleted && op === 'put' && !isKept;
  return creates || applied.length > 0;
}

function emptied(stored: DocumentState, { origin }: DocumentWrite, revision: number, nowMs: number): DocumentState {
  return { ...stored, revision, fields: {}, marks: {}, floor: [revision, origin], deleted: true, updatedAt: nowMs };
}

function changed(
  stored: DocumentState,
  write: DocumentWrite,
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
