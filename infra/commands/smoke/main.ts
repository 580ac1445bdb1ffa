import { parseArgs, styleText } from 'node:util';
import { visible } from '../../../lib/printable.ts';
import { checks } from './checks/all.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type Result, smoke } from './run.ts';

/** The first delivery includes cold starts and batching windows. */
const DELIVERY_TIMEOUT_MS = 30_000;
const USAGE = `npm run smoke -- --base-url URL [--admin-key KEY] [--receiver URL] [--listen 4000]

Checks a deployment from outside, in the sandbox of the project of the key. Deletes the resources that it creates.

  --base-url   the output BaseUrl of the stack
  --admin-key  an admin key of any project. The default is the environment variable DOCUMENT_SYNC_KEY, which
               keeps the key out of the process list and the shell history
  --receiver   the public https: URL of a tunnel to this machine. Without it, checks of deliveries are skipped
  --listen     the local port of the tunnel`;

/** Reads and validates the command line. */
function readArguments() {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string' },
      'admin-key': { type: 'string', default: process.env.DOCUMENT_SYNC_KEY },
      receiver: { type: 'string' },
      listen: { type: 'string', default: '4000' },
    },
  });
  const { 'base-url': baseUrl, 'admin-key': adminKey, receiver } = values;
  const listen = Number(values.listen);
  const isUrl = (text: string | undefined) => /^https?:/.test(text ?? '') && URL.canParse(text ?? '');
  if (!baseUrl || !isUrl(baseUrl)) throw new Error('--base-url must be an http: or https: URL');
  if (!adminKey?.startsWith('svc_admin_'))
    throw new Error('--admin-key or DOCUMENT_SYNC_KEY must be an admin key, which starts with svc_admin_');
  if (receiver !== undefined && !isUrl(receiver)) throw new Error('--receiver must be an http: or https: URL');
  if (!(Number.isInteger(listen) && listen >= 1 && listen <= 65535))
    throw new Error('--listen must be a port from 1 to 65535');
  return { baseUrl: baseUrl.replace(/\/+$/, ''), adminKey, receiver, listen };
}

const COLORS = { passed: 'green', failed: 'red', skipped: 'yellow' } as const;

function report({ name, outcome, reason }: Result): void {
  const row = `${styleText(COLORS[outcome], outcome.padEnd(8), { stream: process.stdout })} ${name}`;
  console.log(reason ? `${row}\n${' '.repeat(9)}${visible(reason)}` : row);
}

async function main(): Promise<void> {
  const { baseUrl, adminKey, receiver, listen } = readArguments();
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
}

main().catch((error: Error) => {
  console.error(`${visible(error.message)}\n\n${USAGE}`);
  process.exitCode = 1;
});
