import { EVENT_RETENTION_MS, type EventFilter, type StoredEvent } from '../../events/events.ts';
import { partitionsOf } from '../../events/placement.ts';
import { EVENT_TYPES } from '../../events/types.ts';
import type { Space } from '../../space.ts';
import type { TransactionPart } from '../../transaction.ts';
import { is, isAbsent, isNew } from './conditions.ts';
import { put } from './expressions.ts';
import { type Item, itemKey, timeToLive } from './items.ts';
import { FILTERED_ITEMS, idRange, rangeQuery } from './queries.ts';
import type { Page, Table } from './table.ts';
import type { Write } from './writes.ts';

/** Rounds of queries for one page of a list: together they take less than a second. */
const MAX_ROUNDS = 8;

/** The insertion of an event: in the transaction of what caused it. The stream takes it from there. */
export function putEvent(event: StoredEvent): Write {
  const expires = timeToLive(event.at + EVENT_RETENTION_MS);
  return put({ ...itemKey.event(event, event.id), ...event, expires }, isNew);
}

export const toStoredEvent = (item: Item): StoredEvent => item as unknown as StoredEvent;

export function events(table: Table) {
  return {
    async publish(published: readonly StoredEvent[], also: readonly TransactionPart[]): Promise<void> {
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

    async list(
      space: Space,
      { limit, after, ...filter }: EventFilter & { limit: number; after?: string | undefined },
    ): Promise<{ events: StoredEvent[]; next: string | undefined }> {
      const { ids, next } = await find(space, filter, limit, after);
      const items = await table.batchGet(ids.map((id) => itemKey.event(space, id)));
      return { events: items.flatMap((item) => (item ? [toStoredEvent(item)] : [])), next };
    },
  };

  /**
   * The newest ids after a position. Every partition is read from there; what all of them have passed is complete, and the
   * partition that has come least far says where the next round, or the next page, begins.
   */
  async function find(space: Space, filter: EventFilter, limit: number, after: string | undefined) {
    const partitions = partitionsOf(filter.type ? [filter.type] : EVENT_TYPES, filter.documentKey);
    const query = queryOf(filter, limit);
    const found: string[] = [];
    let position = after;
    for (let rounds = 0; query && rounds < MAX_ROUNDS; rounds++) {
      const pages = await Promise.all(partitions.map((partition) => table.query(query(space, partition, position))));
      position = leastProgress(pages);
      const passed = pages.flatMap(({ items }) => items.map(({ sk }) => String(sk)));
      found.push(...passed.filter((id) => position === undefined || id >= position));
      if (found.length >= limit || position === undefined) break;
    }
    const ids = found.sort().reverse().slice(0, limit);
    return { ids, next: found.length > limit ? ids.at(-1) : position };
  }
}

/** `undefined`: all of them were read to the end. */
const leastProgress = (pages: readonly Page[]): string | undefined =>
  pages
    .flatMap(({ next }) => next?.sk ?? [])
    .sort()
    .at(-1);

/** Test events are nobody's but of the webhook that they were sent to. `null` if the window is empty. */
function queryOf({ documentKey, ...window }: EventFilter, limit: number) {
  const range = idRange('evt', window);
  const wanted = [isAbsent('webhookId'), ...(documentKey === undefined ? [] : [is('documentKey', documentKey)])];
  if (!range) return null;
  return (space: Space, partition: string, after: string | undefined) => {
    const keyOf = (id: string) => itemKey.eventIn(space, partition, id);
    return {
      ...rangeQuery({ pk: keyOf('').pk }, range, wanted),
      ProjectionExpression: 'sk',
      ScanIndexForward: false,
      Limit: documentKey === undefined ? limit : FILTERED_ITEMS,
      after: after === undefined ? undefined : keyOf(after),
    };
  };
}
