import { command, runCommand } from '../../../infra/commands/command.ts';
import { assemble } from '../../../infra/local/assembly.ts';
import { UserError } from '../../../infra/user-error.ts';
import { measureBundles } from './bundles.ts';
import { measureCost } from './cost/cost.ts';
import { measureCpu } from './cpu/cpu.ts';
import { measureIsolation } from './isolation.ts';
import { measureThroughput } from './throughput.ts';

type Measure = (assembly: string) => Promise<object>;

/** Each measurement by its name, with the title of its table. */
const MEASUREMENTS: Record<string, readonly [title: string, measure: Measure]> = {
  bundles: ['Functions: size of the minified bundle, and import time relative to an empty module', measureBundles],
  throughput: [
    'Throughput of 1,000 concurrent events, and processor time of the local stack per delivery',
    measureThroughput,
  ],
  cpu: ['CPU: invocations with the CPU share of a memory size, over TLS 1.3. A vCPU is 1,769 MB', measureCpu],
  isolation: [
    'Isolation: p99 from publication to receipt at 10 healthy endpoints, before and after others stop responding',
    measureIsolation,
  ],
};

const USAGE = {
  command: 'npm run bench --',
  positionals: 'NAME...',
  about: `Measures speed and cost in one run on one machine. Ratios and counts apply to other machines, but times do not. The names:
all, cost, ${Object.keys(MEASUREMENTS).join(', ')}`,
  options: {
    settings: { type: 'string', value: 'JSON', about: 'settings as in deployment.json', default: '{}' },
  },
} as const;

await runCommand(
  command(USAGE, async ({ positionals: wanted, values }) => {
    const names = [...Object.keys(MEASUREMENTS), 'cost', 'all'];
    const unknown = wanted.filter((name) => !names.includes(name));
    if (wanted.length === 0 || unknown.length > 0) throw new UserError(`Name one or more of ${names.join(', ')}.`);
    const assembly = await assemble(JSON.parse(values.settings));
    const isWanted = (name: string) => wanted.includes('all') || wanted.includes(name);
    for (const [name, [title, measure]] of Object.entries(MEASUREMENTS)) {
      if (!isWanted(name)) continue;
      console.log(`\n${title}`);
      console.table(await measure(assembly));
    }
    if (isWanted('cost')) await printCost(assembly);
    process.exit(0);
  }),
);

async function printCost(assembly: string): Promise<void> {
  const { usage, bill, idle, connected, synced } = await measureCost(assembly);
  const tables = {
    'Usage of one published event, including its deliveries': usage,
    'US dollars per million events (for prices and assumed durations, see test/measure/bench/cost/prices.ts)': bill,
    'US dollars for an idle month': idle,
    'US dollars for 10,000 open connections per month': connected,
    'Table units of a sync cycle over unchanged documents of 4 KB': synced,
  };
  for (const [title, rows] of Object.entries(tables)) {
    console.log(`\n${title}`);
    console.table(rows);
  }
}
