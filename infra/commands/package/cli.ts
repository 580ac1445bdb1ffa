import { runCommand } from '../command.ts';
import { listen } from '../listen.ts';
import { smokeTest } from '../smoke/main.ts';
import { trigger } from '../trigger.ts';

// document-sync COMMAND, the executable of the npm package
const [name = '', ...args] = process.argv.slice(2);
const given = [args, `document-sync ${name}`] as const;
if (name === 'listen') await runCommand(listen, ...given);
else if (name === 'trigger') await runCommand(trigger, ...given);
else if (name === 'smoke') await runCommand(smokeTest, ...given);
else {
  process.stderr.write('Usage: document-sync (listen | trigger | smoke) [--help]\n');
  process.exitCode = 1;
}
