import { all, any, type Condition, is, isAbsent, isNew, put, update } from '../aws/expressions.ts';
import { type Item, itemKey, timeToLive } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../events/event.ts';
import { putEvents } from '../events/store.ts';
import { parseJson } from '../json.ts';
import type { Space } from '../space.ts';
import { type CycleRecord, RESULTS_MS } from './cycle.ts';
import type { PushResult } from './sync.ts';

/** Identifies a push: the cycle, the page and the position in the request. */
export interface PushPlace {
  space: Space;
  syncId: string;
  page: number;
  position: number;
}

/** The result of a push, and the content that it belongs to. */
export interface Receipt {
  fingerprint: string;
  result: PushResult;
}

/** Sync cycles with a name, and the results of their pushes. */
export function cycles(table: Table) {
  return {
    /** Stores the record of a new cycle. Returns the stored one if the name is taken. */
    async begin(space: Space, syncId: string, record: CycleRecord): Promise<CycleRecord | undefined> {
      const Item = {
        ...itemKey.sync(space, syncId),
        ...record,
        expires: timeToLive(record.namedAt + EVENT_RETENTION_MS),
      };
      const [taken] = await table.write([put(Item, isNew)]);
      return taken?.item as CycleRecord | undefined;
    },

    async get(space: Space, syncId: string): Promise<CycleRecord | undefined> {
      return (await table.get(itemKey.sync(space, syncId))) as CycleRecord | undefined;
    },

    /** Stores the event of the end, once per cycle. */
    async complete(space: Space, syncId: string, owner: string, event: StoredEvent): Promise<void> {
      const expires = timeToLive(event.at + EVENT_RETENTION_MS);
      const isOpen = all(isAbsent('completedAt'), isFreeFor(owner));
      const completed = update(itemKey.sync(space, syncId), { owner, completedAt: event.at, expires }, isOpen);
      await table.write([completed, ...putEvents([event])]);
    },

    async receipt({ space, syncId, page, position }: PushPlace): Promise<Receipt | undefined> {
      const item = await table.get(itemKey.push(space, syncId, page, position));
      return item && toReceipt(item);
    },

    /** Returns the stored result of each push of a page. */
    async receipts(
      { space, syncId, page }: Omit<PushPlace, 'position'>,
      count: number,
    ): Promise<(Receipt | undefined)[]> {
      const keys = Array.from({ length: count }, (_, position) => itemKey.push(space, syncId, page, position));
      return (await table.batchGet(keys)).map((item) => item && toReceipt(item));
    },
  };
}

/** The write that stores the result of a push, for the transaction of its effect. It fails if the push has a result. */
export function putReceipt(
  { space, syncId, page, position }: PushPlace,
  { fingerprint, result }: Receipt,
  namedAt: number,
): Write {
  // As text, so that no number loses digits.
  const content = { fingerprint, result: JSON.stringify(result), expires: timeToLive(namedAt + RESULTS_MS) };
  return put({ ...itemKey.push(space, syncId, page, position), ...content }, isNew);
}

const toReceipt = ({ fingerprint, result }: Item): Receipt => ({
  fingerprint: String(fingerprint),
  result: parseJson(String(result)) as unknown as PushResult,
});

/** A cycle that has no record, or that of this owner. */
const isFreeFor = (owner: string): Condition => any(isAbsent('owner'), is('owner', owner));
