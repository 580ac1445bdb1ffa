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
  /** Only for streams. -1 means no limit. */
  MaximumRecordAgeInSeconds?: number;
  MaximumBatchingWindowInSeconds?: number;
  TumblingWindowInSeconds?: number;
  FilterCriteria?: { Filters: { Pattern: string }[] };
  DestinationConfig?: { OnFailure: { Destination: string } };
}

/** How often a poller checks whether a disabled mapping is enabled again. */
export const ENABLED_CHECK_MS = 50;

/** Invokes a function with batches and reads the failed items from the response. */
export type BatchConsumer = Pick<LocalFunction, 'invoke'>;

/**
 * Invokes a function with a batch, and returns the ids of the failed items (Lambda Developer Guide, "Implementing partial batch
 * responses"). With a tumbling window, a response without a state is a failure ("Implementing stateful DynamoDB stream
 * processing"). Never rejects.
 */
export async function invokeBatch(
  fn: BatchConsumer,
  Records: object[],
  ids: string[],
  { FunctionResponseTypes, TumblingWindowInSeconds }: MappingProperties,
  window: object = {},
): Promise<ReadonlySet<string>> {
  const all = new Set(ids);
  try {
    const response = (await fn.invoke({ Records, ...window })) as {
      batchItemFailures?: { itemIdentifier: string }[];
      state?: object;
    } | null;
    if (TumblingWindowInSeconds && !response?.state) return all;
    if (!FunctionResponseTypes?.includes('ReportBatchItemFailures')) return new Set();
    const failed = new Set(response?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
    // An unknown id in the response means that all items are retried.
    return failed.isSubsetOf(all) ? failed : all;
  } catch {
    return all;
  }
}
