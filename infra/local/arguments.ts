import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { localDirectory } from '../project-root.ts';
import { DEFAULT_CONCURRENCY } from './lambda/lambda.ts';
import { DATABASES, type DatabaseName, StartError } from './services/database.ts';

export interface Arguments {
  help: boolean;
  port: number;
  receiverPort: number;
  speed: number;
  concurrency: number;
  database: DatabaseName | undefined;
  keep: boolean;
  /** An absolute path. */
  directory: string;
}

const DEFAULT_PORT = 3000;

export const HELP = `Usage: npm start -- [options]

Runs the synthesized stack on this machine, with a demo project and an endpoint that verifies and prints webhooks.
Press Ctrl-C to stop.

  --port N             port of the API, or 0 for any free port (${DEFAULT_PORT})
  --receiver-port N    port of the demo endpoint (the port of the API plus 1)
  --speed N            speed of retries and schedules, 1 to 1000000 (1)
  --concurrency N      concurrent invocations of each function, 1 to 1000 (${DEFAULT_CONCURRENCY})
  --database NAME      ${DATABASES.join(' or ')}, which requires Java (dynoxide where npm has a package)
  --keep               keep data, keys, pending deliveries and emails between starts
  --directory PATH     directory of stack.json (URLs and keys), functions.log and the kept data (.local)
  --help               print this text

All servers listen on 127.0.0.1, except dynamodb-local, which listens on all interfaces. To change parameters of the
stack, edit "context" in cdk.json (see infra/README.md).
`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h', default: false },
  port: { type: 'string', default: String(DEFAULT_PORT) },
  'receiver-port': { type: 'string' },
  speed: { type: 'string', default: '1' },
  concurrency: { type: 'string', default: String(DEFAULT_CONCURRENCY) },
  database: { type: 'string' },
  keep: { type: 'boolean', default: false },
  directory: { type: 'string', default: localDirectory },
} as const;

/** Throws `StartError` with a short message. */
export function readArguments(args: readonly string[]): Arguments {
  const values = parse(args);
  const port = integer('port', values.port, 0, 65535);
  const nextPort = port === 0 || port === 65535 ? 0 : port + 1;
  const speed = Number(values.speed);
  if (!(speed >= 1 && speed <= 1e6)) throw new StartError('--speed must be a number from 1 to 1000000.');
  const database = DATABASES.find((name) => name === values.database);
  if (values.database !== undefined && !database) {
    throw new StartError(`--database must be one of ${DATABASES.join(', ')}.`);
  }
  return {
    help: values.help,
    port,
    receiverPort: integer('receiver-port', values['receiver-port'] ?? String(nextPort), 0, 65535),
    speed,
    concurrency: integer('concurrency', values.concurrency, 1, 1000),
    database,
    keep: values.keep,
    directory: resolve(values.directory),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ options: OPTIONS, args: [...args] }).values;
  } catch (error) {
    const [reason] = (error as Error).message.split(/\.(?:\s|$)/);
    throw new StartError(`${reason}. Run \`npm start -- --help\` for the options.`);
  }
}

function integer(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text === '' || !Number.isInteger(value) || value < min || value > max) {
    throw new StartError(`--${option} must be an integer from ${min} to ${max}.`);
  }
  return value;
}
