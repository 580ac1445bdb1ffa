import { assemble } from './assembly.ts';

// `npm ci` runs this, so that the first start is as fast as later ones. `npm start` and the tests report errors of the stack.
await assemble().catch(() => {});
process.exit();
