import type { DocumentState } from '../documents.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../events.ts';
import { parseJson } from '../json.ts';
import type { Space } from '../space.ts';
import { putEvent } from './events.ts';
import { type Item, itemKey, type Table, timeToLive, type Write } from './table.ts';

export interface KeyedDocument {
  documentKey: string;
  state: DocumentState;
}

export type Documents = ReturnType<typeof documents>;

/** Documents, deleted ones included. Their JSON is stored as text, so that no number loses a digit. */
export function documents(table: Table) {
  return {
    async get(space: Space, documentKey: string): Promise<DocumentState | undefined> {
      const item = await table.get(itemKey.document(space, documentKey));
      return item && toState(item);
    },

    /** Up to 1 MB of the documents whose keys begin so, in the order of their keys. */
    async list(
      space: Space,
      prefix: string,
      limit: number,
      after?: string,
    ): Promise<{ found: KeyedDocument[]; next: string | undefined }> {
      const { items, next } = await table.query({
        KeyConditionExpression: prefix === '' ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: {
          ':pk': itemKey.document(space, '').pk,
          ...(prefix !== '' && { ':prefix': prefix }),
        },
        Limit: limit,
        after: after === undefined ? undefined : itemKey.document(space, after),
      });
      return { found: items.map((item) => ({ documentKey: String(item.sk), state: toState(item) })), next: next?.sk };
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

    /** The event of a completed cycle, once per sync id. */
    async complete(space: Space, syncId: string, event: StoredEvent): Promise<void> {
      const Item = { ...itemKey.sync(space, syncId), expires: timeToLive(event.at + EVENT_RETENTION_MS) };
      await table.write([{ Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } }, putEvent(event)]);
    },
  };
}

function toState(item: Item): DocumentState {
  const { pk: _, sk: __, ...rest } = item;
  return {
    ...rest,
    fields: parseJson(String(item.fields)),
    marks: JSON.parse(String(item.marks)),
  } as unknown as DocumentState;
}
