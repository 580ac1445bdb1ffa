import type { LocalCloudWatch } from '../cloudwatch/cloudwatch.ts';
import type { Services } from '../services/services.ts';
import type { LocalClock } from './clock.ts';
import type { MappingProperties, QueueConsumer } from './event-sources.ts';
import { pollQueue } from './queue-poller.ts';
import { canPoll, streamConsumer } from './stream-consumer.ts';
import { StreamPoller } from './stream-poller.ts';

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
  /** Receives the metrics of mappings. */
  cloudWatch?: Pick<LocalCloudWatch, 'put' | 'everyMinute'> | undefined;
}

/** The mappings of the template, by id. */
export const mappingsOf = ({ template }: Pick<Services, 'template'>): Map<string, MappingProperties> =>
  new Map(
    template.ofType<MappingProperties>('AWS::Lambda::EventSourceMapping').map(({ id, properties }) => [id, properties]),
  );

/** Shorter than this, a window that passes faster would gather nothing, and cost an invocation for each record. */
const MIN_WINDOW_MS = 500;

const windowOf = ({ MaximumBatchingWindowInSeconds: seconds = 0 }: MappingProperties, speed: number): number =>
  seconds === 0 ? 0 : Math.max(MIN_WINDOW_MS, (seconds * 1000) / speed);

/** Has functions invoked by their queues and by the table's stream. Returns what stops it. */
export async function startMappings(
  mappings: ReadonlyMap<string, MappingProperties>,
  options: MappingsOptions,
): Promise<() => void> {
  const { services, databaseEndpoint, functionOf, concurrency, retrySpeed, speed, clock, cloudWatch } = options;
  const { iam, queueAt, buckets, streamArn, streamPositions, writes } = services;
  const stops: (() => void)[] = [];
  for (const [id, mapping] of mappings) {
    const fn = functionOf(mapping.FunctionName);
    const queue = queueAt(mapping.EventSourceArn);
    if (queue) {
      stops.push(pollQueue({ queue, fn, mapping, concurrency, iam }));
    } else {
      const destination = buckets.get(mapping.DestinationConfig?.OnFailure.Destination ?? '');
      const isCounted = mapping.MetricsConfig?.Metrics.includes('EventCount') ?? false;
      const count = (name: string, events: number) =>
        isCounted &&
        cloudWatch?.put({ namespace: 'AWS/Lambda', name, dimensions: { EventSourceMappingUUID: id } }, events);
      const consume = streamConsumer({
        fn,
        mapping,
        destination,
        iam,
        retrySpeed,
        now: () => clock.now(),
        count,
        aged: (ageMs) => {
          const dimensions = { FunctionName: mapping.FunctionName };
          cloudWatch?.put({ namespace: 'AWS/Lambda', name: 'IteratorAge', dimensions }, ageMs);
        },
      });
      // Lambda polls several times a second, and counts empty polls as 0 (Lambda Developer Guide, `PolledEventCount`).
      cloudWatch?.everyMinute(() => canPoll(mapping, fn, iam) && count('PolledEventCount', 0));
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
