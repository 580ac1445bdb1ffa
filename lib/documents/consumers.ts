import { EventType } from '@aws-lambda-powertools/batch';
import type { SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { consume } from '../aws/batches.ts';
import { optimistically } from '../concurrency.ts';
import { UnavailableError } from '../errors.ts';
import { checkQueue, connections as connectionsIn } from './connection-store.ts';
import { CheckMessage, isLapsed, lostEvents, MAX_LEASE_SECONDS } from './connections.ts';
import { endingOf, engines as enginesIn } from './engine-store.ts';
import { EngineCheck, EngineSweep, isOver } from './engines.ts';

const AnyCheck = v.union([CheckMessage, EngineCheck, EngineSweep]);

/** Consumes checks of connections and of engines. The queue delays each check until the lease should have ended. */
export function checkConsumer(backend: Backend) {
  const { log, reportFailure } = backend;
  const check = checking(backend);
  const [checkEngine, sweep] = [engineChecking(backend), sweeping(backend)];
  return consume<SQSRecord>(EventType.SQS, {
    reportFailure,
    async handle({ body }) {
      const message = v.parse(AnyCheck, JSON.parse(body));
      const { projectId: project_id } = message;
      if ('connectionId' in message) {
        const result = await check(message);
        log.info('connection.checked', { connection_id: message.connectionId, project_id, result });
      } else if ('partition' in message) {
        const connections = await sweep(message);
        log.info('engine.swept', { engine_id: message.engineId, project_id, connections });
      } else {
        const result = await checkEngine(message);
        log.info('engine.checked', { engine_id: message.engineId, project_id, result });
      }
    },
    describe: ({ messageId }) => ['connection.check_failed', { message_id: messageId }],
  });
}

/**
 * Ends an expired lease and publishes its event. Schedules another check of a lease that was renewed, also while this check was
 * ending it. If several checks find one expired lease, one of them ends it. If several check an open connection, only the latest
 * schedules another one.
 */
function checking({ table, clock, random, ...runtime }: Backend) {
  const connections = connectionsIn(table);
  const scheduleCheck = checkQueue(runtime);
  return ({ connectionId, checkAt, ...space }: CheckMessage): Promise<'gone' | 'open' | 'lost'> =>
    optimistically(async () => {
      const record = await connections.get(space, connectionId);
      if (!record) return 'gone';
      const now = clock();
      if (isLapsed(record, now))
        return (await connections.remove(record, lostEvents(record, [record], now, random))) ? 'lost' : undefined;
      const isOutdated = checkAt !== undefined && record.checkAt > checkAt;
      if (isOutdated) return 'open';
      const { expiresAt } = record;
      const secondsLeft = Math.ceil((expiresAt - now) / 1000); // more than a lease, if the clock of the API is ahead
      await scheduleCheck({ connectionId, ...space, checkAt: expiresAt }, Math.min(secondsLeft, MAX_LEASE_SECONDS));
      await connections.put(record, { ...record, checkAt: expiresAt }, []);
      return 'open';
    });
}

/**
 * Ends the session of a lease that has expired, or schedules another check of one that was renewed. A session that has ended already is
 * ended again, because the function that did it may have stopped before it queued the removal of the connections.
 */
function engineChecking({ table, clock, ...runtime }: Backend) {
  const engines = enginesIn(table);
  const send = checkQueue(runtime);
  const end = endingOf(table, send);
  return ({ engineId, session, checkAt, ...space }: EngineCheck): Promise<'gone' | 'open' | 'ended'> =>
    optimistically(async () => {
      const record = await engines.get(space, engineId);
      if (record?.session !== session) return 'gone';
      const now = clock();
      // In a copied table, the messages that were queued are gone.
      const found = checkAt === undefined ? { ...record, isSwept: undefined } : record;
      if (isOver(record, now)) return (await end(found, 'lost')) ? 'ended' : undefined;
      if (checkAt !== undefined && record.checkAt > checkAt) return 'open'; // outdated
      const { expiresAt } = record;
      const secondsLeft = Math.ceil((expiresAt - now) / 1000);
      const next = { engineId, session, ...space, checkAt: expiresAt };
      await send(next, Math.min(secondsLeft, MAX_LEASE_SECONDS));
      await engines.put(record, { ...record, checkAt: expiresAt });
      return 'open';
    });
}

/** How long one message removes connections. It then queues itself. */
const SWEEP_MS = 8000;
/** A throttled table is tried again after this time, which is much shorter than the visibility timeout of the queue. */
const RETRY_SECONDS = 5;
const MAX_TRIES = 20;

/** Removes the connections of an ended session from a partition. Returns their number, of those that this message removed. */
function sweeping({ table, clock, random, ...runtime }: Backend) {
  const engines = enginesIn(table);
  const send = checkQueue(runtime);
  return async (message: EngineSweep): Promise<number> => {
    const { partition, lost, tries = 0, ...session } = message;
    const endsAt = clock() + SWEEP_MS;
    let removed = 0;
    try {
      for (let isLast = false; !isLast; ) {
        if (clock() >= endsAt) {
          await send(message, 0);
          break;
        }
        const page = await engines.inPartition(session, partition);
        const ids = page.connections.map(({ id }) => id);
        await (lost ? engines.lose(session, page.connections, lost, clock(), random) : engines.close(session, ids));
        removed += ids.length;
        isLast = page.isLast;
      }
    } catch (error) {
      if (!(error instanceof UnavailableError) || tries >= MAX_TRIES) throw error;
      await send({ ...message, tries: tries + 1 }, RETRY_SECONDS);
    }
    return removed;
  };
}
