import { type Monitoring, NO_MONITORING } from '../monitoring.ts';
import type { Services } from '../services/services.ts';
import type { LocalClock } from './clock.ts';
import type { BatchConsumer, MappingProperties } from './event-sources.ts';
import { pollQueue } from './queue-poller.ts';
import { streamConsumer } from './stream-consumer.ts';
import { StreamPoller } from './stream-poller.ts';

export interface MappingsOptions {
  services: Pick<Services, 'template' | 'queueAt' | 'buckets' | 'streamArn' | 'streamPositions' | 'writes'>;
  databaseEndpoint: string;
  /** Returns a function by its logical id. */
  functionOf(id: string): BatchConsumer;
  /** The maximum number of concurrent batches of a mapping. */
  concurrency: number;
  /** How many times faster a failed batch of a stream is retried. */
  retrySpeed: number;
  /** How many times faster the batching window of a stream passes. */
  speed: number;
  clock: LocalClock;
  monitoring?: Monitoring;
}

/** The mappings of the template, by id. */
export const mappingsOf = ({ template }: Pick<Services, 'template'>): Map<string, MappingProperties> =>
  new Map(
    template.ofType<MappingProperties>('AWS::Lambda::EventSourceMapping').map(({ id, properties }) => [id, properties]),
  );

/** The minimum window. A shorter one would gather nothing and cost an invocation for each record. */
const MIN_WINDOW_MS = 500;

const windowOf = ({ MaximumBatchingWindowInSeconds: seconds = 0 }: MappingProperties, speed: number): number =>
  seconds === 0 ? 0 : Math.max(MIN_WINDOW_MS, (seconds * 1000) / speed);

/** Invokes functions with messages of their queues and records of the table stream. Returns a function that stops it. */
export async function startMappings(
  mappings: ReadonlyMap<string, MappingProperties>,
  options: MappingsOptions,
): Promise<() => void> {
  const { services, functionOf, concurrency } = options;
  const stops: (() => void)[] = [];
  for (const [id, mapping] of mappings) {
    const fn = functionOf(mapping.FunctionName);
    const queue = services.queueAt(mapping.EventSourceArn);
    stops.push(queue ? pollQueue({ queue, fn, mapping, concurrency }) : await pollStream(id, fn, mapping, options));
  }
  return () => {
    for (const stop of stops) stop();
  };
}

async function pollStream(
  id: string,
  fn: BatchConsumer,
  mapping: MappingProperties,
  { services, databaseEndpoint, retrySpeed, speed, clock, monitoring = NO_MONITORING }: MappingsOptions,
): Promise<() => void> {
  const { buckets, streamArn, streamPositions, writes } = services;
  const isCounted = mapping.MetricsConfig?.Metrics.includes('EventCount') ?? false;
  const put = (name: string, dimensions: Record<string, string>, value: number) =>
    monitoring.put({ namespace: 'AWS/Lambda', name, dimensions }, value);
  const count = (name: string, events: number) => isCounted && put(name, { EventSourceMappingUUID: id }, events);
  const stopping = new AbortController();
  const consume = streamConsumer({
    fn,
    mapping,
    destination: buckets.get(mapping.DestinationConfig?.OnFailure.Destination ?? ''),
    retrySpeed,
    now: () => clock.now(),
    signal: stopping.signal,
    count,
    aged: (ageMs) => put('IteratorAge', { FunctionName: mapping.FunctionName }, ageMs),
  });
  // Lambda polls several times per second and records empty polls as 0 (Lambda Developer Guide, `PolledEventCount`).
  monitoring.everyMinute(() => mapping.Enabled !== false && count('PolledEventCount', 0));
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
  return () => {
    stopping.abort();
    poller.stop();
  };
}
