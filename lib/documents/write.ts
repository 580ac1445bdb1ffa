import { optimistically } from '../concurrency.ts';
import { isTooLarge, newEvent } from '../events/event.ts';
import type { Random } from '../ids.ts';
import type { Space } from '../space.ts';
import type { DocumentState } from './document.ts';
import { type Merge, merge, type Write } from './merge.ts';
import type { DocumentStore } from './store.ts';

export interface DocumentWriter {
  documents: DocumentStore;
  clock(): number;
  random: Random;
}

export type Written = Merge | { outcome: 'events_too_large' };

/**
 * Reads, merges and saves a document, and repeats this after a concurrent write. `admit` checks preconditions,
 * and returns the rejection if they are false. Throws a
 * `ConflictError` if other writers were always faster. Nothing was changed then.
 */
export async function writeDocument<Rejection>(
  { documents, clock, random }: DocumentWriter,
  space: Space,
  write: Write,
  admit: (current: DocumentState | undefined) => Rejection | undefined,
): Promise<Written | Rejection> {
  return optimistically(async () => {
    const current = await documents.get(space, write.documentKey);
    const rejection = admit(current);
    if (rejection !== undefined) return rejection;
    const now = clock();
    const merged = merge(current, write, now);
    if (merged.outcome !== 'changed') return merged;
    const events = merged.events.map((event) => newEvent({ ...space, at: now, ...event }, random));
    if (events.some(isTooLarge)) return { outcome: 'events_too_large' };
    return (await documents.save(space, write.documentKey, current?.revision ?? 0, merged.state, events))
      ? merged
      : undefined;
  });
}
