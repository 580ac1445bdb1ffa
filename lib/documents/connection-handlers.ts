import type { Backend } from '../aws/backend.ts';
import { optimistically } from '../concurrency.ts';
import { may } from '../http/caller.ts';
import { documentNotAllowed, invalid, notFound, Problem, tooManyDeliveries } from '../http/problems.ts';
import type { Request } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import { reaches } from './access.ts';
import { checkQueue, connections as connectionsIn } from './connection-store.ts';
import {
  type ConnectionRecord,
  connectionResource,
  isLapsed,
  lostEvents,
  mayUse,
  renewed,
  storedConnectionId,
  userViolation,
} from './connections.ts';
import type { documentOperations } from './operations.ts';

type ConnectionHandlers = Pick<Handlers<typeof documentOperations>, 'renewConnection' | 'closeConnection'>;

type ConnectionRequest = Pick<Request<unknown, unknown, 'id'>, 'path' | 'caller' | 'space'>;

const idIn = ({ path, caller }: ConnectionRequest): string => storedConnectionId(path.id, may(caller, 'write'));

const openedByAnother = () =>
  new Problem(
    'conflict',
    'Use a different id, a token of the user who opened this connection, or an API key of this environment. The connection belongs to another credential.',
  );

export function connectionHandlers({ table, clock, random, ...runtime }: Backend): ConnectionHandlers {
  const connections = connectionsIn(table);
  const scheduleCheck = checkQueue(runtime);

  return {
    async renewConnection(request) {
      const { body, space, caller } = request;
      const { document_key: documentKey } = body;
      if (documentKey !== undefined && !reaches(caller, documentKey)) return documentNotAllowed();
      const violation = userViolation(caller, body.user);
      if (violation) return invalid([violation]);
      const id = idIn(request);
      return optimistically(async () => {
        const before = await find(request);
        const now = clock();
        const lapsed = before !== undefined && isLapsed(before, now);
        const open = lapsed ? undefined : before;
        if (open && !mayUse(caller, open)) return openedByAnother();
        // Each connection can be lost, which publishes an event. A renewal is not limited, so that no limit ends a healthy one.
        if (!open && caller.publishAfterSeconds) return tooManyDeliveries(caller.publishAfterSeconds);
        const { record, needsCheck } = renewed(open, caller, { ...space, id }, body, now);
        // The check is sent first, because a check without a record does nothing, but a record without a check would stay forever.
        if (needsCheck)
          await scheduleCheck({ connectionId: id, ...space, checkAt: record.checkAt }, body.lease_seconds);
        const lost = lapsed ? lostEvents(before, [before], now, random) : [];
        return (await connections.put(before, record, lost)) ? { body: connectionResource(record) } : undefined;
      });
    },

    // A connection whose lease has expired is lost, and its event is published.
    async closeConnection(request) {
      return optimistically(async () => {
        const before = await find(request);
        if (!before) return notFound('connection');
        if (!mayUse(request.caller, before)) return openedByAnother();
        const now = clock();
        const lost = isLapsed(before, now) ? lostEvents(before, [before], now, random) : [];
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
