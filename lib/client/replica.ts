import { isCount, isObject, isText, requireArgument } from './arguments.ts';

/**
 * A copy of one document, built from its events. It is plain JSON, so a database can store it. Removed fields and the last deletion
 * stay in it, because older events can arrive later.
 */
export interface Replica {
  /** The greatest revision that has arrived. If it equals `cleared`, the document does not exist. */
  revision: number;
  /** Older changes have no effect, because a deletion or a creation replaced them. */
  cleared: number;
  /** The fields with the revision that wrote each one. The value of a removed field is `null`. */
  fields: Record<string, { value: unknown; revision: number }>;
}

/** Databases return `null` for a document that they do not have. */
type StoredReplica = Replica | null | undefined;

/** An event of any type. A replica changes only with `document.created`, `document.changed` and `document.deleted`. */
export interface ChangeEvent {
  type: string;
  data: object;
}

interface ChangeData {
  revision: number;
  fields?: Record<string, unknown>;
  changes?: readonly { field: string; new_value: unknown }[];
}

const NOTHING: Replica = { revision: 0, cleared: 0, fields: {} };
const CHANGES = ['document.created', 'document.changed', 'document.deleted'];

/**
 * Returns the replica after an event of its document, and changes neither argument. The result is the same in any order of the
 * events and with any duplicates. Other types of events change nothing.
 */
export function applyChange(stored: StoredReplica, event: ChangeEvent): Replica {
  requireReplica(stored);
  const replica = stored ?? NOTHING;
  requireArgument(isObject(event) && isText(event.type), 'an event as an object, such as the result of verify', event);
  const { type, data } = event;
  if (!CHANGES.includes(type)) return replica;
  requireChange(data);
  const { revision, fields = {}, changes = [] } = data;
  const replaced = { 'document.created': revision - 1, 'document.deleted': revision }[type] ?? 0;
  const cleared = Math.max(replica.cleared, replaced);
  // A map, because a field can be called `__proto__`.
  const kept = new Map(Object.entries(replica.fields).filter(([, field]) => field.revision > cleared));
  const written = new Map([
    ...Object.entries(fields),
    ...changes.map(({ field, new_value }): [string, unknown] => [field, new_value]),
  ]);
  for (const [name, value] of written)
    if (revision > (kept.get(name)?.revision ?? cleared)) kept.set(name, { value, revision });
  return { revision: Math.max(replica.revision, revision), cleared, fields: Object.fromEntries(kept) };
}

/** Returns the fields of the document, or `null` if it does not exist. */
export function fieldsOf(replica: StoredReplica): Record<string, unknown> | null {
  requireReplica(replica);
  if (!replica || replica.revision === replica.cleared) return null;
  const present = Object.entries(replica.fields).filter(([, { value }]) => value !== null);
  return Object.fromEntries(present.map(([name, { value }]) => [name, value]));
}

/** A database can return the text of a replica. */
function requireReplica(replica: unknown): void {
  if (replica === undefined || replica === null) return;
  const isReplica =
    isObject(replica) && isCount(replica.revision) && isCount(replica.cleared) && isObject(replica.fields);
  requireArgument(isReplica, 'a replica as an object that applyChange returned, or null', replica);
}

/** Another shape would change the replica, and the events after it would not repair that. */
function requireChange(data: unknown): asserts data is ChangeData {
  const { revision, fields = {}, changes = [] } = isObject(data) ? data : {};
  const isChange = isCount(revision) && isObject(fields) && Array.isArray(changes) && changes.every(isFieldChange);
  requireArgument(isChange, 'an event with the data of the service', data);
}

const isFieldChange = (change: unknown): boolean =>
  isObject(change) && typeof change.field === 'string' && 'new_value' in change;
