import { styleText } from 'node:util';
import { visible } from '../../../lib/printable.ts';
import { startLocalReceiver } from '../../local/receiver.ts';
import { UserError } from '../../user-error.ts';
import { command, type Shell } from '../command.ts';
import { outputsOf, STACK_OPTION } from '../deployment.ts';
import { requireReachable, requireUrl, TARGET_OPTIONS, targetOf } from '../target.ts';
import { integer, type Parsed } from '../usage.ts';
import { checks } from './checks.ts';
import { type Received, runChecks } from './run.ts';

const USAGE = {
  command: 'npm run ops -- smoke',
  about: `Checks from outside what only AWS can break, in the sandbox of the project of the key. Deletes the resources that it
creates. Sends a test email to the addresses of the project.`,
  options: {
    ...STACK_OPTION,
    ...TARGET_OPTIONS,
    receiver: {
      type: 'string',
      value: 'URL',
      about:
        'the public https: URL of a tunnel to this machine. Without it, checks of deliveries need the running local stack',
    },
    listen: { type: 'string', value: 'PORT', about: 'the local port of the tunnel', default: '4000' },
  },
} as const;

/** Validates the command line. The output of a stack replaces `--base-url`. */
async function readArguments({ values }: Parsed<(typeof USAGE)['options']>, shell: Shell) {
  const { stack, receiver, 'base-url': given } = values;
  const port = integer('listen', values.listen, 1, 65535);
  if (receiver !== undefined) requireUrl('receiver', receiver);
  if (stack !== undefined && given !== undefined) throw new UserError('Pass either --stack or --base-url.');
  const url = stack === undefined ? given : (await outputsOf(shell, stack))('BaseUrl');
  const { baseUrl, key } = targetOf({ ...values, 'base-url': url }, 'admin', shell.variables);
  if (!key.startsWith('svc_admin_'))
    throw new UserError('--key or DOCUMENT_SYNC_KEY must be an admin key, which starts with svc_admin_.');
  return { baseUrl, adminKey: key, port, receiver: receiver ?? (url ? undefined : `http://127.0.0.1:${port}/`) };
}

const COLORS = { passed: 'green', failed: 'red', skipped: 'yellow' } as const;

export const smoke = command(USAGE, async (parsed, shell) => {
  const { baseUrl, adminKey, receiver, port } = await readArguments(parsed, shell);
  await requireReachable(baseUrl);
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      shell.print('\nCleaning up…\n');
      interruption.abort();
    });
  }
  const received: Received[] = [];
  // It listens on loopback, because the service connects to a tunnel.
  const server =
    receiver === undefined
      ? undefined
      : await startLocalReceiver(port, '--listen', ({ url = '', headers }, body) => {
          received.push({ url, headers: headers as Received['headers'], body });
          return 204;
        });
  const count = { passed: 0, failed: 0, skipped: 0 };
  const { signal } = interruption;
  const at = receiver === undefined ? undefined : { url: receiver, received };
  for await (const { name, outcome, reason } of runChecks(checks, { baseUrl, adminKey, receiver: at, signal })) {
    count[outcome]++;
    const row = `${styleText(COLORS[outcome], outcome.padEnd(8), { stream: process.stdout })} ${name}`;
    shell.print(reason ? `${row}\n${' '.repeat(9)}${visible(reason)}\n` : `${row}\n`);
  }
  server?.close();
  shell.print(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
  return count.failed > 0 || signal.aborted ? 1 : 0;
});
