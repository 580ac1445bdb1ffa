import { EventType } from '@aws-lambda-powertools/batch';
import type { SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import { consume } from '../lib/aws/consumer.ts';
import { connections } from '../lib/aws/dynamodb/connections.ts';
import { createTable } from '../lib/aws/dynamodb/table.ts';
import { environment } from '../lib/aws/environment.ts';
import { log } from '../lib/aws/log.ts';
import { queue } from '../lib/aws/queue.ts';
import { system } from '../lib/aws/system.ts';
import { CheckMessage } from '../lib/documents/connections.ts';
import { type ConnectionsDeps, checkConnection } from '../lib/handlers/connections.ts';

/** Connections whose lease should be over: the queue delays the message until then. */
export function createHandler(deps: ConnectionsDeps) {
  return consume<SQSRecord>(EventType.SQS, {
    async handle({ body }) {
      const message = v.parse(CheckMessage, JSON.parse(body));
      const result = await checkConnection(message, deps);
      log.info('connection.checked', { connection_id: message.connectionId, project_id: message.projectId, result });
    },
    describe: ({ messageId }) => ['connection.check_failed', { message_id: messageId }],
  });
}

const checks = queue(environment('CHECKS_QUEUE_URL'));
export const handler = createHandler({
  connections: connections(createTable(environment('TABLE_NAME'))),
  scheduleCheck: (body, delaySeconds) => checks.send({ body, delaySeconds }),
  ...system,
});
