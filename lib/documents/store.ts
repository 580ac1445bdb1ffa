import { all, any, type Condition, is, isAbsent, isAtLeast, isNew, put, update } from '../aws/expressions.ts';
import { type Item, type ItemKey, itemKey, timeToLive } from '../aws/items.ts';
import { rangeQuery } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../events/event.ts';
import { putEvent } from '../events/store.ts';
import { parseJson } from '../json.ts';
import type { Space } from '../space.ts';
import type { DocumentState } from './document.ts';
import type { FoundDocument, FoundRevision } from './pages.ts';
import type { KeyRange } from './patterns.ts';
import { CYCLE_REPEAT_MS, type CycleClaim } from './sync.ts';

/** Documents, including deleted ones. Their JSON is stored as text, so that no number loses digits. */
export function documents(table: Table) {
  return {
    async get(space: Space, documentKey: string): Promise<DocumentState | undefined> {
      const item = await table.get(itemKey.document(space, documentKey));
      return item && toState(item);
    },

    /** Lists documents in the order of their keys, including deleted ones. */
    async getAll(space: Space, documentKeys: readonly string[]): Promise<(DocumentState | undefined)[]> {
      const items = await table.batchGet(documentKeys.map((key) => itemKey.document(space, key)));
      return items.map((item) => item && toState(item));
    },

    list: listOf(itemKey.document, toFound),

    revisions: listOf(itemKey.revision, toRevision),

    /**
     * Stores the new state and its events in one transaction, if the document still has that revision. 0 means that it never
     * existed.
     */
    async save(
      space: Space,
      documentKey: string,
      before: number,
      state: DocumentState,
      events: readonly StoredEvent[],
    ): Promise<boolean> {
      const { fields, marks, ...rest } = state;
      const Item = {
        ...itemKey.document(space, documentKey),
        ...rest,
        fields: JSON.stringify(fields),
        marks: JSON.stringify(marks),
      };
      const saved = put(Item, before === 0 ? isNew : is('revision', before));
      const listed = put({ ...itemKey.revision(space, documentKey), revision: state.revision });
      return (await table.write([saved, listed, ...events.map(putEvent)])).length === 0;
    },

    async claimCycle(space: Space, syncId: string, { credentialId, fingerprint, nowMs }: CycleClaim): Promise<boolean> {
      const claimed = { credentialId, fingerprint, expires: timeToLive(nowMs + EVENT_RETENTION_MS) };
      const isRepeated = all(is('fingerprint', fingerprint), isAtLeast('completedAt', nowMs - CYCLE_REPEAT_MS));
      const isClaimable = all(isFreeFor(credentialId), any(isAbsent('completedAt'), isRepeated));
      return (await table.write([update(itemKey.sync(space, syncId), claimed, isClaimable)])).length === 0;
    },

    async complete(space: Space, syncId: string, credentialId: string, event: StoredEvent): Promise<void> {
      const expires = timeToLive(event.at + EVENT_RETENTION_MS);
      const completed = { credentialId, completedAt: event.at, expires };
      const isOpen = all(isAbsent('completedAt'), isFreeFor(credentialId));
      const complete = update(itemKey.sync(space, syncId), completed, isOpen);
      await table.write([complete, putEvent(event)]);
    },
  };

  function listOf<Found>(keyOf: (space: Space, documentKey: string) => ItemKey, toFound: (item: Item) => Found) {
    return async (space: Space, ranges: readonly KeyRange[], limit: number, after = '') => {
      const i = ranges.findIndex(({ last }) => after < last);
      const range = ranges[i];
      if (!range) return { found: [], next: undefined, isCut: false };
      const { items, next } = await table.query({
        ...rangeQuery({ pk: keyOf(space, '').pk }, range),
        Limit: limit,
        // DynamoDB rejects a position outside the range.
        after: after >= range.first ? keyOf(space, after) : undefined,
      });
      const end = i + 1 < ranges.length ? range.last : undefined;
      return { found: items.map(toFound), next: next?.sk ?? end, isCut: next !== undefined };
    };
  }
}

/** A sync cycle whose id is not taken. */
const isFreeFor = (credentialId: string): Condition => any(isAbsent('credentialId'), is('credentialId', credentialId));

const toFound = (item: Item): FoundDocument => ({
  documentKey: String(item.sk),
  deleted: item.deleted === true,
  read: () => toState(item),
});

const toRevision = ({ sk, revision }: Item): FoundRevision => ({ documentKey: String(sk), revision: Number(revision) });

export function toState(item: Item): DocumentState {
  const { pk: _, sk: __, ...rest } = item;
  return {
    ...rest,
    fields: parseJson(String(item.fields)),
    marks: JSON.parse(String(item.marks)),
  } as unknown as DocumentState;
}

export type DocumentStore = ReturnType<typeof documents>;
