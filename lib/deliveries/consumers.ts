import { EventType } from '@aws-lambda-powertools/batch';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Backend } from '../aws/backend.ts';
import { consume } from '../aws/batches.ts';
import { countAttempt, publishMetrics } from '../aws/log.ts';
import { deliveryFields, resultEvent } from './attempt-log.ts';
import { type BatchDeps, deliverBatch } from './batch.ts';
import { parseMessage } from './messages.ts';

/** Consumes the messages of a lane. One read loads what a batch refers to, and all of its attempts run at the same time. */
export function deliverConsumer(deps: BatchDeps, { reportFailure }: Backend) {
  return async (batch: SQSEvent, context: Context) => {
    const messages = new Map(batch.Records.map((record) => [record, parseMessage(record.body)]));
    const handle = deliverBatch([...messages.values()], deps);
    const response = await consume<SQSRecord>(EventType.SQS, {
      reportFailure,
      handle: (record) => handle(messages.get(record) ?? null),
      describe(record) {
        const message = messages.get(record);
        const named = message && !('recover' in message) ? deliveryFields(message) : message?.recover;
        return ['delivery.handling_failed', { message_id: record.messageId, ...named }];
      },
    })(batch, context);
    publishMetrics();
    return response;
  };
}

/** Counts and logs the result of a message. */
export const resultReporter =
  ({ log }: Backend): BatchDeps['done'] =>
  (message, result) => {
    countAttempt(result);
    const { level, event, fields } = resultEvent(message, result);
    log[level](event, fields);
  };
