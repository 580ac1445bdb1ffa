import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import type { LocalClock } from '../lambda/clock.ts';
import { REGION } from '../template.ts';

/** Between two looks at a stream without news. */
const POLL_MS = 30;
/** Between two looks for new shards. */
const SHARDS_MS = 10_000;

/** Reads a stream of the local database from its beginning, in order, and hands every record to `consume` once it resolves. */
export class StreamPoller {
  private readonly client: DynamoDBStreamsClient;
  private readonly arn: string;
  private readonly consume: (records: _Record[]) => Promise<void>;
  private readonly clock: LocalClock;
  private readonly known = new Set<string>();
  private stopped = false;
  private timer: NodeJS.Timeout | undefined;

  /** `clock`: by which records are dated, as the functions that wrote them were told the time. */
  constructor(endpoint: string, arn: string, consume: (records: _Record[]) => Promise<void>, clock: LocalClock) {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    this.client = new DynamoDBStreamsClient({ endpoint, region: REGION, credentials });
    this.arn = arn;
    this.consume = consume;
    this.clock = clock;
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
    const { StreamDescription } = await this.client.send(new DescribeStreamCommand({ StreamArn: this.arn }));
    for (const { ShardId } of StreamDescription?.Shards ?? []) {
      if (!ShardId || this.known.has(ShardId)) continue;
      this.known.add(ShardId);
      void this.read(ShardId);
    }
  }

  private dated(record: _Record): _Record {
    const createdAt = record.dynamodb?.ApproximateCreationDateTime;
    if (!createdAt) return record;
    return { ...record, dynamodb: { ...record.dynamodb, ApproximateCreationDateTime: this.clock.moved(createdAt) } };
  }

  // An iterator can expire or be trimmed; a new one goes on where the last record was.
  private async read(ShardId: string): Promise<void> {
    const shard = { StreamArn: this.arn, ShardId };
    let last: string | undefined;
    let iterator: string | undefined;
    while (!this.stopped) {
      try {
        const position = last
          ? ({ ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: last } as const)
          : ({ ShardIteratorType: 'TRIM_HORIZON' } as const);
        iterator ??= (await this.client.send(new GetShardIteratorCommand({ ...shard, ...position }))).ShardIterator;
        const batch = await this.client.send(new GetRecordsCommand({ ShardIterator: iterator, Limit: 1000 }));
        const records = (batch.Records ?? []).map((record) => this.dated(record));
        if (records.length > 0) await this.consume(records);
        if (!batch.NextShardIterator) return; // the shard is closed and read to its end
        iterator = batch.NextShardIterator;
        last = records.at(-1)?.dynamodb?.SequenceNumber ?? last;
        if (records.length > 0) continue;
      } catch {
        iterator = undefined;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}
