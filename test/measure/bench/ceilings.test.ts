import { describe, expect, it } from 'vitest';
import { CHOSEN, simulateLane } from './ceilings/lanes.ts';
import { LOAD, type Load, readMeasured, type UnitCosts, unitCostsOf } from './ceilings/load.ts';
import { breaksAt, ceilingsOf, utilization } from './ceilings/model.ts';

const costs: UnitCosts = {
  eventWrites: 1,
  logWrites: 1,
  failedLogWrites: 3,
  failedIndexWrites: 1.5,
  keyReads: 1,
  projectReads: 1,
  eventReads: 1,
  logReads: 1,
  fanOuts: 0.5,
};
/** Only events to one webhook, which succeed at the first attempt. */
const plain: Load = {
  ...{ events: 1000, projectEvents: 1000, published: 1, webhooks: 1, endpointMs: 100, failing: 0, lasting: 0 },
  ...{
    deliveriesOfBatch: 10,
    requests: 0,
    eventLists: 0,
    keyRequests: 0,
    documentWrites: 0,
    documentKb: 0,
    syncCycles: 0,
  },
  ...{ syncedDocuments: 0, connections: 0, renewedEverySeconds: 60, outages: 0 },
};

describe.each<[string, Partial<Load>, number, number]>([
  // 1,000 writes over 16 partitions, and over 12
  ['writes: delivery log of a webhook', {}, 62.5, 16_000],
  ['writes: events of one type', { published: 100 }, 1000 / 12, 12_000],
  // each failed attempt needs three more writes there, and 1.5 in the index
  ['writes: delivery log of a webhook', { failing: 0.1, lasting: 0 }, 1300 / 16, 16_000 / 1.3],
  ['writes: undelivered ones of a webhook', { failing: 1, lasting: 1 }, (6000 * 1.5) / 16, 16_000 / 9],
  ['reads: events of one type', { webhooks: 10 }, 10_000 / 12, 3600],
  // 100 batches, and a list of one webhook 40 times per second in each of two batches of two shards
  ['reads: webhooks of a project', {}, 260, 11_538],
  // 10,000 batches for 9.56 of 100 webhooks each, and 500 lists of 60 KB
  ['reads: webhooks of a project', { webhooks: 100 }, 95_618 + 7500, 29.09],
  // a transaction counts twice, and 100 cycles per second read 1,000 documents with 90 KB of revisions
  ['writes: documents of a project', { documentWrites: 50, documentKb: 10 }, 1000, 1000],
  ['writes: revisions of a project', { documentWrites: 50, documentKb: 10 }, 100, 10_000],
  ['reads: revisions of a project', { syncCycles: 100, syncedDocuments: 1000 }, 2300, 1304],
  ['reads: one key', { keyRequests: 1500 }, 1500, 2000],
  // 1,000 requests and 100 batches
  ['reads: one project', {}, 1100, 2727],
  ['reads: one project', { published: 100, webhooks: 10 }, 1010, 2970],
  // two writes per half minute for each of two shards
  ['writes: stats of a webhook', {}, 4 / 30, 7_500_000],
  ['requests: throttle of one method', { published: 100, requests: 90 }, 10, 100_000],
  ['requests: throttle of a project', { published: 100, keyRequests: 90 }, 100, 5000],
  ['requests: API Gateway', { connections: 60_000 }, 2000, 5000],
  // 27 ms per request, 12.5 for a share of the fan-out, 0.5 per message, 22 for a share of a batch
  ['Lambda: all executions', {}, 27 + 12.5 + 0.5 + 22, 1000 / 0.062],
  ['Lambda: a lane', {}, 22, 150 / 0.022],
  ['Lambda: a queue', { deliveriesOfBatch: 100, webhooks: 100 }, 1120, 1000 / 1.12],
  ['SQS: in flight', { endpointMs: 5880 }, 6000, 20_000],
  ['writes: new table', {}, 2000, 2000],
  ['writes: table', { webhooks: 100 }, 101_000, 396],
  // a key, a project, an event and a log item, the projects of batches, and the reads of the webhooks
  ['reads: table', {}, 4360, 9174],
  // 50 pages with 72 queries of half a unit
  ['reads: table', { eventLists: 50 }, 4360 + 1800, 6494],
  ['schedules: waiting', { events: 200, failing: 1, lasting: 1 }, 200 * (1800 + 7200 + 43_200), 191.6],
  ['schedules: due', { events: 200, failing: 0.5, lasting: 0.5 }, 150, 1333],
  ['schedules: created', { events: 200, failing: 1, lasting: 1 }, 600, 1667],
  ['emails', { outages: 7 }, 14, 1000],
])('%s with %j', (name, load, used, rate) => {
  it('matches a manual calculation of its use and its limit', () => {
    const given = { ...plain, ...load };
    const ceiling = ceilingsOf(given, costs).find((one) => one.name === name);
    expect(ceiling?.used).toBeCloseTo(used, 0);
    expect(ceiling && breaksAt(ceiling, given) / rate).toBeCloseTo(1, 2);
  });
});

