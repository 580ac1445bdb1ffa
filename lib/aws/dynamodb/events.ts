import { EVENT_RETENTION_MS, type StoredEvent } from '../../events/events.ts';
import { type Item, itemKey, type Table, timeToLive, type Write } from './table.ts';

/** The insertion of an event: in the transaction of what caused it. The stream takes it from there. */
export function putEvent(event: StoredEvent): Write {
  const Item = { ...itemKey.event(event.id), ...event, expires: timeToLive(event.at + EVENT_RETENTION_MS) };
  return { Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } };
}

export const toStoredEvent = (item: Item): StoredEvent => item as unknown as StoredEvent;

export function events(table: Table) {
  return {
    /** All or none; at most 100 with `also`. Events that are stored already, by an earlier run of the request, stay. */
    async publish(published: StoredEvent[], also: Write[]): Promise<void> {
      const taken = await table.write([...published.map(putEvent), ...also]);
      if (taken.length === 0) return;
      const [first] = published;
      const stored = first && (await table.get(itemKey.event(first.id)));
      if (stored?.body !== first?.body) throw new Error('A new event id is taken');
    },

    async get(id: string): Promise<StoredEvent | undefined> {
      const item = await table.get(itemKey.event(id));
      return item && toStoredEvent(item);
    },
  };
}
