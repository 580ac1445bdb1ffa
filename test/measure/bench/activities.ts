import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalStack } from '../../../infra/local/stack.ts';
import { changed } from '../../support/changed.ts';
import { percentile } from '../../support/percentile.ts';
import { startEndpoint } from './endpoint-process.ts';
import type { Latency } from './isolation-endpoints.ts';
import type { Load } from './load.ts';
import { median } from './median.ts';
import { createProject } from './project.ts';
import { startBench } from './stack.ts';

/** The rounds, each of which measures every activity once. */
const ROUNDS = 3;
/** How long an activity, and the time without one before it, are measured. */
const SEGMENT_MS = 4000;
/** Not measured: the start of a segment, and the work that the last one left. */
const PAUSE_MS = 1000;
const WARM_UP_MS = 8000;
/** The events per second of the measured project. */
const PER_SECOND = 10;
/** What the neighbor has. */
const STORED = { events: 300, documents: 100, webhooks: 10, keys: 20 };
/** A project polls a list at the limit of costly lists (`infra/throttles.ts`), with some concurrent clients. */
const POLLING = { method: 'GET', clients: { count: 4, perSecond: 50 } } as const;

type Activity = Omit<Load, 'url' | 'adminKey'> & { path: string };

/**
 * The p95 from publication to receipt at an endpoint of a project while a neighbor polls a list or publishes, relative to the same
 * before. The ratio is the median of three rounds in one run.
 */
export async function measureActivities(assembly: string) {
  const { stack, stop } = await startBench(assembly);
  const sink = await startEndpoint();
  const neighbor = await createProject(stack, 'Neighbor');
  const activities = await activitiesOf(neighbor, sink.url);
  const own = await startOwn(stack);
  const clients = fork(new URL('./load.ts', import.meta.url));
  await once(clients, 'message');
  await sleep(WARM_UP_MS);
  const measured = new Map(Object.keys(activities).map((name) => [name, [] as Measured[]]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, { path, ...load }] of Object.entries(activities)) {
      const alone = await own.p95();
      clients.send({ ...load, url: stack.baseUrl + path, adminKey: neighbor.adminKey });
      const beside = await own.p95();
      clients.send('stop');
      const [requests] = (await once(clients, 'message')) as [number];
      measured.get(name)?.push({ alone, beside, perSecond: (requests * 1000) / (SEGMENT_MS + PAUSE_MS) });
    }
  clients.disconnect();
  sink.stop();
  await own.stop();
  await stop();
  return Object.fromEntries([...measured].map(([name, rounds]) => [name, rowOf(rounds)]));
}

interface Measured {
  alone: number;
  beside: number;
  perSecond: number;
}

const rowOf = (rounds: readonly Measured[]) => ({
  requests_per_second: Number(median(rounds.map(({ perSecond }) => perSecond)).toPrecision(2)),
  p95_alone_ms: median(rounds.map(({ alone }) => alone)),
  p95_ms: median(rounds.map(({ beside }) => beside)),
  ratio: median(rounds.map(({ alone, beside }) => beside / alone)).toFixed(2),
});

/** Stores the data of the neighbor, and returns what it does by name. */
async function activitiesOf(
  { post, send }: Awaited<ReturnType<typeof createProject>>,
  url: string,
): Promise<Record<string, Activity>> {
  const event = (i: number) => changed({ document_key: `org:acme:doc-${i % 50}` });
  const batch = { events: Array.from({ length: 100 }, (_, i) => event(i)) };
  const { id: webhookId } = await post('/v1/webhooks', { url, events: ['document.changed'] });
  for (let i = 1; i < STORED.webhooks; i++) await post('/v1/webhooks', { url: url + i, events: ['connection.lost'] });
  for (let i = 0; i < STORED.keys; i++) await post('/v1/keys', { type: 'live', name: `Key ${i}` });
  for (let i = 0; i < STORED.documents; i++) await send('PUT', `/v1/documents/org:acme:doc-${i}`, { fields: { i } });
  for (let i = 0; i < STORED.events; i += 100) await post('/v1/events/batch', batch);
  const { id: eventId } = await post('/v1/events', event(0));
  const lists: Record<string, string> = {
    events: '/v1/events?limit=100',
    'events with their outcome': '/v1/events?limit=100&include=outcome',
    'events of a type': '/v1/events?limit=100&type=document.changed',
    'events of a document': '/v1/events?limit=100&document_key=org:acme:doc-1',
    'deliveries of an event': `/v1/events/${eventId}/deliveries`,
    'deliveries of a webhook': `/v1/webhooks/${webhookId}/deliveries?limit=100`,
    webhooks: '/v1/webhooks',
    stats: '/v1/stats',
    keys: '/v1/keys',
    'audit log': '/v1/audit?limit=100',
    documents: '/v1/documents?limit=100&prefix=org:acme',
  };
  return {
    ...Object.fromEntries(Object.entries(lists).map(([name, path]) => [`polls: ${name}`, { ...POLLING, path }])),
    'publishes singly': { ...POLLING, method: 'POST', path: '/v1/events', body: event(1) },
    'publishes batches of 100': {
      ...{ method: 'POST', path: '/v1/events/batch', body: batch },
      clients: { count: 1, perSecond: 1 },
    },
  };
}

/** Starts a project that publishes events all the time. */
async function startOwn(stack: LocalStack) {
  const { post } = await createProject(stack);
  const endpoints = fork(new URL('./isolation-endpoints.ts', import.meta.url));
  endpoints.send({ count: 0, changesAt: 0 });
  const [[url]] = (await once(endpoints, 'message')) as [string[]];
  await post('/v1/webhooks', { url, events: ['document.deleted'] });
  const data = { document_key: 'a', revision: 1, origin: 'bench' };
  const publish = () => post('/v1/events', { type: 'document.deleted', data });
  const timer = setInterval(() => void publish().catch(publish), 1000 / PER_SECOND);
  return {
    /** The p95 from publication to receipt, in milliseconds, of the events that are received in a segment. */
    async p95(): Promise<number> {
      await sleep(PAUSE_MS);
      await latenciesOf(endpoints);
      await sleep(SEGMENT_MS);
      return percentile(
        (await latenciesOf(endpoints)).map(({ ms }) => ms),
        0.95,
      );
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      await sleep(PAUSE_MS);
      endpoints.disconnect();
    },
  };
}

/** The latencies since the last call. */
async function latenciesOf(endpoints: ChildProcess): Promise<Latency[]> {
  endpoints.send('latencies');
  const [latencies] = (await once(endpoints, 'message')) as [Latency[]];
  return latencies;
}
