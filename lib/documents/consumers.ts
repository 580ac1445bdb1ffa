import { EventType } from '@aws-lambda-powertools/batch';
import type { SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { consume } from '../aws/batches.ts';
import { CheckMessage } from './connections.ts';

/** Consumes checks of connections. The queue delays each message until the lease should have ended. */
export const checkConsumer = (check: (message: CheckMessage) => Promise<string>, { log, reportFailure }: Backend) =>
  consume<SQSRecord>(EventType.SQS, {
    reportFailure,
    async handle({ body }) {
      const message = v.parse(CheckMessage, JSON.parse(body));
      const result = await check(message);
      log.info('connection.checked', { connection_id: message.connectionId, project_id: message.projectId, result });
    },
    describe: ({ messageId }) => ['connection.check_failed', { message_id: messageId }],
  });
