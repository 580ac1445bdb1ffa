import { writeFileSync } from 'node:fs';
import { assemble } from '../../../infra/local/assembly.ts';
import { measureBundles } from './bundles.ts';
import { printCeilings } from './ceilings/ceilings.ts';
import { MEASURED_FILE } from './ceilings/load.ts';
import { measureCost } from './cost/cost.ts';
import { measureFunctions } from './functions.ts';
import { measureIsolation } from './isolation.ts';
import { measureLimits } from './limits.ts';
import { measurePages } from './pages.ts';
import { measureEndurance, measureThroughput } from './throughput.ts';

// `npm run bench [-- bundles|functions|throughput|endurance|isolation|pages|cost|limits]`: measures speed and cost in one run on
// one machine. Ratios and counts apply to other machines, but times do not. `npm run bench -- ceilings [--events 100 …]`: prints
// the first limits of a load, based on the counts.
const wanted = process.argv.slice(2);
if (wanted[0] === 'ceilings') {
  printCeilings(wanted.slice(1));
  process.exit(0);
}
const assembly = await assemble();
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);

if (isWanted('bundles')) {
  console.log('\nFunctions: size of the minified bundle, and import time relative to an empty module');
  console.table(await measureBundles(assembly));
}
if (isWanted('functions')) {
  console.log(
    '\nFunctions: processor time of an authorization and of a delivery, as a ratio to what no program could do without',
  );
  console.table(await measureFunctions(assembly));
}
if (isWanted('throughput')) {
  console.log('\nThroughput of 1,000 concurrent events, and processor time of the local stack per delivery');
  console.table(await measureThroughput(assembly));
}
if (isWanted('endurance')) {
  console.log('\nEndurance: 100,000 deliveries to one webhook');
  console.table(await measureEndurance(assembly));
}
if (isWanted('isolation')) {
  console.log('\nIsolation: p99 from publication to receipt at 10 healthy endpoints, before and after others change');
  console.table(await measureIsolation(assembly));
}
if (isWanted('pages')) {
  console.log(
    '\nDashboard: milliseconds until a page is complete in Chromium, with 100 webhooks and 100,000 deliveries to one',
  );
  console.table(await measurePages(assembly));
}
if (isWanted('limits')) {
  console.log(
    '\nLimits: processor milliseconds for the most expensive invalid bodies of 1 MiB and of the largest size',
  );
  console.table(await measureLimits(assembly));
}
if (isWanted('cost')) {
  const { usage, counts, bill, idle, connected, synced } = await measureCost(assembly);
  writeFileSync(MEASURED_FILE, `${JSON.stringify(counts, null, 2)}\n`);
  console.log('\nUsage of one published event, including its deliveries');
  console.table(usage);
  console.log(
    '\nUS dollars per million events (for prices and assumed durations, see test/measure/bench/cost/prices.ts)',
  );
  console.table(bill);
  console.log('\nUS dollars for an idle month');
  console.table(idle);
  console.log('\nUS dollars for 10,000 open connections per month');
  console.table(connected);
  console.log('\nTable units of a sync cycle over unchanged documents of 4 KB');
  console.table(synced);
}
process.exit(0);
