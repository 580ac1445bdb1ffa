import type { KeyRange } from '../../access/patterns.ts';
import type { DocumentState } from '../../documents/documents.ts';
import type { FoundDocument } from '../../documents/pages.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../../events/events.ts';
import { parseJson } from '../../json.ts';
import type { Space } from '../../space.ts';
import { all, any, type Condition, is, isAbsent, isNew } from './conditions.ts';
import { putEvent } from './events.ts';
import { put, update } from './expressions.ts';
import { type Item, itemKey, timeToLive } from './items.ts';
import { rangeQuery } from './queries.ts';
import type { Table } from './table.ts';

/** Documents, deleted ones included. Their JSON is stored as text, so that no number loses a digit. */
export function documents(table: Table) {
  return {
    async get(space: Space, documentKey: string): Promise<DocumentState | undefined> {
      const item = await table.get(itemKey.document(space, documentKey));
      return item && toState(item);
    },

    async list(
      space: Space,
      ranges: readonly KeyRange[],
      limit: number,
      after = '',
    ): Promise<{ found: FoundDocument[]; next: string | undefined; isCut: boolean }> {
      const i = ranges.findIndex(({ last }) => after < last);
      const range = ranges[i];
      if (!range) return { found: [], next: undefined, isCut: false };
      const { items, next } = await table.query({
        ...rangeQuery({ pk: itemKey.document(space, '').pk }, range),
        Limit: limit,
        // DynamoDB refuses a position outside of the range.
        after: after >= range.first ? itemKey.document(space, after) : undefined,
      });
      const end = i + 1 < ranges.length ? range.last : undefined;
      return { found: items.map(toFound), next: next?.sk ?? end, isCut: next !== undefined };
    },

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
      return (await table.write([saved, ...events.map(putEvent)])).length === 0;
    },

    async claimCycle(space: Space, syncId: string, credentialId: string, nowMs: number): Promise<boolean> {
      const claimed = { credentialId, expires: timeToLive(nowMs + EVENT_RETENTION_MS) };
      const claim = update(itemKey.sync(space, syncId), claimed, isFreeFor(credentialId));
      return (await table.write([claim])).length === 0;
    },

    async complete(space: Space, syncId: string, credentialId: string, event: StoredEvent): Promise<void> {
      const expires = timeToLive(event.at + EVENT_RETENTION_MS);
      const completed = { credentialId, completedAt: event.at, expires };
      const isOpen = all(isAbsent('completedAt'), isFreeFor(credentialId));
      const complete = update(itemKey.sync(space, syncId), completed, isOpen);
      await table.write([complete, putEvent(event)]);
    },
  };
}

/** A sync cycle that nobody else has named. */
const isFreeFor = (credentialId: string): Condition => any(isAbsent('credentialId'), is('credentialId', credentialId));

const toFound = (item: Item): FoundDocument => ({
  documentKey: String(item.sk),
  revision: Number(item.revision),
  deleted: item.deleted === true,
  read: () => toState(item),
});

function toState(item: Item): DocumentState {
  const { pk: _, sk: __, ...rest } = item;
  return {
    ...rest,
    fields: parseJson(String(item.fields)),
    marks: JSON.parse(String(item.marks)),
  } as unknown as DocumentState;
}
