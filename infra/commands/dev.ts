import { group, runCommand } from './command.ts';

const COMMANDS = {
  listen: {
    about: 'forwards new events to a URL on this machine, or prints them',
    load: async () => (await import('./listen.ts')).listen,
  },
  trigger: {
    about: 'publishes an event with sample data',
    load: async () => (await import('./trigger.ts')).trigger,
  },
};

/** The commands for developers of integrations. They belong to the npm package too, under another name. */
export const dev = (name: string) =>
  group(name, 'Helps to develop an integration, with a deployed API or the running local stack.', COMMANDS);

if (import.meta.main) await runCommand(dev('npm run dev --'));
