import { styleText } from 'node:util';
import { visible } from '../../../lib/printable.ts';
import { UserError } from '../../user-error.ts';
import { command, type Shell } from '../command.ts';
import { outputsOf, STACK_OPTION } from '../deployment.ts';
import { requireReachable, requireUrl, TARGET_OPTIONS, targetOf } from '../target.ts';
import { integer, type Parsed } from '../usage.ts';
import { gatewayChecks } from './gateway-checks.ts';
import { startReceiver } from './receiver.ts';
import { type Result, runChecks } from './run.ts';
import { serviceChecks } from './service-checks.ts';

/** The first delivery includes cold starts and batching windows. */
const DELIVERY_TIMEOUT_MS = 30_000;
export const checks = [...gatewayChecks, ...serviceChecks];

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
  const at = receiver === undefined ? undefined : await startReceiver(port);
  const results = await runChecks(
    checks,
    {
      baseUrl,
      adminKey,
      receiver: receiver !== undefined && at ? { url: receiver, at } : undefined,
      deliveryTimeoutMs: DELIVERY_TIMEOUT_MS,
      signal: interruption.signal,
    },
    ({ name, outcome, reason }) => {
      const row = `${styleText(COLORS[outcome], outcome.padEnd(8), { stream: process.stdout })} ${name}`;
      shell.print(reason ? `${row}\n${' '.repeat(9)}${visible(reason)}\n` : `${row}\n`);
    },
  );
  at?.close();
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length;
  shell.print(`\n${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped\n`);
  return count('failed') > 0 || interruption.signal.aborted ? 1 : 0;
});
