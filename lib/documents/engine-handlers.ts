import type { Backend } from '../aws/backend.ts';
import { optimistically } from '../concurrency.ts';
import { notFound, Problem } from '../http/problems.ts';
import { RUNNING_MS } from '../http/replay.ts';
import type { Handlers } from '../http/serve.ts';
import { checkQueue } from './connection-store.ts';
import { endingOf, engines as enginesIn } from './engine-store.ts';
import {
  causesEvents,
  type EngineChanges,
  type EngineRecord,
  engineResource,
  isChanging,
  isOver,
  renewedLease,
  withoutEvents,
} from './engines.ts';
import type { documentOperations } from './operations.ts';

type EngineHandlers = Pick<Handlers<typeof documentOperations>, 'renewEngine' | 'closeEngine'>;
type RenewalRequest = Parameters<EngineHandlers['renewEngine']>[0];

/** The seconds after which most requests of an engine have ended. */
const RETRY_AFTER_SECONDS = 1;

const changing = () =>
  new Problem(
    'too_many_requests',
    'Send the request again. The lease is renewed, but another request is changing connections of this engine. Give each process its own engine id.',
    undefined,
    { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  );

const overBudget = (seconds: number) =>
  new Problem(
    'too_many_requests',
    `Send the request again in ${seconds} s. The lease is renewed and connections without \`lost\` are closed, but none was opened or reported as lost, because the events of this project caused more deliveries than its limit.`,
    undefined,
    { 'Retry-After': String(seconds) },
  );

export function engineHandlers({ table, clock, random, ...runtime }: Backend): EngineHandlers {
  const engines = enginesIn(table);
  const send = checkQueue(runtime);
  const end = endingOf(table, send);
  const newId = () => Buffer.from(random(9)).toString('base64url');

  return {
    async renewEngine(request) {
      const { body, space, path, caller } = request;
      const waitSeconds = causesEvents(body) ? caller.publishAfterSeconds : undefined;
      const changes = waitSeconds ? withoutEvents(body) : body;
      const changeId = changes.opened.length + changes.closed.length > 0 ? newId() : undefined;
      const renewed = await renew(request, changeId);
      if (renewed instanceof Problem) return renewed;
      const { record, seenAt } = renewed;
      if (changeId !== undefined) {
        try {
          await change(changes, record, seenAt);
        } finally {
          await engines.release(space, path.id, changeId).catch(() => {}); // otherwise the next request waits until this one has ended
        }
      }
      return waitSeconds ? overBudget(waitSeconds) : { body: engineResource(record) };
    },

    // A lease that has expired is lost, and its events are published.
    closeEngine: ({ space, path }) =>
      optimistically(async () => {
        const record = await engines.get(space, path.id);
        if (!record) return notFound('engine');
        return (await end(record, isOver(record, clock()) ? 'lost' : 'closed')) ? {} : undefined;
      }),
  };

  /** Renews the lease, and reserves the engine for the change. Returns the time of the last renewal too. */
  function renew({ body, space, path: { id } }: RenewalRequest, changeId: string | undefined) {
    return optimistically(async () => {
      const before = await engines.get(space, id);
      const now = clock();
      if (before && isOver(before, now) && !(await end(before, 'lost'))) return undefined;
      const open = before && !isOver(before, now) ? before : undefined;
      const lease = renewedLease(open, { ...space, id, session: newId(), leaseSeconds: body.lease_seconds }, now);
      const { session, checkAt } = lease;
      // The check is sent first, because a check without a lease does nothing, but a lease without a check would never end.
      if (checkAt !== open?.checkAt) await send({ engineId: id, session, ...space, checkAt }, body.lease_seconds);
      const isTaken = changeId !== undefined && open !== undefined && isChanging(open, now);
      const reserved = changeId !== undefined && !isTaken && { changeId, changingUntil: now + RUNNING_MS };
      const record: EngineRecord = { ...lease, ...reserved };
      // A session that ended is replaced, as `end` has stored it.
      const replaced = before && !open ? { ...before, ended: before.ended ?? ('lost' as const) } : before;
      if (!(await engines.put(replaced, record))) return undefined;
      return isTaken ? changing() : { record, seenAt: open?.lastSeenAt ?? now };
    });
  }

  async function change({ opened, closed }: EngineChanges, record: EngineRecord, seenAt: number): Promise<void> {
    const { id: engineId, session, projectId, environment, lastSeenAt: now } = record;
    const place = { engineId, session, projectId, environment };
    const isLost = new Map(closed.map(({ id, lost = false }) => [id, lost]));
    const remaining = opened
      .filter(({ id }) => isLost.get(id) !== false)
      .map(({ id, node_id: nodeId, document_key: documentKey, user }) => ({ id, nodeId, documentKey, user }));
    await engines.open(place, remaining, now);
    const idsOf = (lost: boolean) => [...isLost].flatMap(([id, each]) => (each === lost ? [id] : []));
    await engines.close(place, idsOf(false));
    const lost = await engines.remaining(place, idsOf(true));
    await engines.lose(place, lost, { lastSeenAt: seenAt, lostAt: now }, clock(), random);
  }
}
