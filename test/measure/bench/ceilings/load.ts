import { readFileSync } from 'node:fs';
import type { Counts } from '../cost/usage.ts';

/** Each member of a load: its value in a small deployment, and its meaning. The command line can override each value. */
export const LOAD_MEMBERS = {
  events: [100, 'events per second of all projects'],
  projectEvents: [20, 'events per second of the busiest project, all of one type'],
  published: [1, 'events in one request'],
  webhooks: [2, 'webhooks for each event'],
  endpointMs: [100, 'response time of endpoints in milliseconds'],
  failing: [0.02, 'share of first attempts that fail'],
  lasting: [0.1, 'share of failed first attempts whose retries all fail too'],
  deliveriesOfBatch: [10, 'deliveries in a full batch of a lane: 10, or 100 with a batching window'],
  requests: [100, 'requests per second, except publications'],
  eventLists: [1, 'pages of lists of events per second'],
  keyRequests: [50, 'requests per second with one key and its tokens'],
  documentWrites: [20, 'document writes per second of the busiest project'],
  documentKb: [2, 'size of its documents in KB'],
  syncCycles: [0.1, 'sync cycles per second of the busiest project'],
  syncedDocuments: [1000, 'documents in a sync cycle'],
  connections: [1000, 'open connections'],
  renewedEverySeconds: [150, 'seconds between the renewals of a connection'],
  outages: [0.01, 'webhooks that fail per second, each with a warning and an email when it is disabled'],
} as const satisfies Record<string, readonly [value: number, meaning: string]>;

/** The load of a deployment. */
export type Load = Record<keyof typeof LOAD_MEMBERS, number>;

/** A small deployment. */
export const LOAD = Object.fromEntries(Object.entries(LOAD_MEMBERS).map(([name, [value]]) => [name, value])) as Load;

/** The table units of an event and an attempt. */
export interface UnitCosts {
  eventWrites: number;
  logWrites: number;
  /** The writes of a failed attempt, including the flag of its retry. */
  failedLogWrites: number;
  failedIndexWrites: number;
  keyReads: number;
  /** The reads of the project for a request, and for a batch of deliveries. */
  projectReads: number;
  /** The reads of an attempt. */
  eventReads: number;
  logReads: number;
  /** The fan-out invocations per event at a steady rate. */
  fanOuts: number;
}

/** The last counts of `npm run bench -- cost`, by scenario. */
export type Measured = Record<
  'singly, one after another' | 'singly, 100 at once' | 'in batches of 100' | 'delivered at the 3rd attempt',
  Counts
>;

export const MEASURED_FILE = new URL('./measured.json', import.meta.url);
export const readMeasured = (): Measured => JSON.parse(readFileSync(MEASURED_FILE, 'utf8'));

/** A single event has one request and one batch. */
const REQUEST_AND_BATCH = 2;

/** Calculates the unit costs from the counts. A delivery at its third attempt failed twice before. */
export function unitCostsOf(measured: Measured, { published }: Pick<Load, 'published'>): UnitCosts {
  const single = measured['singly, one after another'];
  const third = measured['delivered at the 3rd attempt'];
  const events = published > 1 ? measured['in batches of 100'] : single;
  const of = (counts: Readonly<Record<string, number>>, name: string): number => counts[name] ?? 0;
  const failures = 2;
  return {
    eventWrites: of(events.writeUnits, 'EVENT'),
    logWrites: of(single.writeUnits, 'HOOK'),
    failedLogWrites: (of(third.writeUnits, 'HOOK') - of(single.writeUnits, 'HOOK')) / failures,
    failedIndexWrites: of(third.writeUnits, 'by_status') / failures,
    keyReads: of(single.readUnits, 'KEY'),
    projectReads: of(single.readUnits, 'PROJECT') / REQUEST_AND_BATCH,
    eventReads: of(single.readUnits, 'EVENT'),
    logReads: of(single.readUnits, 'HOOK'),
    fanOuts: Object.entries(measured['singly, 100 at once'].invocations).reduce(
      (total, [name, count]) => (name.startsWith('DeliveryFanOut') ? total + count : total),
      0,
    ),
  };
}
