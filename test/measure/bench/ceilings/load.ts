import { readFileSync } from 'node:fs';
import type { Counts } from '../cost/usage.ts';

/** What a deployment is asked to do. Rates are per second. */
export interface Load {
  /** Events of all projects, and of the busiest one, all of one type. */
  events: number;
  projectEvents: number;
  /** Events of one request. */
  published: number;
  /** Webhooks that take each event. */
  webhooks: number;
  /** Milliseconds until an endpoint has responded. */
  endpointMs: number;
  /** Share of first attempts that fail, and of those the share whose retries all fail too. */
  failing: number;
  lasting: number;
  /** Deliveries that one batch of a lane carries when its queue is full: 10, or 100 with a batching window. */
  deliveriesOfBatch: number;
  /** Requests other than to publish, and of those with one key and its tokens. */
  requests: number;
  keyRequests: number;
  /** Of the busiest project: documents that are written, their size, and sync cycles over how many documents. */
  documentWrites: number;
  documentKb: number;
  syncCycles: number;
  syncedDocuments: number;
  /** Connections that are held open, and how often each is renewed, in seconds. */
  connections: number;
  renewedEverySeconds: number;
  /** Webhooks that go down: an email each to warn, and one when it is disabled. */
  outages: number;
}

/** A small deployment; each member of it can be given on the command line. */
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

/** Units of the table that one event or one attempt takes. */
export interface UnitCosts {
  eventWrites: number;
  logWrites: number;
  /** Of an attempt that failed, with what marks its retry as queued. */
  failedLogWrites: number;
  failedIndexWrites: number;
  keyReads: number;
  /** Of one attempt. */
  eventReads: number;
  logReads: number;
  /** Invocations of the fan-out for one event at a steady rate. */
  fanOuts: number;
}

/** What `npm run bench -- cost` counted last, by scenario. */
export type Measured = Record<
  'singly, one after another' | 'singly, 100 at once' | 'in batches of 100' | 'delivered at the 3rd attempt',
  Counts
>;

export const MEASURED_FILE = new URL('./measured.json', import.meta.url);
export const readMeasured = (): Measured => JSON.parse(readFileSync(MEASURED_FILE, 'utf8'));

/** What follows from the counts. A delivery at its third attempt failed twice before. */
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
