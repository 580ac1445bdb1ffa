import { group, runCommand } from './command.ts';

export const ops = group('npm run ops --', 'Operates a deployment (--stack NAME) or the running local stack.', {
  projects: {
    about: 'creates, lists, suspends, exports and deletes projects',
    load: async () => (await import('./projects.ts')).projects,
  },
  restore: {
    about: 'restores the table of a deployment to an earlier time',
    load: async () => (await import('./restore.ts')).restore,
  },
  replay: {
    about: 'repeats work of a deployment that failed permanently',
    load: async () => (await import('./replay.ts')).replay,
  },
  smoke: {
    about: 'checks a deployment or the local stack from outside',
    load: async () => (await import('./smoke/smoke.ts')).smoke,
  },
});

if (import.meta.main) await runCommand(ops);
