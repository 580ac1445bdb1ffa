import { enableCompileCache } from 'node:module';
import { compileCache } from '../project-root.ts';
import { HELP, readArguments } from './arguments.ts';
import { explainFullDisk } from './disk-space.ts';
import { StartError } from './services/database.ts';

/** `npm start` */
async function main(): Promise<void> {
  const { help, ...options } = readArguments(process.argv.slice(2));
  if (help) {
    process.stdout.write(HELP);
    return;
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(0));
  enableCompileCache(compileCache);
  const { start } = await import('./start.ts'); // uses the compile cache
  await start(options).catch((error: unknown) => {
    throw explainFullDisk(error, options.directory);
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof StartError ? error.message : (error as Error).stack}\n`);
  process.exit(1);
});
