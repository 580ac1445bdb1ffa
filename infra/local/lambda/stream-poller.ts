import { setTimeout as sleep } from 'node:timers/promises';
import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import type { Signal } from '../services/signal.ts';
import { REGION } from '../template.ts';
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
  consume(records: _Record[], shardId: string): Promise<void>;
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
  private readonly client: DynamoDBStreamsClient;
  private readonly options: StreamPollerOptions;
  private readonly known = new Set<string>();
  private stopped = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: StreamPollerOptions) {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    this.client = new DynamoDBStreamsClient({ endpoint: options.endpoint, region: REGION, credentials });
    this.client.middlewareStack.remove('loggerMiddleware'); // it copies every record, and logs nothing
    this.options = options;
  }

  async start(): Promise<void> {
    await this.findShards();
    this.timer = setInterval(() => void this.findShards().catch(() => {}), SHARDS_MS);
  }

  stop(): void {
    this.stopped = true;
    clearInterval(this.timer);
    this.client.destroy();
  }

  private async findShards(): Promise<void> {
    const { StreamDescription } = await this.client.send(new DescribeStreamCommand({ StreamArn: this.options.arn }));
    for (const { ShardId } of StreamDescription?.Shards ?? []) {
      if (!ShardId || this.known.has(ShardId)) continue;
      this.known.add(ShardId);
      void this.read(ShardId);
    }
  }

  private dated(record: _Record): _Record {
    const createdAt = record.dynamodb?.ApproximateCreationDateTime;
    if (!createdAt) return record;
    return {
      ...record,
      dynamodb: { ...record.dynamodb, ApproximateCreationDateTime: this.options.clock.moved(createdAt) },
    };
  }

  // An iterator can expire. A new iterator then continues after the last record.
  private async read(ShardId: string): Promise<void> {
    const shard = { StreamArn: this.options.arn, ShardId };
    const { positions, consumer, consume, windowMs, batchSize, writes } = this.options;
    const pollMs = Math.min(Math.max(POLL_MS, windowMs), GATHERING_POLL_MS);
    const place = `${consumer} ${ShardId}`;
    let iterator: string | undefined;
    let gathered: _Record[] = [];
    let gatheredSince = 0;
    while (!this.stopped) {
      const known = writes.count;
      const lookedAt = performance.now();
      try {
        const last = positions.get(place);
        const position = last
          ? ({ ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: last } as const)
          : ({ ShardIteratorType: 'TRIM_HORIZON' } as const);
        iterator ??= (await this.client.send(new GetShardIteratorCommand({ ...shard, ...position }))).ShardIterator;
        const batch = await this.client.send(new GetRecordsCommand({ ShardIterator: iterator, Limit: 1000 }));
        if (this.stopped) return; // the next reader processes these records
        const records = (batch.Records ?? []).map((record) => this.dated(record));
        if (gathered.length === 0) gatheredSince = performance.now();
        gathered.push(...records);
        const isDue = performance.now() >= gatheredSince + windowMs || gathered.length >= batchSize;
        if (gathered.length > 0 && (isDue || !batch.NextShardIterator)) {
          await consume(gathered, ShardId);
          positions.set(place, gathered.at(-1)?.dynamodb?.SequenceNumber ?? '');
          gathered = [];
        }
        if (!batch.NextShardIterator) return; // the shard is closed, and all records are read
        iterator = batch.NextShardIterator;
        if (records.length > 0) continue;
      } catch (error) {
        iterator = undefined;
        gathered = [];
        if (error instanceof TrimmedDataAccessException) positions.delete(place);
      }
      await writes.beyond(known, QUIET_POLL_MS);
      const restMs = lookedAt + pollMs - performance.now();
      if (restMs > 0) await sleep(restMs);
    }
  }
}
