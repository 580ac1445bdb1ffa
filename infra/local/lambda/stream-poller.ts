import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDBRecord } from 'aws-lambda';
import type { Signal } from '../services/signal.ts';
import { isTrimmed, localStreams } from '../services/streams.ts';
import type { LocalClock } from './clock.ts';

/** The minimum interval between two polls of a stream, without and with a batching window. */
const POLL_MS = 30;
const GATHERING_POLL_MS = 1000;
/** The interval between two polls without writes, to find writes of other processes. */
const QUIET_POLL_MS = 1000;
/** The interval between two searches for new shards. */
const SHARDS_MS = 10_000;

export interface StreamPollerOptions {
  /** The endpoint of the local database. */
  endpoint: string;
  arn: string;
  /** The signal for writes to the table. */
  writes: Signal;
  consume(records: DynamoDBRecord[], shardId: string): Promise<void>;
  /** How long records are gathered, up to the batch size. */
  windowMs: number;
  batchSize: number;
  /** The clock of the functions, which sets the dates of records. */
  clock: LocalClock;
  /** The sequence number of the last consumed record, by consumer and shard. */
  positions: Map<string, string>;
  /** The name of the consumer. */
  consumer: string;
}

/**
 * Reads a stream of the local database in order, from the beginning or from its stored position, and passes every record to
 * `consume`.
 */
export class StreamPoller {
  private readonly streams: ReturnType<typeof localStreams>;
  private readonly options: StreamPollerOptions;
  private readonly known = new Set<string>();
  private stopped = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: StreamPollerOptions) {
    this.streams = localStreams(options.endpoint);
    this.options = options;
  }

  async start(): Promise<void> {
    await this.findShards();
    this.timer = setInterval(() => void this.findShards().catch(() => {}), SHARDS_MS);
  }

  stop(): void {
    this.stopped = true;
    clearInterval(this.timer);
    this.streams.destroy();
  }

  private async findShards(): Promise<void> {
    for (const shardId of await this.streams.shardIds(this.options.arn)) {
      if (this.known.has(shardId)) continue;
      this.known.add(shardId);
      void this.read(shardId);
    }
  }

  private dated(record: DynamoDBRecord): DynamoDBRecord {
    const seconds = record.dynamodb?.ApproximateCreationDateTime;
    if (seconds === undefined) return record;
    const ApproximateCreationDateTime = this.options.clock.moved(seconds * 1000) / 1000;
    return { ...record, dynamodb: { ...record.dynamodb, ApproximateCreationDateTime } };
  }

  // An iterator can expire. A new iterator then continues after the last record.
  private async read(shardId: string): Promise<void> {
    const { arn, positions, consumer, consume, windowMs, batchSize, writes } = this.options;
    const pollMs = Math.min(Math.max(POLL_MS, windowMs), GATHERING_POLL_MS);
    const place = `${consumer} ${shardId}`;
    let iterator: string | undefined;
    let gathered: DynamoDBRecord[] = [];
    let gatheredSince = 0;
    while (!this.stopped) {
      const known = writes.count;
      const lookedAt = performance.now();
      try {
        iterator ??= await this.streams.iterator(arn, shardId, positions.get(place));
        const batch = await this.streams.records(iterator);
        if (this.stopped) return; // the next reader processes these records
        const records = batch.records.map((record) => this.dated(record));
        if (gathered.length === 0) gatheredSince = performance.now();
        gathered.push(...records);
        const isDue = performance.now() >= gatheredSince + windowMs || gathered.length >= batchSize;
        if (gathered.length > 0 && (isDue || !batch.next)) {
          await consume(gathered, shardId);
          positions.set(place, gathered.at(-1)?.dynamodb?.SequenceNumber ?? '');
          gathered = [];
        }
        if (!batch.next) return; // the shard is closed, and all records are read
        iterator = batch.next;
        if (records.length > 0) continue;
      } catch (error) {
        iterator = undefined;
        gathered = [];
        if (isTrimmed(error)) positions.delete(place);
      }
      await writes.beyond(known, QUIET_POLL_MS);
      const restMs = lookedAt + pollMs - performance.now();
      if (restMs > 0) await sleep(restMs);
    }
  }
}
