import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSecret } from '../../lib/webhooks/signing.ts';
import { UserError } from '../user-error.ts';
import type { Arguments } from './arguments.ts';
import { assemble } from './assembly.ts';
import { createDemo, type Demo } from './demo.ts';
import { startDemoReceiver } from './demo-receiver.ts';
import { openExclusively } from './exclusive-file.ts';
import { createDirectory, openKept } from './kept.ts';
import { openLog } from './log-file.ts';
import { requireFreePort } from './ports.ts';
import { limitData } from './retention.ts';
import { defaultDatabase, startDatabase } from './services/database.ts';
import { requireLayout } from './services/table.ts';
import { type LocalStack, startStack } from './stack.ts';

/** The bytes of each of two files with the output of the functions: about 100,000 events. */
const LOG_BYTES = 128 * 1024 * 1024;

const say = (text: string) => process.stdout.write(`${text}\n`);

/** Runs the stack, the demo project and its endpoint until the process ends. */
export async function start(options: Arguments): Promise<void> {
  const { port, speed, concurrency, database = defaultDatabase() } = options;
  createDirectory(options.directory);
  const kept = options.keep ? openKept(join(options.directory, 'kept', database)) : undefined;
  const receiverPort = kept?.demo?.receiver_port ?? options.receiverPort;
  if (options.isReceiverPortGiven && ![0, receiverPort].includes(options.receiverPort))
    throw new UserError(
      `The kept webhooks call port ${receiverPort}. Omit --receiver-port, or delete ${kept?.directory}.`,
    );
  const receiverOption = kept?.demo ? undefined : '--receiver-port';
  await Promise.all([requireFreePort(port, '--port'), requireFreePort(receiverPort, receiverOption)]);

  say(database === 'dynamodb-local' ? 'Starting… DynamoDB Local listens on all interfaces.' : 'Starting…');
  const starting = startDatabase(database, kept?.directory);
  starting.catch(() => {}); // awaited below
  const assembly = await assemble();
  const { endpoint: databaseEndpoint, data } = await starting;

  const lock = openExclusively(join(options.directory, 'stack.lock'));
  const directory = lock ? options.directory : mkdtempSync(join(options.directory, 'stack-'));
  process.on('exit', () => (lock ? lock.close() : rmSync(directory, { recursive: true, force: true })));

  // Starts before the stack, because pending deliveries continue immediately.
  const secret = kept?.demo?.webhook_secret ?? generateSecret(randomBytes);
  const receiver = await startDemoReceiver(secret, receiverPort, (line) => say(`\n[receiver] ${line}`));
  const logFile = join(directory, 'functions.log');
  const log = openLog(logFile, LOG_BYTES);
  const output = (id: string, text: string) => log(text.replace(/^(?=.)/gm, `${id} `));
  const stack = await startStack({
    assembly,
    databaseEndpoint,
    port,
    speed,
    concurrency,
    output,
    state: kept?.state,
  });
  if (kept?.demo) await requireLayout(databaseEndpoint, stack.template.ref('Table'), kept.directory);
  const demo = kept?.demo ?? (await createDemo(stack, receiver, secret));
  kept?.keepDemo(demo);
  if (data) limitData({ stack, data, endpoint: databaseEndpoint, maxMb: options.maxDatabaseMb, say });
  writeStackFile(directory, stack, demo);
  say(welcome(stack, demo, speed, logFile));
  if (!lock) say(`\nCommands use the stack that was started first. For this one, pass --directory ${directory}`);
}

function writeStackFile(directory: string, stack: LocalStack, { project, keys, webhook_secret }: Demo): void {
  const file = {
    base_url: stack.baseUrl,
    dashboard_url: `${stack.baseUrl}/dashboard`,
    mail_url: stack.mailUrl,
    invoke_token: stack.invokeToken,
    project,
    keys,
    webhook_secret,
  };
  const path = join(directory, 'stack.json');
  rmSync(path, { force: true }); // an existing file would keep its mode
  writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  process.on('exit', () => rmSync(path, { force: true }));
}

function welcome(stack: LocalStack, demo: Demo, speed: number, logFile: string): string {
  const data = {
    document_key: 'org:acme:doc-1',
    revision: 2,
    changes: [{ field: 'title', old_value: 'Draft', new_value: 'Final', origin: 'curl' }],
  };
  const body = JSON.stringify({ type: 'document.changed', data });
  return `
Ready: ${stack.baseUrl}${speed === 1 ? '' : ` (delays and schedules run ${speed} times faster)`}
  admin key       ${demo.keys.admin}
  live key        ${demo.keys.live}
  test key        ${demo.keys.test}
  read key        ${demo.keys.read}
  webhook secret  ${demo.webhook_secret}
  dashboard       ${stack.signInUrl(demo.keys.admin)}
  API reference   ${stack.baseUrl}/docs
  emails          ${stack.mailUrl}
  function log    ${logFile}

Publish an event. The demo receiver verifies its signature and prints it here:

  curl ${stack.baseUrl}/v1/events \\
    -H 'Authorization: Bearer ${demo.keys.live}' \\
    -H 'Content-Type: application/json' \\
    -d '${body}'

Press Ctrl-C to stop.`;
}