describe('the model', () => {
  it('sorts limits by the rate that reaches them, with their source and how to raise them', () => {
    const shares = ceilingsOf(LOAD, costs).map(utilization);
    expect(shares).toEqual([...shares].sort((a, b) => b - a));
    for (const { quota, lift } of ceilingsOf(LOAD, costs)) {
      expect(lift).not.toBe('');
      expect(quota.source).toMatch(/^(https:\/\/docs\.aws\.amazon\.com\/|infra\/settings\.ts$)/);
    }
  });

  it.each([
    [2500, 1],
    [5000, 100],
  ])('supports %d events per second of one project, %d per request, to one webhook', (events, published) => {
    const load = { ...LOAD, events, projectEvents: events, published, webhooks: 1 };
    const reached = ceilingsOf(load, unitCostsOf(readMeasured(), load)).filter((one) => utilization(one) > 1);
    expect(reached.filter(({ quota }) => !quota.adjustable)).toEqual([]);
  });

  it('exceeds the CPU of one queue with 1,000 events per second to each of 100 webhooks', () => {
    const load = { ...LOAD, events: 1000, projectEvents: 1000, webhooks: 100, deliveriesOfBatch: 100 };
    const reached = ceilingsOf(load, unitCostsOf(readMeasured(), load)).filter((one) => utilization(one) > 1);
    expect(reached.filter(({ quota }) => !quota.adjustable).map(({ name }) => name)).toEqual([
      'reads: webhooks of a project',
      'Lambda: a queue',
    ]);
  });

  it('uses the units that the meter counted', () => {
    const counts = unitCostsOf(readMeasured(), { published: 1 });
    for (const [name, value] of Object.entries(counts)) expect([name, Number.isFinite(value)]).toEqual([name, true]);
    expect(counts).toMatchObject({ eventWrites: 1, logWrites: 1, keyReads: 1, projectReads: 1 });
  });
});

describe.each([
  [10, 1],
  [100, 1],
  [10, 10],
  [100, 10],
])('the quick lane at %d events per second, when %d of its endpoints stop responding', (rate, stopping) => {
  const { occupied, p99Ms } = simulateLane(CHOSEN, { rate, healthy: 10, stopping });

  it('has one environment for each of these endpoints, and delays the others for at most 2 seconds', () => {
    expect(occupied).toBe(stopping);
    expect(p99Ms.later / p99Ms.before).toBeLessThan(1.1);
  });

  it('is faster than with a note after a second', () => {
    const noted = simulateLane(
      { notedAfterMs: 1000, firstLeavesAfterMs: 5000, othersLeaveAfterMs: 5000 },
      { rate, healthy: 10, stopping },
    );
    expect(p99Ms.first).toBeLessThan(noted.p99Ms.first / 2);
    expect(occupied).toBeLessThan(noted.occupied);
  });
});
