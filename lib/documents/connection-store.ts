import { all, type Condition, is, isNew, put, remove } from '../aws/expressions.ts';
import { itemKey, timeToLive } from '../aws/items.ts';
import { queue } from '../aws/queue.ts';
import type { Runtime } from '../aws/runtime.ts';
import type { Table } from '../aws/table.ts';
import type { StoredEvent } from '../events/event.ts';
import { putEvents } from '../events/store.ts';
import { fairGroupOf, type Space } from '../space.ts';
import type { CheckMessage, ConnectionRecord } from './connections.ts';
import type { EngineCheck, EngineSweep } from './engines.ts';

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
      return (await table.write([...renewed, ...putEvents(lost)])).length === 0;
    },

    /** Removes the record that was read, and stores its event. `false` if the record has changed. */
    async remove(before: ConnectionRecord, lost: readonly StoredEvent[]): Promise<boolean> {
      return (await table.write([removal(before), ...putEvents(lost)])).length === 0;
    },
  };
}

/** Schedules checks of connections and engines. Their messages arrive at least once. */
export function checkQueue(runtime: Pick<Runtime, 'variables' | 'client'>) {
  const { send } = queue(runtime, 'CHECKS_QUEUE_URL');
  return (body: CheckMessage | EngineCheck | EngineSweep, delaySeconds: number): Promise<void> =>
    send({ body, group: fairGroupOf(body), delaySeconds });
}
