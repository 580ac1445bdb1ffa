import type { NewEvent } from '../publisher-types.ts';
import { type Fields, isEqual, type Json } from './json-values.ts';

/** A document as its events describe it. `fields` is `null` after its deletion, and before its first event. */
export interface Published {
  revision: number;
  fields: Fields | null;
}

interface Change {
  field: string;
  old_value: Json;
  new_value: Json;
  origin: string;
  /** The values that are `null` because the event would be too large. */
  omitted?: string[];
}

/** An event has at most 256 KiB, with its id, its times and the key of its document. */
const MAX_BYTES = 256 * 1024 - 2048;
const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length + 1;

/**
 * Returns the next event on the way from the published document to its current fields, and the document after it. Returns `null` if
 * nothing has changed. What does not fit into one event is left for the next one, so a large field delays no other.
 */
export function nextEvent(
  document_key: string,
  { revision: last, fields: before }: Published,
  after: Fields | null,
  origin: string,
): { event: NewEvent; published: Published } | null {
  const revision = last + 1;
  const document = { document_key, revision };
  if (after === null) {
    if (before === null) return null;
    return {
      event: { type: 'document.deleted', data: { ...document, origin } },
      published: { revision, fields: null },
    };
  }
  if (before === null) {
    if (Object.keys(after).length === 0) return null; // an engine can load a document that does not exist
    const fields = Object.fromEntries(fitting(Object.entries(after)));
    return {
      event: { type: 'document.created', data: { ...document, fields, origin } },
      published: { revision, fields },
    };
  }
  const [first, ...others] = changesBetween(before, after, origin);
  if (!first) return null;
  const changes = fitting([shortened(first), ...others]);
  const fields = new Map(Object.entries(before));
  for (const { field } of changes) {
    const value = new Map(Object.entries(after)).get(field);
    if (value === undefined) fields.delete(field);
    else fields.set(field, value);
  }
  return {
    event: { type: 'document.changed', data: { ...document, changes } },
    published: { revision, fields: Object.fromEntries(fields) },
  };
}

function changesBetween(before: Fields, after: Fields, origin: string): Change[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Map([...old, ...now]).keys()]
    .filter((field) => !isEqual(old.get(field), now.get(field)))
    .map((field) => ({ field, old_value: old.get(field) ?? null, new_value: now.get(field) ?? null, origin }));
}

/** Returns the first entries, and further ones, that fit into an event together. An entry that is too large is left out. */
function fitting<Entry>(entries: readonly Entry[]): Entry[] {
  let bytes = 0;
  return entries.filter((entry) => {
    const size = bytesOf(entry);
    if (bytes + size > MAX_BYTES) return false;
    bytes += size;
    return true;
  });
}

/** Leaves out the old value of a change that fits into no event, or both values. `omitted` names what is left out. */
function shortened(change: Change): Change {
  const without = (...sides: ('old_value' | 'new_value')[]): Change => ({
    ...change,
    ...Object.fromEntries(sides.map((side) => [side, null])),
    omitted: sides.filter((side) => change[side] !== null),
  });
  const candidates = [change, without('old_value'), without('old_value', 'new_value')];
  return candidates.find((candidate) => bytesOf(candidate) <= MAX_BYTES) ?? change;
}
