import { command, runCommand } from '../../../infra/commands/command.ts';
import { assemble } from '../../../infra/local/assembly.ts';
import { UserError } from '../../../infra/user-error.ts';
import { measureActivities } from './activities.ts';
import { measureBundles } from './bundles.ts';
import { measureCost } from './cost/cost.ts';
import { measureCpu } from './cpu/cpu.ts';
import { measureIsolation } from './isolation.ts';
import { measureNeighbors } from './neighbors.ts';
import { measureSync } from './sync.ts';
import { measureThroughput } from './throughput.ts';

/** Each measurement by its name. It returns the rows of each of its tables by their title. */
const MEASUREMENTS: Record<string, (assembly: string) => Promise<Record<string, object>>> = {
  bundles: async (assembly) => ({
    'Functions: size of the minified bundle, and CPU of the import relative to a bundle with only one call of DynamoDB':
      await measureBundles(assembly),
  }),
  throughput: async (assembly) => ({
    'Throughput of 1,000 concurrent events, and processor time of the local stack per delivery':
      await measureThroughput(assembly),
  }),
  cpu: async (assembly) => ({
    'CPU: invocations with the CPU share of a memory size, over TLS 1.3. A vCPU is 1,769 MB':
      await measureCpu(assembly),
  }),
  isolation: async (assembly) => ({
    'Neighbors: p95 from an event to its first attempt in a model of AWS, alone and next to others':
      await measureNeighbors(),
    'Isolation: p99 from publication to receipt at 10 healthy endpoints, before and after others stop responding':
      await measureIsolation(assembly),
    'Neighbors: p95 from publication to receipt on the local stack, before and while another project polls or publishes':
      await measureActivities(assembly),
  }),
  sync: async (assembly) => ({
    'Sync cycles over documents of 1 KB: table reads, bytes of the responses, and CPU relative to an unchanged cycle over 100':
      await measureSync(assembly),
  }),
  cost: measureCost,
};

const USAGE = {
  command: 'npm run bench --',
  positionals: 'NAME...',
  about: `Measures speed and cost in one run on one machine. Ratios and counts apply to other machines, but times do not. The names:
all, ${Object.keys(MEASUREMENTS).join(', ')}`,
  options: {
    settings: { type: 'string', value: 'JSON', about: 'settings as in deployment.json', default: '{}' },
  },
} as const;

await runCommand(
  command(USAGE, async ({ positionals: wanted, values }) => {
    const names = [...Object.keys(MEASUREMENTS), 'all'];
    const unknown = wanted.filter((name) => !names.includes(name));
    if (wanted.length === 0 || unknown.length > 0) throw new UserError(`Name one or more of ${names.join(', ')}.`);
    const assembly = await assemble(JSON.parse(values.settings));
    for (const [name, measure] of Object.entries(MEASUREMENTS)) {
      if (!wanted.includes('all') && !wanted.includes(name)) continue;
      for (const [title, rows] of Object.entries(await measure(assembly))) {
        console.log(`\n${title}`);
        console.table(rows);
      }
    }
    process.exit(0);
  }),
);
