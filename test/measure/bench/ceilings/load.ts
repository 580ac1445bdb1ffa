import { readFileSync } from 'node:fs';
import type { Counts } from '../cost/usage.ts';

/** The load of a deployment. Rates are per second. */
export interface Load {
  /** The events of all projects, and of the busiest project, all of one type. */
  events: number;
  projectEvents: number;
  /** The events in one request. */
  published: number;
  /** The webhooks for each event. */
  webhooks: number;
  /** The response time of endpoints in milliseconds. */
  endpointMs: number;
  /** The share of first attempts that fail, and the share of those whose retries all fail too. */
  failing: number;
  lasting: number;
  /** The deliveries in a full batch of a lane, which are 10, or 100 with a batching window. */
  deliveriesOfBatch: number;
  /** The requests except publications, and the part of them with one key and its tokens. */
  requests: number;
  keyRequests: number;
  /** The document writes of the busiest project, their size, and its sync cycles with their number of documents. */
  documentWrites: number;
  documentKb: number;
  syncCycles: number;
  syncedDocuments: number;
  /** The open connections, and the interval of their renewals in seconds. */
  connections: number;
  renewedEverySeconds: number;
  /** The webhooks that fail. Each causes a warning and an email when it is disabled. */
  outages: number;
}

/** A small deployment. The command line can override each member. */
export const LOAD: Load = {
  events: 100,
  projectEvents: 20,
  published: 1,
  webhooks: 2,
  endpointMs: 100,
  failing: 0.02,
  lasting: 0.1,
  deliveriesOfBatch: 10,
  requests: 100,
  keyRequests: 50,
  documentWrites: 20,
  documentKb: 2,
  syncCycles: 0.1,
  syncedDocuments: 1000,
  connections: 1000,
  renewedEverySeconds: 150,
  outages: 0.01,
};

/** The table units of an event and an attempt. */
export interface UnitCosts {
  eventWrites: number;
  logWrites: number;
  /** The writes of a failed attempt, including the flag of its retry. */
  failedLogWrites: number;
  failedIndexWrites: number;
  keyReads: number;
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
    eventReads: of(single.readUnits, 'EVENT'),
    logReads: of(single.readUnits, 'HOOK'),
    fanOuts: Object.entries(measured['singly, 100 at once'].invocations).reduce(
      (total, [name, count]) => (name.startsWith('DeliveryFanOut') ? total + count : total),
      0,
    ),
  };
}
