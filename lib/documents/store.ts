import type { Backend } from '../aws/backend.ts';
import { all, any, type Condition, is, isAbsent, isAtLeast, isNew, put, remove, update } from '../aws/expressions.ts';
import { type Item, type ItemKey, itemKey, timeToLive } from '../aws/items.ts';
import { rangeQuery } from '../aws/queries.ts';
import { queue } from '../aws/queue.ts';
import type { Runtime } from '../aws/runtime.ts';
import type { Table } from '../aws/table.ts';
import { optimistically } from '../concurrency.ts';
import { EVENT_RETENTION_MS, isTooLarge, newEvent, type StoredEvent } from '../events/event.ts';
import { putEvent } from '../events/store.ts';
import { parseJson } from '../json.ts';
import type { Space } from '../space.ts';
import type { CheckMessage, ConnectionRecord } from './connections.ts';
import type { DocumentState } from './document.ts';
import { type Write as DocumentWrite, type Merge, merge } from './merge.ts';
import type { KeyRange } from './patterns.ts';
import { CYCLE_REPEAT_MS, type CycleClaim } from './sync.ts';

/** Documents, including deleted ones. Their JSON is stored as text, so that no number loses digits. */
export function documents(table: Table) {
  return {
    async get(space: Space, documentKey: string): Promise<DocumentState | undefined> {
      const item = await table.get(itemKey.document(space, documentKey));
      return item && toState(item);
    },

    /** Returns the document of each key, also if it is deleted. */
    async getAll(space: Space, documentKeys: readonly string[]): Promise<(DocumentState | undefined)[]> {
      const items = await table.batchGet(documentKeys.map((key) => itemKey.document(space, key)));
      return items.map((item) => item && toState(item));
    },

    /** Lists the items of documents. `toState` parses them, so that only needed documents are parsed. */
    list: listOf(itemKey.document),

    /** Lists the revisions of documents, also of deleted ones. They show changes in few bytes. */
    revisions: listOf(itemKey.revision),

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

  /**
   * Lists the next items after `after` from one of the ranges, at most `limit` or 1 MB. The ranges are in order. `next` is the
   * position of the next page, if there is one, and `isCut` says that it is in the same range.
   */
  function listOf(keyOf: (space: Space, documentKey: string) => ItemKey) {
    return async (space: Space, ranges: readonly KeyRange[], limit: number, after = '') => {
      const i = ranges.findIndex(({ last }) => after < last);
      const range = ranges[i];
      if (!range) return { items: [], next: undefined, isCut: false };
      const { items, next } = await table.query({
        ...rangeQuery(keyOf(space, '').pk, range),
        Limit: limit,
        // DynamoDB rejects a position outside the range.
        after: after >= range.first ? keyOf(space, after) : undefined,
      });
      const end = i + 1 < ranges.length ? range.last : undefined;
      return { items, next: next?.sk ?? end, isCut: next !== undefined };
    };
  }
}

/** A sync cycle whose id is not taken. */
const isFreeFor = (credentialId: string): Condition => any(isAbsent('credentialId'), is('credentialId', credentialId));

export function toState(item: Item): DocumentState {
  const { pk: _, sk: __, ...rest } = item;
  return {
    ...rest,
    fields: parseJson(String(item.fields)),
    marks: JSON.parse(String(item.marks)),
  } as unknown as DocumentState;
}

export type Documents = ReturnType<typeof documents>;

/**
 * Reads, merges and saves a document, and repeats this after a concurrent write. `admit` checks preconditions,
 * and returns the rejection if they are false. Throws a
 * `ConflictError` if other writers were always faster. Nothing was changed then.
 */
export async function writeDocument<Rejection>(
  { table, clock, random }: Backend,
  space: Space,
  write: DocumentWrite,
  admit: (current: DocumentState | undefined) => Rejection | undefined,
): Promise<Merge | { outcome: 'events_too_large' } | Rejection> {
  const { get, save } = documents(table);
  return optimistically(async () => {
    const current = await get(space, write.documentKey);
    const rejection = admit(current);
    if (rejection !== undefined) return rejection;
    const now = clock();
    const merged = merge(current, write, now);
    if (merged.outcome !== 'changed') return merged;
    const events = merged.events.map((event) => newEvent({ ...space, at: now, ...event }, random));
    if (events.some(isTooLarge)) return { outcome: 'events_too_large' };
    return (await save(space, write.documentKey, current?.revision ?? 0, merged.state, events)) ? merged : undefined;
  });
}

/** The table deletes an expired connection without a check after a day. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** The stored connections. When two callers renew or end one lease concurrently, one of them succeeds. */
export function connections(table: Table) {
  // The record that was read must be unchanged, so one of two concurrent writers succeeds.
  const isUnchanged = ({ expiresAt, connectedAt }: ConnectionRecord): Condition =>
    all(is('expiresAt', expiresAt), is('connectedAt', connectedAt));

  const removal = (record: ConnectionRecord) => remove(itemKey.connection(record, record.id), isUnchanged(record));

  return {
    async get(space: Space, id: string): Promise<ConnectionRecord | undefined> {
      return (await table.get(itemKey.connection(space, id))) as ConnectionRecord | undefined;
    },

    /**
     * Replaces the record that was read, and stores the event of an earlier lease that expired. The new record can have another
     * id. `false` if the record has changed.
     */
    async put(
      before: ConnectionRecord | undefined,
      record: ConnectionRecord,
      lost: readonly StoredEvent[],
    ): Promise<boolean> {
      const Item = {
        ...itemKey.connection(record, record.id),
        ...record,
        expires: timeToLive(record.expiresAt + KEPT_MS),
      };
      const isMoved = before && before.id !== record.id;
      const renewed = isMoved ? [removal(before), put(Item, isNew)] : [put(Item, before ? isUnchanged(before) : isNew)];
      return (await table.write([...renewed, ...lost.map(putEvent)])).length === 0;
    },

    /** Removes the record that was read, and stores its event. `false` if the record has changed. */
    async remove(before: ConnectionRecord, lost: readonly StoredEvent[]): Promise<boolean> {
      return (await table.write([removal(before), ...lost.map(putEvent)])).length === 0;
    },
  };
}

/** Schedules checks of connections. Their messages arrive at least once. */
export function checkQueue(runtime: Pick<Runtime, 'variables' | 'client'>) {
  const { send } = queue(runtime, 'CHECKS_QUEUE_URL');
  return (body: CheckMessage, delaySeconds: number): Promise<void> => send({ body, delaySeconds });
}
