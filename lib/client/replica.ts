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
export function applyChange(replica: Replica = NOTHING, { type, data }: ChangeEvent): Replica {
  if (!CHANGES.includes(type)) return replica;
  const { revision, fields = {}, changes = [] } = data as ChangeData;
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
export function fieldsOf(replica: Replica | undefined): Record<string, unknown> | null {
  if (!replica || replica.revision === replica.cleared) return null;
  const present = Object.entries(replica.fields).filter(([, { value }]) => value !== null);
  return Object.fromEntries(present.map(([name, { value }]) => [name, value]));
}
