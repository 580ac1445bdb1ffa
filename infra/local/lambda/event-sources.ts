import type { LocalFunction } from './lambda.ts';

/** `AWS::Lambda::EventSourceMapping`, as far as it is used here. */
export interface MappingProperties {
  EventSourceArn: string;
  FunctionName: string;
  /** On unless it is false. `aws lambda update-event-source-mapping` changes it. */
  Enabled?: boolean;
  MetricsConfig?: { Metrics: string[] };
  BatchSize?: number;
  FunctionResponseTypes?: string[];
  /** Queues only. */
  ScalingConfig?: { MaximumConcurrency?: number };
  /** Streams only. -1, or nothing, is no limit. */
  MaximumRetryAttempts?: number;
  MaximumRecordAgeInSeconds?: number;
  MaximumBatchingWindowInSeconds?: number;
  TumblingWindowInSeconds?: number;
  FilterCriteria?: { Filters: { Pattern: string }[] };
  DestinationConfig?: { OnFailure: { Destination: string } };
}

/** What invokes a function with batches, and reads which of their items failed. */
export type BatchConsumer = Pick<LocalFunction, 'role' | 'invoke'>;

/** The same for a queue, which may hold what the function sent itself. */
export type QueueConsumer = BatchConsumer & Pick<LocalFunction, 'endsChain'>;

export interface BatchOutcome {
  /** Ids of the items that failed. */
  failed: ReadonlySet<string>;
  /** The name of the error, if the whole batch failed. */
  error?: string;
}

/** With a tumbling window, a response without a state is a failure (Lambda Developer Guide, "Implementing stateful DynamoDB stream processing"). */
const NO_STATE = 'NoState';

/** Invokes a function with a batch (Lambda Developer Guide, "Implementing partial batch responses"). Never rejects. */
export async function invokeBatch(
  fn: BatchConsumer,
  Records: object[],
  ids: string[],
  { FunctionResponseTypes, TumblingWindowInSeconds }: MappingProperties,
  { traces = [], window = {} }: { traces?: readonly (string | undefined)[]; window?: object } = {},
): Promise<BatchOutcome> {
  try {
    const response = (await fn.invoke({ Records, ...window }, traces)) as {
      batchItemFailures?: { itemIdentifier: string }[];
      state?: object;
    } | null;
    if (TumblingWindowInSeconds && !response?.state) return { failed: new Set(ids), error: NO_STATE };
    if (!FunctionResponseTypes?.includes('ReportBatchItemFailures')) return { failed: new Set() };
    const failed = new Set(response?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
    // An id that is none of the batch's means that the function lost track: everything comes again.
    return failed.isSubsetOf(new Set(ids)) ? { failed } : { failed: new Set(ids) };
  } catch (error) {
    return { failed: new Set(ids), error: (error as Error).name };
  }
}
