import { Template } from '../../../../infra/local/template.ts';
import { billOf, idleBillOf, sum } from './bill.ts';
import { usageOfConnection } from './connections.ts';
import { usageOfEngine } from './engine.ts';
import { usageOfPolls } from './polls.ts';
import { type Scenario, usageOf } from './scenarios.ts';
import { usageOfSync } from './sync.ts';
import { scaled } from './usage.ts';

const SCENARIOS: Record<string, Scenario> = {
  'singly, one after another': { events: 20 },
  'singly, each with an Idempotency-Key': { events: 20, idempotent: true },
  'singly, 4 at once': { events: 40, together: 4 },
  'singly, 8 at once': { events: 40, together: 8 },
  'singly, 100 at once': { events: 200, together: 100 },
  'in batches of 100': { events: 300, batch: 100 },
  'publisher, 1 per second': { events: 10, isPublisher: true },
  'publisher, 10 per second': { events: 50, batch: 10, isPublisher: true },
  'publisher, 100 per second': { events: 300, batch: 100, isPublisher: true },
  'singly, to 10 webhooks': { events: 10, webhooks: 10 },
  'singly, to 100 webhooks': { events: 3, webhooks: 100 },
  'delivered at the 3rd attempt': { events: 5, failures: 2 },
  'failed until disabled': { events: 1, failures: 6 },
};

/** Measures the usage and the cost of a million events of each kind, of an idle month, of 10,000 open connections, and of an engine with as many. */
export async function measureCost(assembly: string) {
  const usage: Record<string, object> = {};
  const bill: Record<string, object> = {};
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    const measured = await usageOf(assembly, scenario);
    usage[name] = rounded(measured);
    bill[name] = withSum(billOf(scaled(measured, 1e6)));
  }
  const template = new Template(assembly, { queuesUrl: '', tablePrefix: '', baseUrl: '' });
  const connected = billOf(scaled(await usageOfConnection(assembly), 10_000));
  const engine = billOf(await usageOfEngine(assembly));
  const synced = Object.entries(await usageOfSync(assembly)).map(([name, { readUnits, writeUnits }]) => [
    name,
    rounded({ readUnits, writeUnits }),
  ]);
  const polled = Object.entries(await usageOfPolls(assembly)).map(([name, poll]) => {
    const { queries, readUnits } = poll;
    const { sum: perMonth = 0 } = withSum(billOf(scaled(poll, POLLS_A_MONTH)));
    return [name, { ...rounded({ queries, readUnits }), 'US dollars per month': perMonth }];
  });
  return {
    'Usage of one published event, including its deliveries': usage,
    'US dollars per million events (for prices and assumed durations, see test/measure/bench/cost/prices.ts)': bill,
    'US dollars for an idle month': withSum(idleBillOf(template)),
    'US dollars for 10,000 open connections per month': withSum(connected),
    'US dollars for a sync engine with 10,000 connections of an hour each, with one lease and the verification of their tokens, per month':
      withSum(engine),
    'Queries and read units of a page of 100 or fewer entries, and the cost of a client that reads it every second, including API Gateway':
      Object.fromEntries(polled),
    'Table units of a sync cycle over unchanged documents of 4 KB': Object.fromEntries(synced),
  };
}

const POLLS_A_MONTH = 30 * 24 * 60 * 60;

const withSum = (lines: Record<string, number>) => rounded({ ...lines, sum: sum(lines) });

const rounded = (row: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value.toPrecision(3))]));
