import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import { connections } from '../lib/aws/connections.ts';
import { environment } from '../lib/aws/environment.ts';
import { log } from '../lib/aws/log.ts';
import { queue } from '../lib/aws/queue.ts';
import { sources } from '../lib/aws/sources.ts';
import { createTable } from '../lib/aws/table.ts';
import { CheckMessage } from '../lib/connections.ts';
import { type ConnectionsDeps, checkConnection } from '../lib/handlers/connections.ts';

/** Connections whose lease should be over: the queue delays the message until then. */
export function createHandler(deps: ConnectionsDeps) {
  const processor = new BatchProcessor(EventType.SQS);
  const handle = async ({ body }: SQSRecord) => {
    const message = v.parse(CheckMessage, JSON.parse(body));
    const result = await checkConnection(message, deps);
    log.info('connection.checked', { connection_id: message.connectionId, project_id: message.projectId, result });
  };
  return (batch: SQSEvent, context: Context) =>
    processPartialResponse(batch, handle, processor, { context, throwOnFullBatchFailure: false });
}

const checks = queue(environment('CHECKS_QUEUE_URL'));
export const handler = createHandler({
  connections: connections(createTable(environment('TABLE_NAME'))),
  scheduleCheck: (body, delaySeconds) => checks.send({ body, delaySeconds }),
  ...sources,
});
