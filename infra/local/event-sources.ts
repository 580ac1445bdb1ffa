import type { _Record } from '@aws-sdk/client-dynamodb-streams';
import type { LocalIam } from './iam.ts';
import type { LocalFunction } from './lambda.ts';
import type { LocalQueue, QueueMessage } from './sqs.ts';
import { REGION } from './template.ts';

export interface MappingProperties {
  EventSourceArn: string;
  FunctionName: string;
  BatchSize?: number;
  MaximumRetryAttempts?: number;
  FunctionResponseTypes?: string[];
  FilterCriteria?: { Filters: { Pattern: string }[] };
  DestinationConfig?: { OnFailure: { Destination: string } };
}

interface BatchResponse {
  batchItemFailures?: { itemIdentifier: string }[];
}

/** Which items of a batch failed, as Lambda reads a partial batch response; all of them if the function threw. */
async function failuresOf(fn: LocalFunction, event: unknown, ids: string[], isPartial: boolean): Promise<Set<string>> {
  try {
    const response = (await fn.invoke(event)) as BatchResponse | null;
    if (!isPartial) return new Set();
    return new Set((response?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
  } catch {
    return new Set(ids);
  }
}

/** Lambda's poller of a queue: batches to the function, what succeeded is deleted, the rest becomes visible again. */
/** What Lambda needs on a queue, with the function's own role (Lambda Developer Guide, "Configuring an Amazon SQS queue"). */
const QUEUE_ACTIONS = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];
const STREAM_ACTIONS = ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'];

export function pollQueue(
  queue: LocalQueue,
  fn: LocalFunction,
  mapping: MappingProperties,
  concurrency: number,
  iam: LocalIam,
): () => void {
  let stopped = false;
  const isPartial = mapping.FunctionResponseTypes?.includes('ReportBatchItemFailures') ?? false;

  async function poll(): Promise<void> {
    while (!stopped) {
      if (!QUEUE_ACTIONS.every((action) => iam.allows(fn.role, action, mapping.EventSourceArn))) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      const messages = queue.receive(mapping.BatchSize ?? 10);
      if (messages.length === 0) {
        await queue.untilVisible();
        continue;
      }
      const event = { Records: messages.map((message) => toRecord(message, mapping.EventSourceArn)) };
      const failures = await failuresOf(
        fn,
        event,
        messages.map(({ messageId }) => messageId),
        isPartial,
      );
      for (const { messageId, receiptHandle } of messages) {
        if (failures.has(messageId)) queue.fail(receiptHandle);
        else queue.delete(receiptHandle);
      }
    }
  }
  for (let i = 0; i < concurrency; i++) void poll();
  return () => {
    stopped = true;
  };
}

function toRecord(message: QueueMessage, eventSourceARN: string) {
  const { messageId, receiptHandle, body, group } = message;
  return {
    messageId,
    receiptHandle,
    body,
    attributes: {
      ApproximateReceiveCount: String(message.receiveCount),
      SentTimestamp: String(message.sentAt),
      ...(group !== undefined && { MessageGroupId: group }),
    },
    messageAttributes: {},
    eventSource: 'aws:sqs',
    eventSourceARN,
    awsRegion: REGION,
  };
}

/**
 * Lambda's poller of a stream: in order, in batches that match the filters; a failed batch is tried again from the first
 * item that failed, up to the limit, and then goes to the failure queue.
 */
export function streamConsumer(
  fn: LocalFunction,
  mapping: MappingProperties,
  failureQueue: LocalQueue | undefined,
  iam: LocalIam,
  retrySpeed: number,
) {
  const patterns = (mapping.FilterCriteria?.Filters ?? []).map(({ Pattern }) => JSON.parse(Pattern));
  const isPartial = mapping.FunctionResponseTypes?.includes('ReportBatchItemFailures') ?? false;

  return async (records: _Record[]): Promise<void> => {
    // As if nothing had been read: the records stay where they are.
    while (!STREAM_ACTIONS.every((action) => iam.allows(fn.role, action, mapping.EventSourceArn))) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const wanted = records.filter(
      (record) => patterns.length === 0 || patterns.some((pattern) => matches(pattern, record)),
    );
    const size = mapping.BatchSize ?? 100;
    for (let i = 0; i < wanted.length; i += size) await consumeBatch(wanted.slice(i, i + size));
  };

  async function consumeBatch(batch: _Record[]): Promise<void> {
    let rest = batch;
    for (let tries = 0; rest.length > 0; tries++) {
      if (tries > (mapping.MaximumRetryAttempts ?? 1000)) {
        const mayTell = failureQueue && iam.allows(fn.role, 'sqs:SendMessage', failureQueue.settings.arn);
        if (mayTell) failureQueue.send(JSON.stringify({ DDBStreamBatchInfo: { batchSize: rest.length } }));
        return;
      }
      if (tries > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(1000, 20 * 2 ** tries) / retrySpeed));
      const ids = rest.map(sequenceOf);
      const event = {
        Records: rest.map((record) => ({
          ...record,
          eventSource: 'aws:dynamodb',
          eventSourceARN: mapping.EventSourceArn,
        })),
      };
      const failures = await failuresOf(fn, event, ids, isPartial);
      const first = ids.findIndex((id) => failures.has(id));
      rest = first < 0 ? [] : rest.slice(first);
    }
  }
}

const sequenceOf = (record: _Record): string => record.dynamodb?.SequenceNumber ?? '';

/** Event filter patterns of Lambda, as far as equality goes. */
function matches(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.includes(value);
  return Object.entries(pattern as object).every(([name, inner]) =>
    matches(inner, (value as Record<string, unknown> | undefined)?.[name]),
  );
}
