import { newEvent, type StoredEvent } from '../../lib/events/event.ts';
import type { EventType } from '../../lib/events/types.ts';
import { derivedFrom } from '../../lib/ids.ts';
import type { Space } from '../../lib/space.ts';
import { MAX_WEBHOOKS, type WebhookRecord } from '../../lib/webhooks/webhook.ts';
import { now, webhook } from '../unit/deliveries/builders.ts';
import { firstAttempts } from './first-attempts.ts';
import { percentile } from './percentile.ts';

/** How long a webhook is measured, and when its neighbors publish. */
const DURATION_MS = 10_000;
const BURST_AT = now + 1000;

interface Load {
  webhooks: readonly WebhookRecord[];
  events: readonly StoredEvent[];
}

/** Events of many documents at some times, and webhooks with quick endpoints that receive all of them. */
function load(space: Space, type: EventType, times: readonly number[], webhooks = 1): Load {
  const { projectId, environment } = space;
  const idOf = (i: number) => ['whk', projectId, environment, type, i].join('_');
  return {
    webhooks: Array.from({ length: webhooks }, (_, i) =>
      webhook({ ...space, id: idOf(i), events: [type], quickSince: now }),
    ),
    events: times.map((at, i) => {
      const data = { document_key: `document:${i}`, revision: 1, origin: 'node' };
      return newEvent({ ...space, at, type, data }, derivedFrom(`${idOf(0)} ${i}`));
    }),
  };
}

const OWN = { projectId: 'prj_own', environment: 'live' } as const;
/** A webhook with ten events per second. */
const own = load(
  OWN,
  'document.changed',
  Array.from({ length: DURATION_MS / 100 }, (_, i) => now + i * 100),
);
const burst = (events: number): number[] => Array(events).fill(BURST_AT);
/** The events of requests at a rate, for some time from the start. */
const steady = (requestsPerSecond: number, eventsOfRequest: number, durationMs = DURATION_MS): number[] =>
  Array.from({ length: (durationMs / 1000) * requestsPerSecond }, (_, i) =>
    Array<number>(eventsOfRequest).fill(now + Math.round((i * 1000) / requestsPerSecond)),
  ).flat();
/** A project that uses its default budget of ten seconds in one burst: a batch of 100 events to 100 webhooks. */
const wide = (space: Space): Load => load(space, 'document.created', burst(100), MAX_WEBHOOKS);

/** A project with one webhook that receives its events. */
const narrow = (times: readonly number[], projectId = 'prj_1'): Load =>
  load({ ...OWN, projectId }, 'document.created', times);

/**
 * What publishes next to the webhook. A project can send 500 requests and cause 1,000 deliveries per second, and a new table accepts
 * 2,000 events per second (`infra/COSTS.md`). A project that only reads uses no shard, function or queue of deliveries.
 */
const NEIGHBORS: Readonly<Record<string, readonly Load[]>> = {
  'a project with 100 webhooks': [wide({ ...OWN, projectId: 'prj_1' })],
  'four projects with 100 webhooks each': [1, 2, 3, 4].map((i) => wide({ ...OWN, projectId: `prj_${i}` })),
  'the sandbox of its project, with 100 webhooks': [wide({ ...OWN, environment: 'sandbox' })],
  'a project that publishes 500 events per second': [narrow(steady(500, 1))],
  'a project that publishes 10 batches of 100 events per second': [narrow(steady(10, 100))],
  'a project that publishes 20 batches of 100 events per second for 5 seconds': [narrow(steady(20, 100, 5000))],
  'a webhook of its project with 5,000 events': [load(OWN, 'document.deleted', burst(5000))],
};
export const neighbors = Object.keys(NEIGHBORS);

/** Bursts that only a table with more warm throughput accepts. They fill the stream, which is not fair to projects. */
const BURSTS: typeof NEIGHBORS = {
  'a project that publishes 10,000 events at the same time': [narrow(burst(10_000))],
  'four projects that publish 10,000 events each at the same time': [1, 2, 3, 4].map((i) =>
    narrow(burst(10_000), `prj_${i}`),
  ),
};
export const bursts = Object.keys(BURSTS);

/** The p95 from an event to its first attempt at the webhook, in milliseconds of the model, alone and next to a neighbor. */
export async function measureNeighbor(name: string) {
  const p95Of = async (loads: readonly Load[]) => {
    const events = loads.flatMap((load) => load.events).sort((a, b) => a.at - b.at);
    const delays = await firstAttempts(
      events,
      loads.flatMap(({ webhooks }) => webhooks),
    );
    return percentile(delays.get(own.webhooks[0]?.id ?? '') ?? [], 0.95);
  };
  const alone = await p95Of([own]);
  const beside = await p95Of([own, ...(NEIGHBORS[name] ?? BURSTS[name] ?? [])]);
  return { alone, beside, ratio: beside / alone };
}
