import { assemble } from '../../infra/local/assembly.ts';
import { measureBundles } from './bundles.ts';
import { measureIsolation } from './isolation.ts';

// `npm run bench`: what is said to be fast, measured in one run on one machine. Ratios carry over to others, times do not.
const assembly = await assemble();

console.log('\nFunctions: minified bundle and time to import it, as a ratio to an empty module');
console.table(await measureBundles(assembly));

console.log('\nIsolation: publication to receipt at 10 healthy endpoints, an event a second each, for 20 seconds');
console.table(await measureIsolation(assembly));

process.exit(0);
