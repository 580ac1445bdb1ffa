import { all, any, type Condition, is, isAbsent, isAtLeast, isNew, put, remove, update } from '../aws/expressions.ts';
import { type Item, type ItemKey, itemKey, timeToLive } from '../aws/items.ts';
import { rangeQuery } from '../aws/queries.ts';
import { queue } from '../aws/queue.ts';
import type { Runtime } from '../aws/runtime.ts';
import type { Table } from '../aws/table.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../events/event.ts';
import { putEvent } from '../events/store.ts';
import { parseJson } from '../json.ts';
import type { Space } from '../space.ts';
import type { CheckMessage, ConnectionRecord } from './connections.ts';
import type { DocumentState } from './document.ts';
import type { FoundDocument, FoundRevision } from './pages.ts';
import type { KeyRange } from './patterns.ts';
import { CYCLE_REPEAT_MS, type CycleClaim } from './sync.ts';

/** Documents, including deleted ones. Their JSON is stored as text, so that no number loses digits. */
export function documents(table: Table) {
  return {
    async get(space: Space, documentKey: string): Promise<DocumentState | undefined> {
      const item = await table.get(itemKey.document(space, documentKey));
      return item && toState(item);
    },

    /** Lists documents in the order of their keys, including deleted ones. */
    async getAll(space: Space, documentKeys: readonly string[]): Promise<(DocumentState | undefined)[]> {
      const items = await table.batchGet(documentKeys.map((key) => itemKey.document(space, key)));
      return items.map((item) => item && toState(item));
    },

    list: listOf(itemKey.document, toFound),

    revisions: listOf(itemKey.revision, toRevision),

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

  function listOf<Found>(keyOf: (space: Space, documentKey: string) => ItemKey, toFound: (item: Item) => Found) {
    return async (space: Space, ranges: readonly KeyRange[], limit: number, after = '') => {
      const i = ranges.findIndex(({ last }) => after < last);
      const range = ranges[i];
      if (!range) return { found: [], next: undefined, isCut: false };
      const { items, next } = await table.query({
        ...rangeQuery({ pk: keyOf(space, '').pk }, range),
        Limit: limit,
        // DynamoDB rejects a position outside the range.
        after: after >= range.first ? keyOf(space, after) : undefined,
      });
      const end = i + 1 < ranges.length ? range.last : undefined;
      return { found: items.map(toFound), next: next?.sk ?? end, isCut: next !== undefined };
    };
  }
}

/** A sync cycle whose id is not taken. */
const isFreeFor = (credentialId: string): Condition => any(isAbsent('credentialId'), is('credentialId', credentialId));

const toFound = (item: Item): FoundDocument => ({
  documentKey: String(item.sk),
  deleted: item.deleted === true,
  read: () => toState(item),
});

const toRevision = ({ sk, revision }: Item): FoundRevision => ({ documentKey: String(sk), revision: Number(revision) });

export function toState(item: Item): DocumentState {
  const { pk: _, sk: __, ...rest } = item;
  return {
    ...rest,
    fields: parseJson(String(item.fields)),
    marks: JSON.parse(String(item.marks)),
  } as unknown as DocumentState;
}

export type DocumentStore = ReturnType<typeof documents>;

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
