import { EVENT_RETENTION_MS, type StoredEvent } from '../../events/events.ts';
import type { TransactionPart } from '../../transaction.ts';
import { isNew } from './conditions.ts';
import { put } from './expressions.ts';
import { type Item, itemKey, timeToLive } from './items.ts';
import type { Table } from './table.ts';
import type { Write } from './writes.ts';

/** The insertion of an event: in the transaction of what caused it. The stream takes it from there. */
export function putEvent(event: StoredEvent): Write {
  const expires = timeToLive(event.at + EVENT_RETENTION_MS);
  return put({ ...itemKey.event(event.id), ...event, expires }, isNew);
}

export const toStoredEvent = (item: Item): StoredEvent => item as unknown as StoredEvent;

export function events(table: Table) {
  return {
    async publish(published: readonly StoredEvent[], also: readonly TransactionPart[]): Promise<void> {
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
