import type { Backend } from '../aws/backend.ts';
import { optimistically } from '../concurrency.ts';
import { credentialOf, may, reaches } from '../http/caller.ts';
import { documentNotAllowed, notFound, Problem } from '../http/problems.ts';
import type { Request } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import {
  type ConnectionRecord,
  connectionResource,
  isLapsed,
  lostEvent,
  mayClose,
  mayRenew,
  storedConnectionId,
} from './connections.ts';
import { checkQueue, connections as connectionsIn } from './store.ts';

type ConnectionHandlers = Pick<Handlers<'documents'>, 'renewConnection' | 'closeConnection'>;

type ConnectionRequest = Pick<Request<unknown, unknown, 'id'>, 'path' | 'caller' | 'space'>;

const idIn = ({ path, caller }: ConnectionRequest): string => storedConnectionId(path.id, may(caller, 'write'));

const openedByAnother = () =>
  new Problem(
    'conflict',
    'Use a different id, or an API key of this environment. Another credential opened or renewed this connection.',
  );

export function connectionHandlers({ table, clock, random, ...runtime }: Backend): ConnectionHandlers {
  const connections = connectionsIn(table);
  const scheduleCheck = checkQueue(runtime);

  return {
    async renewConnection(request) {
      const { body, space, caller } = request;
      const { document_key: documentKey, user } = body;
      if (documentKey !== undefined && !reaches(caller, documentKey)) return documentNotAllowed();
      const id = idIn(request);
      return optimistically(async () => {
        const before = await find(request);
        const now = clock();
        const lapsed = before !== undefined && isLapsed(before, now);
        const open = lapsed ? undefined : before;
        if (open && !mayRenew(caller, open, body.node_id)) return openedByAnother();
        const expiresAt = now + body.lease_seconds * 1000;
        // One check is pending at a time, and it runs when the lease ends or earlier. After a renewal it schedules another one.
        // The check is sent first, because a check without a record does nothing, but a record without a check would stay
        // forever.
        const isExpected = open?.id === id && open.checkAt > now && open.checkAt <= expiresAt;
        if (!isExpected) await scheduleCheck({ connectionId: id, ...space, checkAt: expiresAt }, body.lease_seconds);
        const record: ConnectionRecord = {
          ...space,
          id,
          credentialId: credentialOf(caller),
          nodeId: body.node_id,
          documentKey,
          user,
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
      return optimistically(async () => {
        const before = await find(request);
        if (!before) return notFound('connection');
        if (!mayClose(request.caller, before)) return openedByAnother();
        const now = clock();
        const lost = isLapsed(before, now) ? [lostEvent(before, now, random)] : [];
        return (await connections.remove(before, lost)) ? {} : undefined;
      });
    },
  };

  /** A key also finds the connection of a token without `write`, which has a separate namespace. */
  async function find(request: ConnectionRequest): Promise<ConnectionRecord | undefined> {
    const { path, caller, space } = request;
    const found = await connections.get(space, idIn(request));
    if (found || caller.token) return found;
    return connections.get(space, storedConnectionId(path.id, false));
  }
}
