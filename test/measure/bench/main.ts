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

// `npm run bench [-- bundles|functions|throughput|endurance|isolation|pages|cost|limits]`: what is said to be fast or cheap, measured in one
// run on one machine. Ratios and counts carry over to others, times do not. `npm run bench -- ceilings [--events 100 …]`: what
// gives first, by the counts.
const wanted = process.argv.slice(2);
if (wanted[0] === 'ceilings') {
  printCeilings(wanted.slice(1));
  process.exit(0);
}
const assembly = await assemble();
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);

if (isWanted('bundles')) {
  console.log('\nFunctions: minified bundle and time to import it, as a ratio to an empty module');
  console.table(await measureBundles(assembly));
}
if (isWanted('functions')) {
  console.log(
    '\nFunctions: processor time of an authorization and of a delivery, as a ratio to what no program could do without',
  );
  console.table(await measureFunctions(assembly));
}
if (isWanted('throughput')) {
  console.log('\nThroughput: 1,000 events at once, and processor time of the local stack for each delivery');
  console.table(await measureThroughput(assembly));
}
if (isWanted('endurance')) {
  console.log('\nEndurance: a hundred thousand deliveries to one webhook');
  console.table(await measureEndurance(assembly));
}
if (isWanted('isolation')) {
  console.log('\nIsolation: publication to receipt at 10 healthy endpoints, an event a second each, for 20 seconds');
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
  console.log('\nUsage of one published event, until nothing is left to do with it');
  console.table(usage);
  console.log(
    '\nUS dollars for a million of them (prices, and durations that are assumed: test/measure/bench/cost/prices.ts)',
  );
  console.table(bill);
  console.log('\nUS dollars for a month in which nothing happens');
  console.table(idle);
  console.log('\nUS dollars for 10,000 connections that are held open for a month');
  console.table(connected);
  console.log('\nUnits of the table for a sync cycle over documents of 4 KB that the node has');
  console.table(synced);
}
process.exit(0);
