import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { REGION } from './template.ts';

/** Between two looks at a stream without news. */
const POLL_MS = 30;
/** Between two looks for new shards. */
const SHARDS_MS = 10_000;

/** Reads a stream of DynamoDB Local from its beginning, in order, and hands every record to `consume` once it resolves. */
export class StreamPoller {
  private readonly client: DynamoDBStreamsClient;
  private readonly arn: string;
  private readonly consume: (records: _Record[]) => Promise<void>;
  private readonly known = new Set<string>();
  private stopped = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(endpoint: string, arn: string, consume: (records: _Record[]) => Promise<void>) {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    this.client = new DynamoDBStreamsClient({ endpoint, region: REGION, credentials });
    this.arn = arn;
    this.consume = consume;
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

  private async read(ShardId: string): Promise<void> {
    const input = { StreamArn: this.arn, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const;
    let iterator: string | undefined;
    while (!this.stopped) {
      try {
        iterator ??= (await this.client.send(new GetShardIteratorCommand(input))).ShardIterator;
        const { Records = [], NextShardIterator } = await this.client.send(
          new GetRecordsCommand({ ShardIterator: iterator, Limit: 1000 }),
        );
        if (Records.length > 0) await this.consume(Records);
        if (!NextShardIterator) return; // the shard is closed and read to its end
        iterator = NextShardIterator;
        if (Records.length > 0) continue;
      } catch (error) {
        if (this.stopped) return;
        if ((error as Error).name === 'ExpiredIteratorException') throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}
