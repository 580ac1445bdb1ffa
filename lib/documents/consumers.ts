import { EventType } from '@aws-lambda-powertools/batch';
import type { SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { consume } from '../aws/batches.ts';
import { optimistically } from '../concurrency.ts';
import { checkQueue, connections as connectionsIn } from './connection-store.ts';
import { CheckMessage, isLapsed, lostEvent, MAX_LEASE_SECONDS } from './connections.ts';

/** Consumes checks of connections. The queue delays each message until the lease should have ended. */
export function checkConsumer(backend: Backend) {
  const { log, reportFailure } = backend;
  const check = checking(backend);
  return consume<SQSRecord>(EventType.SQS, {
    reportFailure,
    async handle({ body }) {
      const message = v.parse(CheckMessage, JSON.parse(body));
      const result = await check(message);
      log.info('connection.checked', { connection_id: message.connectionId, project_id: message.projectId, result });
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
        return (await connections.remove(record, [lostEvent(record, now, random)])) ? 'lost' : undefined;
      const isOutdated = checkAt !== undefined && record.checkAt > checkAt;
      if (isOutdated) return 'open';
      const { expiresAt } = record;
      const secondsLeft = Math.ceil((expiresAt - now) / 1000); // more than a lease, if the clock of the API is ahead
      await scheduleCheck({ connectionId, ...space, checkAt: expiresAt }, Math.min(secondsLeft, MAX_LEASE_SECONDS));
      await connections.put(record, { ...record, checkAt: expiresAt }, []);
      return 'open';
    });
}
