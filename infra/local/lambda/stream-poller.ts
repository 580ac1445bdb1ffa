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

/** Between two looks at a stream, at least: by a consumer that gathers nothing, and by one that does. */
const POLL_MS = 30;
const GATHERING_POLL_MS = 1000;
/** Between two looks while nobody writes, for writes that did not come through this process. */
const QUIET_POLL_MS = 1000;
/** Between two looks for new shards. */
const SHARDS_MS = 10_000;

export interface StreamPollerOptions {
  /** Of the local database. */
  endpoint: string;
  arn: string;
  /** Given by everybody who writes to the table. */
  writes: Signal;
  consume(records: _Record[], shardId: string): Promise<void>;
  /** For how long records are gathered, unless there are so many. */
  windowMs: number;
  batchSize: number;
  /** By which records are dated, as the functions that wrote them were told the time. */
  clock: LocalClock;
  /** By consumer and shard, the sequence number of the last record that was consumed. */
  positions: Map<string, string>;
  /** Its name among those that read the stream. */
  consumer: string;
}

/** Reads a stream of the local database from its beginning or where it was, in order, and hands every record to `consume`. */
export class StreamPoller {
  private readonly client: DynamoDBStreamsClient;
  private readonly options: StreamPollerOptions;
  private readonly known = new Set<string>();
  private stopped = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: StreamPollerOptions) {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    this.client = new DynamoDBStreamsClient({ endpoint: options.endpoint, region: REGION, credentials });
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

  // An iterator can expire or be trimmed; a new one goes on where the last record was.
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
        if (this.stopped) return; // what comes now is for who reads next
        const records = (batch.Records ?? []).map((record) => this.dated(record));
        if (gathered.length === 0) gatheredSince = performance.now();
        gathered.push(...records);
        const isDue = performance.now() >= gatheredSince + windowMs || gathered.length >= batchSize;
        if (gathered.length > 0 && (isDue || !batch.NextShardIterator)) {
          await consume(gathered, ShardId);
          positions.set(place, gathered.at(-1)?.dynamodb?.SequenceNumber ?? '');
          gathered = [];
        }
        if (!batch.NextShardIterator) return; // the shard is closed and read to its end
        iterator = batch.NextShardIterator;
        if (records.length > 0) continue;
      } catch (error) {
        iterator = undefined;
        gathered = [];
        if (error instanceof TrimmedDataAccessException) positions.delete(place);
      }
      await writes.beyond(known, QUIET_POLL_MS);
      const restMs = lookedAt + pollMs - performance.now();
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }
}
