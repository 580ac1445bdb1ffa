import { bucketOf, ID_ALPHABET } from '../ids.ts';

/**
 * The partitions of the delivery log of a webhook. Together they support 16,000 writes of 1 KB per second (DynamoDB quotas). A
 * list reads all of them.
 */
export const LOG_PARTITIONS = 16;

/** The partition of a delivery in the log of a webhook. */
export const logPartitionOf = (eventId: string): string => partition(bucketOf(eventId, LOG_PARTITIONS));

export const logPartitions = (): string[] => Array.from({ length: LOG_PARTITIONS }, (_, bucket) => partition(bucket));

const partition = (bucket: number): string => ID_ALPHABET[bucket] as string;
