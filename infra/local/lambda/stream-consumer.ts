import { randomUUID } from 'node:crypto';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { DynamoDBRecord } from 'aws-lambda';
import { matchesPattern } from '../event-pattern.ts';
import type { LocalBucket } from '../services/s3.ts';
import { REGION } from '../template.ts';
import { type BatchConsumer, ENABLED_CHECK_MS, invokeBatch, type MappingProperties } from './event-sources.ts';
import { MAX_REQUEST_BYTES } from './lambda.ts';

/** The records that are measured in one turn of the event loop, so that requests do not wait for a large batch. */
const MEASURED_TOGETHER = 100;
/** The part of an invocation that is not records, at most. */
const ENVELOPE_BYTES = 1024;

/** The metrics that alarms use (Lambda Developer Guide, "Event source mapping metrics"). */
type EventCount = 'PolledEventCount' | 'DroppedEventCount' | 'OnFailureDestinationDeliveredEventCount';

export interface StreamConsumerOptions {
  fn: BatchConsumer;
  mapping: MappingProperties;
  /** The bucket for discarded records. */
  destination: LocalBucket | undefined;
  /** How many times faster a failed batch is retried. */
  retrySpeed: number;
  now: () => number;
  /** Ends waiting batches, whose records stay in the stream. */
  signal: AbortSignal;
  /** Receives the number of events for each metric of the mapping, and the age of the events that the function received. */
  count?: ((name: EventCount, events: number) => void) | undefined;
  aged?: ((ageMs: number) => void) | undefined;
}

/**
 * Polls a stream like Lambda, in order and in batches that match the filters. It retries a failed batch from the first failed
 * item, without a limit, because no mapping of the template has one. It discards records that are too old (Lambda Developer Guide,
 * "Lambda parameters for Amazon DynamoDB event source mappings"), and stores them in the destination. Rejects when the signal ends a
 * batch.
 */
export function streamConsumer({
  fn,
  mapping,
  destination,
  retrySpeed,
  now,
  signal,
  count = () => {},
  aged = () => {},
}: StreamConsumerOptions) {
  const patterns = (mapping.FilterCriteria?.Filters ?? []).map(({ Pattern }) => JSON.parse(Pattern));
  const { MaximumRecordAgeInSeconds: seconds = -1 } = mapping;
  const maxAgeMs = seconds < 0 ? Number.POSITIVE_INFINITY : seconds * 1000;

  return async (records: DynamoDBRecord[], shardId: string): Promise<void> => {
    // The records stay in the stream.
    while (mapping.Enabled === false) await sleep(ENABLED_CHECK_MS, undefined, { signal });
    const wanted = records.filter(
      (record) => patterns.length === 0 || patterns.some((pattern) => matchesPattern(pattern, record)),
    );
    count('PolledEventCount', records.length);
    for (const batch of await batchesOf(wanted)) await consumeBatch(batch, shardId);
  };

  // A batch is limited by the payload of an invocation too (Lambda API Reference, `BatchSize`).
  async function batchesOf(records: readonly DynamoDBRecord[]): Promise<DynamoDBRecord[][]> {
    const batches: DynamoDBRecord[][] = [];
    let room = 0;
    for (const [i, record] of records.entries()) {
      if (i % MEASURED_TOGETHER === MEASURED_TOGETHER - 1) await turn();
      const bytes = Buffer.byteLength(JSON.stringify(toEvent(record))) + 1;
      const last = batches.at(-1);
      if (last && last.length < (mapping.BatchSize ?? 100) && bytes <= room) last.push(record);
      else {
        batches.push([record]);
        room = MAX_REQUEST_BYTES - ENVELOPE_BYTES;
      }
      room -= bytes;
    }
    return batches;
  }

  async function consumeBatch(batch: DynamoDBRecord[], shardId: string): Promise<void> {
    let rest = batch;
    // The member of a tumbling window that a function reads.
    const window = mapping.TumblingWindowInSeconds ? { shardId } : {};
    for (let tries = 0; ; tries++) {
      const old = rest.filter((record) => now() - createdAt(record) > maxAgeMs);
      discard(old, tries);
      rest = rest.slice(old.length);
      if (rest.length === 0) return;
      if (tries > 0) await sleep(Math.min(1000, 20 * 2 ** tries) / retrySpeed, undefined, { signal });
      const ageMs = now() - createdAt(rest.at(-1) as DynamoDBRecord);
      const failed = await invokeBatch(fn, rest.map(toEvent), rest.map(sequenceOf), mapping, window);
      const first = rest.findIndex((record) => failed.has(sequenceOf(record)));
      rest = first < 0 ? [] : rest.slice(first);
      aged(ageMs);
    }
  }

  function discard(records: DynamoDBRecord[], approximateInvokeCount: number): void {
    if (records.length === 0) return;
    const at = new Date(now()).toISOString();
    const key = `aws/lambda/${mapping.FunctionName}/shard/${at.slice(0, 10).replaceAll('-', '/')}/${at}-${randomUUID()}`;
    count('DroppedEventCount', records.length);
    if (!destination) return;
    count('OnFailureDestinationDeliveredEventCount', records.length);
    const [first, last] = [records.at(0), records.at(-1)].map((record) => record && sequenceOf(record));
    const DDBStreamBatchInfo = {
      startSequenceNumber: first,
      endSequenceNumber: last,
      batchSize: records.length,
      streamArn: mapping.EventSourceArn,
    };
    const requestContext = {
      functionArn: mapping.FunctionName,
      condition: 'RecordAgeExceeded',
      approximateInvokeCount,
    };
    const payload = JSON.stringify({ Records: records.map(toEvent) });
    destination.set(
      key,
      JSON.stringify({ requestContext, version: '1.0', timestamp: at, DDBStreamBatchInfo, payload }),
    );
  }

  function toEvent(record: DynamoDBRecord): object {
    return streamRecord(record, mapping.EventSourceArn);
  }
}

/** A record as a function receives it (Lambda Developer Guide, "Using AWS Lambda with Amazon DynamoDB"). */
export const streamRecord = (record: DynamoDBRecord, eventSourceARN: string): DynamoDBRecord => ({
  ...record,
  awsRegion: REGION,
  eventSource: 'aws:dynamodb',
  eventSourceARN,
});

const sequenceOf = (record: DynamoDBRecord): string => record.dynamodb?.SequenceNumber ?? '';
const createdAt = (record: DynamoDBRecord): number => (record.dynamodb?.ApproximateCreationDateTime ?? 0) * 1000;
