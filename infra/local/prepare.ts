import { assemble } from './assembly.ts';

// `npm ci` runs this, so that the first start is as quick as any other. What is wrong with the stack, `npm start` and the tests say.
await assemble().catch(() => {});
process.exit();
