import { areAsGiven, isAbsent, isNew, isOneOf, put } from '../aws/expressions.ts';
import { type Item, type ItemKey, itemKey, keyOf, timeToLive, typePartition } from '../aws/items.ts';
import { FILTERED_ITEMS, idQueries, newestOf } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { startsWithSegments } from '../documents/patterns.ts';
import type { Space } from '../space.ts';
import { EVENT_RETENTION_MS, type EventPage, isTest, type StoredEvent } from './event.ts';
import { followersIn, followersText, partitionOfDocument, withFollowers } from './placement.ts';
import { EVENT_TYPES } from './types.ts';

/**
 * The writes of the events of one publication, in order, for the transaction of their cause. The stream then passes the events to
 * the fan-out.
 */
export const putEvents = (events: readonly StoredEvent[]): Write[] =>
  withFollowers(events).map(({ event: { projectId, environment, id, ...event }, followers }) => {
    const space = { projectId, environment };
    const listed = followers && {
      byType: typePartition(space, isTest(event) ? 'test' : event.type),
      followers: followersText(followers),
    };
    const expires = timeToLive(event.at + EVENT_RETENTION_MS);
    return put({ ...itemKey.event(space, id), ...event, ...listed, expires }, isNew);
  });

/** The members of the key are not stored twice, because each byte is billed for 30 days. */
export const toStoredEvent = ({ pk, sk: id, byType: _, followers: __, ...event }: Item): StoredEvent =>
  ({ ...event, ...spaceIn(pk), id }) as StoredEvent;

function spaceIn(pk: unknown): Space {
  const [, projectId, environment] = String(pk).split('#');
  return { projectId, environment } as Space;
}

/** The keys of the events that an entry of the index by type lists, the oldest last. */
export function keysOfEntry({ pk, sk, followers, documentKey }: Item) {
  const space = spaceIn(pk);
  const listed = followersIn(String(sk), followers as string | undefined).reverse();
  return [...listed, { id: String(sk), documentKey: documentKey as string | undefined }].map((each) => ({
    ...itemKey.event(space, each.id),
    documentKey: each.documentKey,
  }));
}

/** The store of events. Every stored event is delivered. */
export function eventStore(table: Table) {
  return {
    /** Stores all events or none, at most 100 with `also`. Keeps events that an earlier run of the request stored. */
    async publish(published: readonly StoredEvent[], also: readonly Write[]): Promise<void> {
      const taken = await table.write([...putEvents(published), ...also]);
      if (taken.length === 0) return;
      const [first] = published;
      const stored = first && (await table.get(itemKey.event(first, first.id)));
      if (stored?.body !== first?.body) throw new Error('A new event id is taken');
    },

    /** Returns the events as an earlier run of the request has stored them, or `undefined` if it stored none. */
    async stored(published: readonly StoredEvent[]): Promise<StoredEvent[] | undefined> {
      const items = await table.batchGet(published.map((event) => itemKey.event(event, event.id)));
      const found = items.flatMap((item) => (item ? [toStoredEvent(item)] : []));
      return found.length === published.length ? found : undefined;
    },

    async get(space: Space, id: string): Promise<StoredEvent | undefined> {
      const item = await table.get(itemKey.event(space, id));
      return item && toStoredEvent(item);
    },

    /** Lists events. A page with a prefix, or of a document, can be short or empty before the end. */
    async list(space: Space, page: EventPage): Promise<{ events: StoredEvent[]; next: string | undefined }> {
      const { documentKey, prefix } = page;
      if (documentKey === undefined) return listByType(space, page);
      if (prefix !== undefined && !startsWithSegments(documentKey, prefix)) return { events: [], next: undefined };
      const { items, next } = await ofDocument(space, { ...page, documentKey });
      return { events: items.map(toStoredEvent), next };
    },

    /** Lists the ids of the events of a document. */
    async idsOfDocument(
      space: Space,
      page: EventPage & { documentKey: string },
    ): Promise<{ ids: string[]; next: string | undefined }> {
      const { items, next } = await ofDocument(space, page, { ProjectionExpression: 'sk' });
      return { ids: items.map(({ sk }) => String(sk)), next };
    },
  };

  /**
   * Reads the partition of a document, with strong consistency. Leaves test events out, because they concern only the webhook that
   * received them.
   */
  function ofDocument(
    space: Space,
    { documentKey, types, limit, after, ...window }: EventPage & { documentKey: string },
    read: { ProjectionExpression?: string } = {},
  ) {
    const keyIn = (id: string) => itemKey.eventIn(space, partitionOfDocument(documentKey), id);
    const conditions = [
      isAbsent('webhookId'),
      ...areAsGiven({ documentKey }),
      ...(types ? [isOneOf('type', types)] : []),
    ];
    const queries = idQueries('evt', window, [keyIn], conditions, read);
    // Nearly all items of the partition are events of the document.
    return newestOf(table, queries, { limit, after, reads: types ? FILTERED_ITEMS : limit });
  }

  /** Reads events, which never change, at half the price. Those that are too new for it are read again. */
  async function readAll(keys: readonly ItemKey[]): Promise<StoredEvent[]> {
    const found = await table.batchGetLate(keys);
    const missing = await table.batchGet(keys.filter((_, i) => found[i] === undefined));
    return found.flatMap((item) => {
      const stored = item ?? missing.shift();
      return stored ? [toStoredEvent(stored)] : [];
    });
  }

  /** Reads the index, which follows the table within about a second, and then the events of the page. */
  async function listByType(space: Space, { types = EVENT_TYPES, prefix, limit, after, ...window }: EventPage) {
    const keysOf = types.map((type) => (id: string) => ({
      ...itemKey.event(space, id),
      byType: typePartition(space, type),
    }));
    const isListed = ({ documentKey }: { documentKey: string | undefined }) =>
      prefix === undefined || (documentKey !== undefined && startsWithSegments(documentKey, prefix));
    const { items, next } = await newestOf(table, idQueries('evt', window, keysOf, []), {
      limit,
      after,
      reads: prefix === undefined ? limit : FILTERED_ITEMS,
      contents: (entry) => keysOfEntry(entry).filter(isListed),
    });
    return { events: await readAll(items.map(keyOf)), next };
  }
}
