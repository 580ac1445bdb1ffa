import type { EventData } from '../events/data.ts';
import type { Json } from '../json.ts';
import { type Conflict, type DocumentState, type Fields, fieldIn, type OnConflict } from './document.ts';

/** A requested change. `put` replaces all fields, `patch` the given ones (`null` removes a field), and `delete` removes all. */
export interface DocumentWrite {
  op: 'put' | 'patch' | 'delete';
  documentKey: string;
  /** Empty for a `delete`. */
  fields: Fields;
  /** The revision that the writer had seen. The default is the current one. */
  baseRevision: number | undefined;
  onConflict: OnConflict;
  origin: string;
  syncId: string | null;
  /** The revisions that earlier pushes of the same request wrote. The writer knows them, whatever its base. */
  ownRevisions?: ReadonlySet<number>;
}

type WriteEventType = 'document.created' | 'document.changed' | 'document.deleted' | 'sync.conflict';

/** An event of a write, before it has an id. */
export type DocumentEvent = { [Type in WriteEventType]: { type: Type; data: EventData<Type> } }[WriteEventType];

/** The events of a write that changed `before` to `after`. */
export function eventsOf(
  before: DocumentState,
  after: DocumentState,
  write: DocumentWrite,
  applied: readonly [string, Json][],
  conflicts: Conflict[],
): DocumentEvent[] {
  return [changeEvent(before, after, write, applied), ...conflictEvents(after, write, conflicts)];
}

function changeEvent(
  before: DocumentState,
  { revision, fields }: DocumentState,
  { op, documentKey: document_key, origin }: DocumentWrite,
  applied: readonly [string, Json][],
): DocumentEvent {
  if (op === 'delete') return { type: 'document.deleted', data: { document_key, revision, origin } };
  if (before.deleted) return { type: 'document.created', data: { document_key, revision, fields, origin } };
  const changes = applied.map(([field, value]) => ({
    field,
    old_value: fieldIn(before.fields, field) ?? null,
    new_value: value,
    origin,
  }));
  return { type: 'document.changed', data: { document_key, changes, revision } };
}

/** The event about the conflicts of a write, after which the document has this state. */
export function conflictEvents(
  { revision }: DocumentState,
  write: DocumentWrite,
  conflicts: Conflict[],
): DocumentEvent[] {
  if (conflicts.length === 0) return [];
  const { documentKey: document_key, baseRevision, syncId: sync_id, onConflict: resolution } = write;
  const data = { document_key, revision, base_revision: baseRevision ?? 0, sync_id, resolution, conflicts };
  return [{ type: 'sync.conflict', data }];
}
