import { styleText } from 'node:util';
import { visible } from '../../../lib/printable.ts';
import { UserError } from '../../user-error.ts';
import { command, integer, type Parsed, runCommand } from '../command.ts';
import { DIRECTORY_OPTION, requireReachable, requireUrl, targetOf } from '../target.ts';
import { checks } from './checks/all.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type Result, smoke } from './run.ts';

/** The first delivery includes cold starts and batching windows. */
const DELIVERY_TIMEOUT_MS = 30_000;
const USAGE = {
  command: 'npm run smoke',
  about:
    'Checks a deployment from outside, in the sandbox of the project of the key. Deletes the resources that it creates.',
  options: {
    'base-url': { type: 'string', value: 'URL', about: 'the output BaseUrl of the stack (the running local stack)' },
    ...DIRECTORY_OPTION,
    'admin-key': {
      type: 'string',
      value: 'KEY',
      about:
        'an admin key of any project. The default is the environment variable DOCUMENT_SYNC_KEY, which keeps the key out of the process list and the shell history',
    },
    receiver: {
      type: 'string',
      value: 'URL',
      about: 'the public https: URL of a tunnel to this machine. Without it, checks of deliveries are skipped',
    },
    listen: { type: 'string', value: 'PORT', about: 'the local port of the tunnel', default: '4000' },
  },
} as const;

/** Validates the command line. */
function readArguments({ values }: Parsed<(typeof USAGE)['options']>) {
  const { baseUrl, key } = targetOf({ ...values, key: values['admin-key'] }, 'admin');
  if (!key.startsWith('svc_admin_'))
    throw new UserError('--admin-key or DOCUMENT_SYNC_KEY must be an admin key, which starts with svc_admin_.');
  const { receiver } = values;
  if (receiver !== undefined) requireUrl('receiver', receiver);
  return { baseUrl, adminKey: key, receiver, listen: integer('listen', values.listen, 1, 65535) };
}

const COLORS = { passed: 'green', failed: 'red', skipped: 'yellow' } as const;

function report({ name, outcome, reason }: Result): void {
  const row = `${styleText(COLORS[outcome], outcome.padEnd(8), { stream: process.stdout })} ${name}`;
  console.log(reason ? `${row}\n${' '.repeat(9)}${visible(reason)}` : row);
}

export const smokeTest = command(USAGE, async (parsed) => {
  const { baseUrl, adminKey, receiver, listen } = readArguments(parsed);
  await requireReachable(baseUrl);
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      console.log('\nCleaning up…');
      interruption.abort();
    });
  }
  const at: Receiver | undefined = receiver === undefined ? undefined : await startReceiver(listen);
  const results = await smoke(
    checks,
    {
      baseUrl,
      adminKey,
      receiver: receiver !== undefined && at ? { url: receiver, at } : undefined,
      deliveryTimeoutMs: DELIVERY_TIMEOUT_MS,
      signal: interruption.signal,
    },
    report,
  );
  at?.close();
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length;
  console.log(`\n${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
  process.exitCode = count('failed') > 0 || interruption.signal.aborted ? 1 : 0;
});

if (import.meta.main) await runCommand(smokeTest);
