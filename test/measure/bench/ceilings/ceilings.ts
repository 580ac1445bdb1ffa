import { UserError } from '../../../../infra/user-error.ts';
import { type LaneLoad, RULES, simulateLane } from './lanes.ts';
import { LOAD, LOAD_MEMBERS, type Load, readMeasured, unitCostsOf } from './load.ts';
import { breaksAt, type Ceiling, ceilingsOf, utilization } from './model.ts';

/** Example loads. */
const EXAMPLES: Record<string, Partial<Load>> = {
  'a small deployment': {},
  'one project, 10,000 events a second, one webhook': {
    ...{ events: 10_000, projectEvents: 10_000, webhooks: 1 },
  },
  'the same in batches': { events: 10_000, projectEvents: 10_000, published: 100, webhooks: 1 },
  'one project, 1,000 events a second, 100 webhooks': { events: 1000, projectEvents: 1000, webhooks: 100 },
  'an outage: 200 events a second to endpoints that are all down': {
    ...{ events: 200, projectEvents: 200, webhooks: 1, failing: 1, lasting: 1, outages: 1 },
  },
};

/**
 * Prints the first six limits of each example load. With the numbers of a load (`--events 100 --webhooks 5 …`), prints all limits
 * of that load.
 */
export function printCeilings(options: Record<string, string | undefined>): void {
  const own = loadOf(options);
  const loads = own ? { 'your load': own } : EXAMPLES;
  for (const [name, some] of Object.entries(loads)) {
    const load = { ...LOAD, ...some };
    const ceilings = ceilingsOf(load, unitCostsOf(readMeasured(), load));
    console.log(`\n${name}`);
    console.table(ceilings.slice(0, own ? undefined : 6).map((ceiling) => rowOf(ceiling, load)));
  }
  if (!own) printLanes();
  console.log(
    '\nFor the quotas and their sources, see test/measure/bench/ceilings/quotas.ts. The counts come from the last `npm run bench -- cost`.',
  );
}

/** How long endpoints that stop responding delay ten healthy ones, for each rule and event rate. */
function printLanes(): void {
  const loads: LaneLoad[] = [
    { rate: 10, healthy: 10, stopping: 1 },
    { rate: 100, healthy: 10, stopping: 1 },
    { rate: 1000, healthy: 10, stopping: 1 },
    { rate: 10, healthy: 10, stopping: 10 },
    { rate: 100, healthy: 10, stopping: 10 },
  ];
  for (const load of loads) {
    console.log(
      `\n${load.rate} events per second, ${load.stopping} of ${load.healthy + load.stopping} endpoints stop responding`,
    );
    const rows = Object.entries(RULES).map(([name, rule]) => {
      const { p99Ms, occupied } = simulateLane(rule, load);
      const { before, first, later } = p99Ms;
      const ratios = { 'ratio in 2 s': (first / before).toFixed(1), 'ratio later': (later / before).toFixed(1) };
      return [name, { p99_ms: before, 'p99 in 2 s': first, 'p99 later': later, ...ratios, environments: occupied }];
    });
    console.table(Object.fromEntries(rows));
  }
}

function rowOf(ceiling: Ceiling, load: Load) {
  const { name, used, quota, lift } = ceiling;
  return {
    limit: name,
    'in use': Number(used.toPrecision(3)),
    of: quota.limit,
    '%': Number((100 * utilization(ceiling)).toPrecision(3)),
    'breaks at events/s': Number(breaksAt(ceiling, load).toPrecision(3)),
    adjustable: quota.adjustable,
    lift,
  };
}

function optionOf(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** An option for each member of a load. */
export const LOAD_OPTIONS = Object.fromEntries(
  Object.entries(LOAD_MEMBERS).map(([name, [value, about]]) => [
    optionOf(name),
    { type: 'string' as const, value: 'N', about: `${about} (${value})` },
  ]),
);

/** Returns `undefined` without options. Throws if one is not a number. */
function loadOf(options: Record<string, string | undefined>): Partial<Load> | undefined {
  const given = Object.keys(LOAD_MEMBERS).filter((member) => options[optionOf(member)] !== undefined);
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map((member) => {
      const option = optionOf(member);
      const value = Number(options[option]);
      if (options[option] === '' || !Number.isFinite(value) || value < 0)
        throw new UserError(`--${option} must be a number of at least 0.`);
      return [member, value];
    }),
  );
}
