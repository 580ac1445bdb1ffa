import { areAsGiven, isAbsent, isNew, put } from '../aws/expressions.ts';
import { type Item, itemKey, timeToLive } from '../aws/items.ts';
import { FILTERED_ITEMS, idQueries, newestOf } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import type { Space } from '../space.ts';
import { EVENT_RETENTION_MS, type EventPage, type StoredEvent } from './event.ts';
import { partitionsOf } from './placement.ts';
import { EVENT_TYPES } from './types.ts';

/** The write of an event, for the transaction of its cause. The stream then passes it to the fan-out. */
export function putEvent({ projectId, environment, id, ...event }: StoredEvent): Write {
  const expires = timeToLive(event.at + EVENT_RETENTION_MS);
  return put({ ...itemKey.event({ projectId, environment }, id), ...event, expires }, isNew);
}

/** The members of the key are not stored twice, because each byte is billed for 30 days. */
export function toStoredEvent(item: Item): StoredEvent {
  const [, projectId, environment] = String(item.pk).split('#');
  return { ...item, projectId, environment, id: item.sk } as unknown as StoredEvent;
}

/** The store of events. Every stored event is delivered. */
export function eventStore(table: Table) {
  return {
    /** Stores all events or none, at most 100 with `also`. Keeps events that an earlier run of the request stored. */
    async publish(published: readonly StoredEvent[], also: readonly Write[]): Promise<void> {
      const taken = await table.write([...published.map(putEvent), ...also]);
      if (taken.length === 0) return;
      const [first] = published;
      const stored = first && (await table.get(itemKey.event(first, first.id)));
      if (stored?.body !== first?.body) throw new Error('A new event id is taken');
    },

    async get(space: Space, id: string): Promise<StoredEvent | undefined> {
      const item = await table.get(itemKey.event(space, id));
      return item && toStoredEvent(item);
    },

    /** Lists only the ids of events. */
    ids,

    /** Lists newest first with limited reads, so a page can be short or empty before the end. */
    async list(space: Space, page: EventPage): Promise<{ events: StoredEvent[]; next: string | undefined }> {
      const idPage = await ids(space, page);
      const items = await table.batchGet(idPage.ids.map((id) => itemKey.event(space, id)));
      return { events: items.flatMap((item) => (item ? [toStoredEvent(item)] : [])), next: idPage.next };
    },
  };

  /**
   * Leaves test events out, because they concern only the webhook that received them. Eventually consistent at half the price,
   * because a list reads many partitions.
   */
  async function ids(
    space: Space,
    { limit, after, ...filter }: EventPage,
  ): Promise<{ ids: string[]; next: string | undefined }> {
    const { types = EVENT_TYPES, documentKey } = filter;
    const partitions = partitionsOf(types, documentKey);
    const keysOf = partitions.map((partition) => (id: string) => itemKey.eventIn(space, partition, id));
    const conditions = [isAbsent('webhookId'), ...areAsGiven({ documentKey })];
    const light = { ProjectionExpression: 'sk', ConsistentRead: false };
    const queries = idQueries('evt', filter, keysOf, conditions, light);
    const reads = documentKey === undefined ? limit : FILTERED_ITEMS; // few events are tests
    const { items, next } = await newestOf(table, queries, { limit, reads, after });
    return { ids: items.map(({ sk }) => String(sk)), next };
  }
}
