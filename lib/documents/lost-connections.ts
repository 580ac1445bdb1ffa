import { optimistically } from '../concurrency.ts';
import { newEvent, type StoredEvent } from '../events/event.ts';
import { newEventId } from '../events/placement.ts';
import type { Random } from '../ids.ts';
import { iso } from '../schema.ts';
import type { ConnectionStore } from './connection-store.ts';
import { type CheckMessage, type ConnectionRecord, publicIdOf } from './connections.ts';

export interface ConnectionsDeps {
  connections: ConnectionStore;
  /** Schedules a check of a connection. The message arrives at least once. */
  scheduleCheck(message: CheckMessage, delaySeconds: number): Promise<void>;
  clock(): number;
  random: Random;
}

export const isLapsed = ({ expiresAt }: Pick<ConnectionRecord, 'expiresAt'>, nowMs: number): boolean =>
  nowMs >= expiresAt;

/**
 * Ends an expired lease and publishes its event. Schedules another check of a lease that was renewed, also while this check was
 * ending it. If several checks find one expired lease, one of them ends it. If several check an open connection, only the latest
 * schedules another one.
 */
export async function checkConnection(
  { connectionId, checkAt, ...space }: CheckMessage,
  { connections, scheduleCheck, clock, random }: ConnectionsDeps,
): Promise<'gone' | 'open' | 'lost'> {
  return optimistically(async () => {
    const record = await connections.get(space, connectionId);
    if (!record) return 'gone';
    const now = clock();
    if (isLapsed(record, now))
      return (await connections.remove(record, [lostEvent(record, now, random)])) ? 'lost' : undefined;
    const isOutdated = checkAt !== undefined && record.checkAt > checkAt;
    if (isOutdated) return 'open';
    const { expiresAt } = record;
    await scheduleCheck({ connectionId, ...space, checkAt: expiresAt }, Math.ceil((expiresAt - now) / 1000));
    await connections.put(record, { ...record, checkAt: expiresAt }, []);
    return 'open';
  });
}

export function lostEvent(record: ConnectionRecord, now: number, random: Random): StoredEvent {
  const { projectId, environment } = record;
  const [type, data] = ['connection.lost', lostData(record)] as const;
  return newEvent({ projectId, environment, id: newEventId(type, data, now, random), at: now, type, data });
}

/** `data` of `connection.lost`. */
function lostData({ id, nodeId, documentKey, user, connectedAt, lastSeenAt, expiresAt }: ConnectionRecord) {
  return {
    connection_id: publicIdOf(id),
    node_id: nodeId,
    ...(documentKey !== undefined && { document_key: documentKey }),
    ...(user !== undefined && { user }),
    connected_at: iso(connectedAt),
    last_seen_at: iso(lastSeenAt),
    lost_at: iso(expiresAt),
  };
}
