import type { KeyRange } from '../../access/patterns.ts';
import type { DocumentState } from '../../documents/documents.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../../events/events.ts';
import { parseJson } from '../../json.ts';
import type { Space } from '../../space.ts';
import { putEvent } from './events.ts';
import { type Item, itemKey, setting, type Table, timeToLive, type Write } from './table.ts';

/** A document as it is found in a list. `read` parses it: only what is wanted need be. */
export interface FoundDocument {
  documentKey: string;
  revision: number;
  deleted: boolean;
  read(): DocumentState;
}

export type Documents = ReturnType<typeof documents>;

/** Documents, deleted ones included. Their JSON is stored as text, so that no number loses a digit. */
export function documents(table: Table) {
  return {
    async get(space: Space, documentKey: string): Promise<DocumentState | undefined> {
      const item = await table.get(itemKey.document(space, documentKey));
      return item && toState(item);
    },

    /**
     * Of the ranges, which are in order: the next documents of the first that goes on after `after`, at most `limit` or
     * 1 MB. `next` says where to go on, if anywhere; `isCut`: within the same range.
     */
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
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':pk': itemKey.document(space, '').pk,
          ':first': range.first,
          ':last': range.last,
        },
        Limit: limit,
        // DynamoDB refuses a position outside of the range.
        after: after >= range.first ? itemKey.document(space, after) : undefined,
      });
      const end = i + 1 < ranges.length ? range.last : undefined;
      return { found: items.map(toFound), next: next?.sk ?? end, isCut: next !== undefined };
    },

    /** The new state and its events: together, and only if the document is still at that revision (0: was never there). */
    async save(
      space: Space,
      documentKey: string,
      before: number,
      state: DocumentState,
      events: StoredEvent[],
    ): Promise<boolean> {
      const { fields, marks, ...rest } = state;
      const Item = {
        ...itemKey.document(space, documentKey),
        ...rest,
        fields: JSON.stringify(fields),
        marks: JSON.stringify(marks),
      };
      const put: Write = {
        Put:
          before === 0
            ? { Item, ConditionExpression: 'attribute_not_exists(pk)' }
            : {
                Item,
                ConditionExpression: '#revision = :before',
                ExpressionAttributeNames: { '#revision': 'revision' },
                ExpressionAttributeValues: { ':before': before },
              },
      };
      return (await table.write([put, ...events.map(putEvent)])).length === 0;
    },

    /**
     * Reserves the name of a sync cycle for a credential, who names cycles itself. `false` if it is another one's.
     */
    async claimCycle(space: Space, syncId: string, credentialId: string, nowMs: number): Promise<boolean> {
      const update = setting({ credentialId, expires: timeToLive(nowMs + EVENT_RETENTION_MS) });
      const claim: Write = {
        Update: {
          Key: itemKey.sync(space, syncId),
          ...update,
          ConditionExpression: 'attribute_not_exists(credentialId) OR credentialId = :credentialId',
        },
      };
      return (await table.write([claim])).length === 0;
    },

    /** The event of a completed cycle, once per sync id. */
    async complete(space: Space, syncId: string, credentialId: string, event: StoredEvent): Promise<void> {
      const update = setting({
        credentialId,
        completedAt: event.at,
        expires: timeToLive(event.at + EVENT_RETENTION_MS),
      });
      const complete: Write = {
        Update: {
          Key: itemKey.sync(space, syncId),
          ...update,
          ConditionExpression:
            'attribute_not_exists(completedAt) AND (attribute_not_exists(credentialId) OR credentialId = :credentialId)',
        },
      };
      await table.write([complete, putEvent(event)]);
    },
  };
}

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
