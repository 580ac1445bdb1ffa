import { parseArgs, styleText } from 'node:util';
import { visible } from '../../../lib/printable.ts';
import { checks } from './checks/all.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type Result, smoke } from './run.ts';

/** A first delivery waits for cold starts and a batch to gather. */
const DELIVERY_TIMEOUT_MS = 30_000;
const USAGE = `npm run smoke -- --base-url URL [--admin-key KEY] [--receiver URL] [--listen 4000]

Checks a deployment from outside, in the sandbox of the key's project, and removes what it created.

  --base-url   the output BaseUrl of the deployment
  --admin-key  an admin key of any project, by default the value of DOCUMENT_SYNC_KEY, which keeps it out of the
               list of processes and the shell history
  --receiver   the public https: URL of a tunnel to this machine; without it, deliveries are not checked
  --listen     the port of this machine that the tunnel leads to`;

/** What a person typed, or what is wrong with it. */
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
    throw new Error('--admin-key or DOCUMENT_SYNC_KEY must be a key that begins with svc_admin_');
  if (receiver !== undefined && !isUrl(receiver)) throw new Error('--receiver must be an http: or https: URL');
  if (!(Number.isInteger(listen) && listen >= 1 && listen <= 65535))
    throw new Error('--listen must be a port from 1 to 65535');
  return { baseUrl: baseUrl.replace(/\/+$/, ''), adminKey, receiver, listen };
}

const COLORS = { holds: 'green', fails: 'red', 'not checked': 'yellow' } as const;

function report({ name, outcome, reason }: Result): void {
  const row = `${styleText(COLORS[outcome], outcome.padEnd(12), { stream: process.stdout })} ${name}`;
  console.log(reason ? `${row}\n${' '.repeat(13)}${visible(reason)}` : row);
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
  console.log(`\n${count('holds')} hold, ${count('fails')} fail, ${count('not checked')} not checked`);
  process.exitCode = count('fails') > 0 || interruption.signal.aborted ? 1 : 0;
}

main().catch((error: Error) => {
  console.error(`${visible(error.message)}\n\n${USAGE}`);
  process.exitCode = 1;
});
