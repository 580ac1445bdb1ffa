import { BatchProcessor, type EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent, SQSEvent, SQSRecord } from 'aws-lambda';
import { NotYetError } from '../errors.ts';
import type { ReportFailure } from './log.ts';

interface Consumer<Item extends SQSRecord | DynamoDBRecord> {
  reportFailure: ReportFailure;
  handle(record: Item): Promise<void>;
  /** The log event of a failed record, and the fields that identify the record. */
  describe(record: Item): [event: string, fields: Record<string, unknown>];
}

/**
 * Handles each record of a batch separately. Only the records that throw are repeated (Lambda Developer Guide, partial batch
 * responses). Each failure is reported.
 */
export function consume<Item extends SQSRecord | DynamoDBRecord>(
  type: typeof EventType.SQS | typeof EventType.DynamoDBStreams,
  { handle, describe, reportFailure }: Consumer<Item>,
) {
  const processor = new BatchProcessor(type);
  const reported = async (record: Item): Promise<void> => {
    try {
      await handle(record);
    } catch (error) {
      if (!(error instanceof NotYetError)) {
        const [event, fields] = describe(record);
        reportFailure(event, { ...fields, receive_count: receiveCount(record) }, error);
      }
      throw error;
    }
  };
  return (batch: SQSEvent | DynamoDBStreamEvent, context: Context) =>
    processPartialResponse(batch, reported, processor, { context, throwOnFullBatchFailure: false });
}

const receiveCount = (record: SQSRecord | DynamoDBRecord): number | undefined =>
  'attributes' in record ? Number(record.attributes.ApproximateReceiveCount) : undefined;
