import type { ConnectionRecord } from '../../documents/connections.ts';
import type { StoredEvent } from '../../events/events.ts';
import type { Space } from '../../space.ts';
import { putEvent } from './events.ts';
import { itemKey, type Table, timeToLive, type Write } from './table.ts';

/** A lapsed connection whose check never came is deleted by the table, a day later. */
const KEPT_MS = 24 * 60 * 60 * 1000;

export type Connections = ReturnType<typeof connections>;

export function connections(table: Table) {
  // What was read must still be there: of two that end one lease, or renew it, one does.
  const unchanged = (record: ConnectionRecord | undefined) =>
    record
      ? {
          ConditionExpression: 'expiresAt = :expiresAt AND connectedAt = :connectedAt',
          ExpressionAttributeValues: { ':expiresAt': record.expiresAt, ':connectedAt': record.connectedAt },
        }
      : { ConditionExpression: 'attribute_not_exists(pk)' };

  return {
    async get(space: Space, id: string): Promise<ConnectionRecord | undefined> {
      return (await table.get(itemKey.connection(space, id))) as ConnectionRecord | undefined;
    },

    /** Replaces what was read; with the event of the lease that lapsed before, if one did. */
    async put(before: ConnectionRecord | undefined, record: ConnectionRecord, lost: StoredEvent[]): Promise<boolean> {
      const Item = {
        ...itemKey.connection(record, record.id),
        ...record,
        expires: timeToLive(record.expiresAt + KEPT_MS),
      };
      const put: Write = { Put: { Item, ...unchanged(before) } };
      return (await table.write([put, ...lost.map(putEvent)])).length === 0;
    },

    async remove(before: ConnectionRecord, lost: StoredEvent[]): Promise<boolean> {
      const remove: Write = { Delete: { Key: itemKey.connection(before, before.id), ...unchanged(before) } };
      return (await table.write([remove, ...lost.map(putEvent)])).length === 0;
    },
  };
}
