import { group, runCommand } from './command.ts';
import { listen } from './listen.ts';
import { trigger } from './trigger.ts';

/** The commands for developers of integrations. They belong to the npm package too, under another name. */
export const dev = (name: string) =>
  group(name, 'Helps to develop an integration, with a deployed API or the running local stack.', [listen, trigger]);

if (import.meta.main) await runCommand(dev('npm run dev --'));
