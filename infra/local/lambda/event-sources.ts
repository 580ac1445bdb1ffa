import type { LocalFunction } from './lambda.ts';

/** The properties of `AWS::Lambda::EventSourceMapping` that the template uses. */
export interface MappingProperties {
  EventSourceArn: string;
  FunctionName: string;
  /** Enabled unless it is false. `aws lambda update-event-source-mapping` changes it. */
  Enabled?: boolean;
  MetricsConfig?: { Metrics: string[] };
  BatchSize?: number;
  FunctionResponseTypes?: string[];
  /** Only for queues. */
  ScalingConfig?: { MaximumConcurrency?: number };
  /** Only for streams. -1 or absent means no limit. */
  MaximumRetryAttempts?: number;
  MaximumRecordAgeInSeconds?: number;
  MaximumBatchingWindowInSeconds?: number;
  TumblingWindowInSeconds?: number;
  FilterCriteria?: { Filters: { Pattern: string }[] };
  DestinationConfig?: { OnFailure: { Destination: string } };
}

/** Invokes a function with batches and reads the failed items from the response. */
export type BatchConsumer = Pick<LocalFunction, 'role' | 'invoke'>;

export interface BatchOutcome {
  /** The ids of the failed items. */
  failed: ReadonlySet<string>;
  /** The name of the error, if the complete batch failed. */
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
  window: object = {},
): Promise<BatchOutcome> {
  try {
    const response = (await fn.invoke({ Records, ...window })) as {
      batchItemFailures?: { itemIdentifier: string }[];
      state?: object;
    } | null;
    if (TumblingWindowInSeconds && !response?.state) return { failed: new Set(ids), error: NO_STATE };
    if (!FunctionResponseTypes?.includes('ReportBatchItemFailures')) return { failed: new Set() };
    const failed = new Set(response?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
    // An unknown id in the response means that all items are retried.
    return failed.isSubsetOf(new Set(ids)) ? { failed } : { failed: new Set(ids) };
  } catch (error) {
    return { failed: new Set(ids), error: (error as Error).name };
  }
}
