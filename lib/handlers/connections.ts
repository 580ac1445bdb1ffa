import { notFound, Problem } from '../api/problems.ts';
import {
  type CheckMessage,
  type ConnectionRecord,
  connectionResource,
  isLapsed,
  lostData,
  storedConnectionId,
} from '../documents/connections.ts';
import { newEvent, type StoredEvent } from '../events/events.ts';
import { newEventId } from '../events/placement.ts';
import type { Request } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import type { Random } from '../ids.ts';
import { optimistically } from '../optimistic.ts';
import type { Space } from '../space.ts';
import { credentialOf, may } from './scope.ts';

/** The connections of nodes as they are stored. Of two that end one lease, or renew it, one does. */
export interface Connections {
  get(space: Space, id: string): Promise<ConnectionRecord | undefined>;
  /** Replaces what was read, with the event of the lease that lapsed before, if one did. `false` if it is no longer that. */
  put(before: ConnectionRecord | undefined, record: ConnectionRecord, lost: readonly StoredEvent[]): Promise<boolean>;
  /** Removes what was read, with its event. `false` if it is no longer that. */
  remove(before: ConnectionRecord, lost: readonly StoredEvent[]): Promise<boolean>;
}

export interface ConnectionsDeps {
  connections: Connections;
  /** Has a connection looked at after that many seconds. At least once. */
  scheduleCheck(message: CheckMessage, delaySeconds: number): Promise<void>;
  clock(): number;
  random: Random;
}

type ConnectionHandlers = Pick<Handlers<'documents'>, 'renewConnection' | 'closeConnection'>;

const idIn = ({ path: { id = '' }, caller }: Pick<Request, 'path' | 'caller'>): string =>
  storedConnectionId(id, may(caller, 'write'));

const isOthers = () => new Problem('conflict', 'Another credential opened this connection. Use a different id.');

export function connectionHandlers({ connections, scheduleCheck, clock, random }: ConnectionsDeps): ConnectionHandlers {
  return {
    async renewConnection(request) {
      const { body, space, caller } = request;
      const id = idIn(request);
      const credentialId = credentialOf(caller);
      return optimistically(async () => {
        const before = await connections.get(space, id);
        const now = clock();
        const lapsed = before !== undefined && isLapsed(before, now);
        const open = lapsed ? undefined : before;
        if (open && open.credentialId !== credentialId) return isOthers();
        const expiresAt = now + body.lease_seconds * 1000;
        // One check is on its way at a time, no later than the lease ends; it comes again if the lease was renewed. It is
        // sent first: without the record it finds nothing to do, but a record without it would never be looked at.
        const isExpected = open !== undefined && open.checkAt > now && open.checkAt <= expiresAt;
        if (!isExpected) await scheduleCheck({ connectionId: id, ...space, checkAt: expiresAt }, body.lease_seconds);
        const record: ConnectionRecord = {
          ...space,
          id,
          credentialId,
          nodeId: body.node_id,
          leaseSeconds: body.lease_seconds,
          connectedAt: open?.connectedAt ?? now,
          lastSeenAt: now,
          expiresAt,
          checkAt: isExpected ? open.checkAt : expiresAt,
        };
        const lost = lapsed ? [lostEvent(before, now, random)] : [];
        return (await connections.put(before, record, lost)) ? { body: connectionResource(record) } : undefined;
      });
    },

    // A goodbye after the lease ran out is too late: the connection was lost.
    async closeConnection(request) {
      const { space, caller } = request;
      const id = idIn(request);
      return optimistically(async () => {
        const before = await connections.get(space, id);
        if (!before) return notFound('connection');
        if (before.credentialId !== credentialOf(caller)) return isOthers();
        const now = clock();
        const lost = isLapsed(before, now) ? [lostEvent(before, now, random)] : [];
        return (await connections.remove(before, lost)) ? {} : undefined;
      });
    },
  };
}

/**
 * What a check does: ends a lease that has run out, with its event; looks again later at one that was renewed, even while it
 * ended it. Of several checks of one lapse one finds it, and of several of an open connection the latest goes on.
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

function lostEvent(record: ConnectionRecord, now: number, random: Random): StoredEvent {
  const { projectId, environment } = record;
  const [type, data] = ['connection.lost', lostData(record)] as const;
  return newEvent({ projectId, environment, id: newEventId(type, data, now, random), at: now, type, data });
}
