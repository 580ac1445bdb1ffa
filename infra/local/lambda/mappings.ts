import type { Services } from '../services/services.ts';
import { StreamPoller } from '../services/stream.ts';
import { streamConsumer } from '../services/stream-consumer.ts';
import type { LocalClock } from './clock.ts';
import type { MappingProperties, QueueConsumer } from './event-sources.ts';
import { pollQueue } from './queue-poller.ts';

export interface MappingsOptions {
  services: Pick<Services, 'template' | 'iam' | 'queueAt' | 'buckets' | 'streamArn' | 'streamPositions' | 'writes'>;
  databaseEndpoint: string;
  /** By its logical id. */
  functionOf(id: string): QueueConsumer;
  /** Batches of one mapping at once, at most. */
  concurrency: number;
  /** How many times faster a failed batch of a stream is tried again. */
  retrySpeed: number;
  /** How many times faster a stream's batching window passes. */
  speed: number;
  clock: LocalClock;
}

export const mappingsOf = ({ template }: Pick<Services, 'template'>): MappingProperties[] =>
  template.ofType<MappingProperties>('AWS::Lambda::EventSourceMapping').map(({ properties }) => properties);

/** Shorter than this, a window that passes faster would gather nothing, and cost an invocation for each record. */
const MIN_WINDOW_MS = 500;

const windowOf = ({ MaximumBatchingWindowInSeconds: seconds = 0 }: MappingProperties, speed: number): number =>
  seconds === 0 ? 0 : Math.max(MIN_WINDOW_MS, (seconds * 1000) / speed);

/** Has the template's functions invoked by their queues and by the table's stream. Returns what stops it. */
export async function startMappings(options: MappingsOptions): Promise<() => void> {
  const { services, databaseEndpoint, functionOf, concurrency, retrySpeed, speed, clock } = options;
  const { iam, queueAt, buckets, streamArn, streamPositions, writes } = services;
  const stops: (() => void)[] = [];
  for (const mapping of mappingsOf(services)) {
    const fn = functionOf(mapping.FunctionName);
    const queue = queueAt(mapping.EventSourceArn);
    if (queue) {
      stops.push(pollQueue({ queue, fn, mapping, concurrency, iam }));
    } else {
      const destination = buckets.get(mapping.DestinationConfig?.OnFailure.Destination ?? '');
      const consume = streamConsumer({ fn, mapping, destination, iam, retrySpeed, now: () => clock.now() });
      const poller = new StreamPoller({
        endpoint: databaseEndpoint,
        arn: streamArn,
        writes,
        consume,
        clock,
        positions: streamPositions,
        consumer: mapping.FunctionName,
        windowMs: windowOf(mapping, speed),
        batchSize: mapping.BatchSize ?? 100,
      });
      await poller.start();
      stops.push(() => poller.stop());
    }
  }
  return () => {
    for (const stop of stops) stop();
  };
}
