import { enableCompileCache } from 'node:module';
import { command, runCommand } from '../commands/command.ts';
import { compileCache } from '../project-root.ts';
import { readArguments, USAGE } from './arguments.ts';

// npm start
await runCommand(
  command(USAGE, async (parsed) => {
    const options = readArguments(parsed);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(0));
    enableCompileCache(compileCache);
    const { start } = await import('./start.ts'); // uses the compile cache
    await start(options);
  }),
);
