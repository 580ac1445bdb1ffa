import type { Backend } from '../aws/backend.ts';
import { conditionCheck, is, isNew, put } from '../aws/expressions.ts';
import { type Item, type ItemKey, itemKey, keyOf, timeToLive } from '../aws/items.ts';
import { rangeQuery } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { optimistically } from '../concurrency.ts';
import { isTooLarge, newEvents, type StoredEvent } from '../events/event.ts';
import { putEvents } from '../events/store.ts';
import { parseJson } from '../json.ts';
import type { Space } from '../space.ts';
import { LOGGED_MS, partsOf, placeOf } from './change-log.ts';
import type { DocumentState } from './document.ts';
import type { DocumentWrite } from './document-write.ts';
import { merge } from './merge.ts';
import type { KeyRange } from './patterns.ts';
import { hasLargeConflicts, type WriteOutcome } from './rejections.ts';

/** Documents, including deleted ones. Their JSON is stored as text, so that no number loses digits. */
export function documents(table: Table) {
  return {
    async get(space: Space, documentKey: string): Promise<DocumentState | undefined> {
      const item = await table.get(itemKey.document(space, documentKey));
      return item && toState(item);
    },

    /** Returns the document of each key, also if it is deleted. */
    async getAll(space: Space, documentKeys: readonly string[]): Promise<(DocumentState | undefined)[]> {
      const items = await table.batchGet(documentKeys.map((key) => itemKey.document(space, key)));
      return items.map((item) => item && toState(item));
    },

    /** Lists the items of documents. `toState` parses them, so that only needed documents are parsed. */
    list: lister(itemKey.document, ({ sk }) => sk),

    /** Lists the revisions of documents, also of deleted ones. They show changes in few bytes. */
    revisions: lister(itemKey.revision, ({ sk }) => sk),

    /** Lists the entries of the log of changes. */
    changes: lister(
      (space, place) => {
        const { partition, entry } = partsOf(place);
        return itemKey.change(space, partition, entry);
      },
      ({ pk, sk }) => pk.slice(-1) + sk,
    ),

    /**
     * Stores the new state, its events and `also` in one transaction, if the document still has the revision `before`. 0 means
     * that it never existed.
     */
    async save(
      space: Space,
      documentKey: string,
      before: number,
      state: DocumentState,
      events: readonly StoredEvent[],
      also: readonly Write[] = [],
    ): Promise<boolean> {
      const { fields, marks, ...rest } = state;
      const Item = {
        ...itemKey.document(space, documentKey),
        ...rest,
        fields: JSON.stringify(fields),
        marks: JSON.stringify(marks),
      };
      const { revision, updatedAt } = state;
      const { partition, entry } = partsOf(placeOf(documentKey, updatedAt));
      const saved = put(Item, before === 0 ? isNew : is('revision', before));
      const listed = put({ ...itemKey.revision(space, documentKey), revision, updatedAt });
      const logged = put({
        ...itemKey.change(space, partition, entry),
        expires: timeToLive(updatedAt + LOGGED_MS),
      });
      return (await table.write([saved, listed, logged, ...putEvents(events), ...also])).length === 0;
    },

    /** Stores events and `also` in one transaction, if the document still has the revision. */
    async publish(
      space: Space,
      documentKey: string,
      { revision }: DocumentState,
      events: readonly StoredEvent[],
      also: readonly Write[],
    ): Promise<boolean> {
      const unchanged = conditionCheck(itemKey.document(space, documentKey), is('revision', revision));
      return (await table.write([unchanged, ...putEvents(events), ...also])).length === 0;
    },
  };

  /**
   * Lists the next items after the place `after` in one of the ranges of places, at most `limit` or 1 MB. The ranges are in order.
   * `next` is the place of the next page, if there is one, and `isCut` says that it is in the same range.
   */
  function lister(keyAt: (space: Space, place: string) => ItemKey, placeIn: (key: ItemKey) => string) {
    return async (space: Space, ranges: readonly KeyRange[], limit: number, after = '') => {
      const i = ranges.findIndex(({ last }) => after < last);
      const range = ranges[i];
      if (!range) return { items: [], next: undefined, isCut: false };
      const first = keyAt(space, range.first);
      const { items, next } = await table.query({
        ...rangeQuery(first.pk, { first: first.sk, last: keyAt(space, range.last).sk }),
        Limit: limit,
        // DynamoDB rejects a position outside the range.
        after: after >= range.first ? keyAt(space, after) : undefined,
      });
      const end = i + 1 < ranges.length ? range.last : undefined;
      return {
        items: items.map((item) => ({ place: placeIn(keyOf(item)), item })),
        next: next ? placeIn(next) : end,
        isCut: next !== undefined,
      };
    };
  }
}

export function toState(item: Item): DocumentState {
  const { pk: _, sk: __, ...rest } = item;
  return {
    ...rest,
    fields: parseJson(String(item.fields)),
    marks: JSON.parse(String(item.marks)),
  } as unknown as DocumentState;
}

export type DocumentStore = ReturnType<typeof documents>;

/** A write of a document, and what a caller adds to it. */
interface DocumentChange<Response> extends DocumentWrite {
  /**
   * Returns the response without a write, for example if a precondition is false. It runs again if the document has changed since,
   * and `tries` counts the runs.
   */
  admit(current: DocumentState | undefined, tries: number): Response | undefined | Promise<Response | undefined>;
  /** Further writes of the same transaction. */
  also(outcome: WriteOutcome): readonly Write[];
}

/**
 * Reads, merges and saves a document, and repeats this after a concurrent write. `also` is stored together with the change, or alone
 * if nothing changes. Throws a `ConflictError` if other writers were always faster. Nothing was changed then.
 */
export async function writeDocument<Response>(
  { table, clock, random }: Backend,
  space: Space,
  change: DocumentChange<Response>,
): Promise<WriteOutcome | Response> {
  const { documentKey, admit, also } = change;
  const { get, save, publish } = documents(table);
  const epoch = await table.epoch();
  let tries = 0;
  return optimistically(async () => {
    const current = await get(space, documentKey);
    const response = await admit(current, ++tries);
    if (response !== undefined) return response;
    const now = clock();
    const merged = merge(current, change, now, epoch);
    const events = 'events' in merged ? newEvents({ ...space, at: now }, merged.events, random) : [];
    const outcome =
      events.some(isTooLarge) || hasLargeConflicts(merged) ? ({ outcome: 'events_too_large' } as const) : merged;
    const more = also(outcome);
    const store = async (): Promise<boolean> => {
      if (outcome.outcome === 'changed')
        return save(space, documentKey, current?.revision ?? 0, outcome.state, events, more);
      if (outcome.outcome === 'stays_deleted') return publish(space, documentKey, outcome.state, events, more);
      return more.length === 0 || (await table.write(more)).length === 0;
    };
    return (await store()) ? outcome : undefined;
  });
}
