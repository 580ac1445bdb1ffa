import { notFound, Problem } from '../http/problems.ts';
import type { Request } from '../http/request.ts';
import { credentialOf, may } from '../http/scope.ts';
import type { Handlers } from '../http/serve.ts';
import { optimistically } from '../optimistic.ts';
import { type ConnectionRecord, connectionResource, storedConnectionId } from './connections.ts';
import { type ConnectionsDeps, isLapsed, lostEvent } from './lost-connections.ts';

type ConnectionHandlers = Pick<Handlers<'documents'>, 'renewConnection' | 'closeConnection'>;

const idIn = ({ path: { id = '' }, caller }: Pick<Request, 'path' | 'caller'>): string =>
  storedConnectionId(id, may(caller, 'write'));

const openedByAnother = () => new Problem('conflict', 'Use a different id. Another credential opened this connection.');

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
        if (open && open.credentialId !== credentialId) return openedByAnother();
        const expiresAt = now + body.lease_seconds * 1000;
        // One check is pending at a time, and it runs when the lease ends or earlier. After a renewal it schedules another one.
        // The check is sent first, because a check without a record does nothing, but a record without a check would stay
        // forever.
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

    // A connection whose lease has expired is lost, and its event is published.
    async closeConnection(request) {
      const { space, caller } = request;
      const id = idIn(request);
      return optimistically(async () => {
        const before = await connections.get(space, id);
        if (!before) return notFound('connection');
        if (before.credentialId !== credentialOf(caller)) return openedByAnother();
        const now = clock();
        const lost = isLapsed(before, now) ? [lostEvent(before, now, random)] : [];
        return (await connections.remove(before, lost)) ? {} : undefined;
      });
    },
  };
}
