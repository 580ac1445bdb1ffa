import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generateSecret } from '../../lib/webhooks/webhooks.ts';
import { projectRoot } from '../project-root.ts';
import { assemble } from './assembly.ts';
import { createDemo, type Demo } from './demo.ts';
import { startDemoReceiver } from './demo-receiver.ts';
import { DEFAULT_CONCURRENCY } from './lambda/lambda.ts';
import { openLog } from './log-file.ts';
import { DATABASES, type DatabaseName, StartError, startDatabase } from './services/database.ts';
import { type LocalStack, requireFreePort, startStack } from './stack.ts';

const directory = join(projectRoot, '.local');
const MAX_LOG_BYTES = 50 * 1024 * 1024;
const say = (text: string) => process.stdout.write(`${text}\n`);

/** `npm start -- [--port 3000] [--speed N] [--concurrency N] [--database NAME]` */
async function main(): Promise<void> {
  const { port, speed, concurrency, database } = readArguments();
  process.on('SIGINT', () => process.exit(0)).on('SIGTERM', () => process.exit(0));
  mkdirSync(directory, { recursive: true });
  const logFile = join(directory, 'functions.log');
  const write = openLog(logFile, MAX_LOG_BYTES);

  await requireFreePort(port);
  say('Starting the database and synthesizing the stack…');
  const starting = startDatabase(database);
  starting.catch(() => {}); // awaited below
  const assembly = await assemble();
  const { endpoint: databaseEndpoint } = await starting;

  say('Starting the API, queues, schedules and Lambda functions…');
  const output = (id: string, text: string) => write(text.replace(/^(?=.)/gm, `${id} `));
  const stack = await startStack({
    assembly,
    databaseEndpoint,
    port,
    speed,
    concurrency,
    output,
    spares: true,
  });

  say('Creating a demo project…');
  const secret = generateSecret(randomBytes);
  const receiver = await startDemoReceiver(secret, (line) => say(`\n[receiver] ${line}`));
  const demo = await createDemo(stack, { url: receiver.url, secret });
  writeStackFile(stack, demo);
  say(welcome(stack, demo, secret, speed, logFile));
}

const OPTIONS = {
  port: { type: 'string', default: '3000' },
  speed: { type: 'string', default: '1' },
  concurrency: { type: 'string', default: String(DEFAULT_CONCURRENCY) },
  database: { type: 'string' },
} as const;

interface Arguments {
  port: number;
  speed: number;
  concurrency: number;
  database: DatabaseName | undefined;
}

function readArguments(): Arguments {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    const port = Number(values.port);
    const speed = Number(values.speed);
    const concurrency = Number(values.concurrency);
    const database = DATABASES.find((name) => name === values.database);
    const isInteger = (value: number, min: number, max: number) =>
      Number.isInteger(value) && value >= min && value <= max;
    if (!isInteger(port, 0, 65535)) throw new Error('--port must be an integer from 0 to 65535');
    if (!(speed >= 1 && speed <= 1e6)) throw new Error('--speed must be a number from 1 to 1000000');
    if (!isInteger(concurrency, 1, 1000)) throw new Error('--concurrency must be an integer from 1 to 1000');
    if (values.database !== undefined && !database)
      throw new Error(`--database must be one of ${DATABASES.join(', ')}`);
    return { port, speed, concurrency, database };
  } catch (error) {
    const usage = 'npm start -- [--port 3000] [--speed N] [--concurrency N] [--database dynoxide|dynamodb-local]';
    throw new StartError(`${(error as Error).message}. Usage: ${usage}`);
  }
}

function writeStackFile(stack: LocalStack, { project, keys }: Demo): void {
  const file = {
    base_url: stack.baseUrl,
    dashboard_url: `${stack.baseUrl}/dashboard`,
    mail_url: stack.mailUrl,
    project,
    keys,
  };
  const path = join(directory, 'stack.json');
  writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  process.on('exit', () => rmSync(path, { force: true }));
}

function welcome(stack: LocalStack, { keys }: Demo, secret: string, speed: number, logFile: string): string {
  const data = {
    document_key: 'org:acme:doc-1',
    revision: 2,
    changes: [{ field: 'title', old_value: 'Draft', new_value: 'Final', origin: 'curl' }],
  };
  const body = JSON.stringify({ type: 'document.changed', data });
  return `
Ready: ${stack.baseUrl}${speed === 1 ? '' : ` (delays and schedules run ${speed} times faster)`}
  admin key       ${keys.admin}
  live key        ${keys.live}
  test key        ${keys.test}
  read key        ${keys.read}
  webhook secret  ${secret}
  dashboard       ${stack.baseUrl}/dashboard
  API reference   ${stack.baseUrl}/docs
  emails          ${stack.mailUrl}
  function log    ${logFile}

Publish an event. The demo receiver verifies its signature and prints it here:

  curl ${stack.baseUrl}/v1/events \\
    -H 'Authorization: Bearer ${keys.live}' \\
    -H 'Content-Type: application/json' \\
    -d '${body}'

Press Ctrl-C to stop.`;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof StartError ? error.message : (error as Error).stack}\n`);
  process.exit(1);
});
