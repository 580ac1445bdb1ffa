import { resolve } from 'node:path';
import { integer, type Parsed } from '../commands/usage.ts';
import { localDirectory } from '../project-root.ts';
import { UserError } from '../user-error.ts';
import { DEFAULT_CONCURRENCY } from './lambda/lambda.ts';
import { DATABASES } from './services/database.ts';

export const USAGE = {
  command: 'npm start --',
  about:
    'Runs the synthesized stack on this machine, with a demo project and an endpoint that verifies and prints webhooks.\nPress Ctrl-C to stop.',
  options: {
    port: { type: 'string', value: 'N', about: 'port of the API, or 0 for any free port', default: '3000' },
    'receiver-port': {
      type: 'string',
      value: 'N',
      about: 'port of the demo endpoint (the kept one, or the port of the API plus 1)',
    },
    speed: { type: 'string', value: 'N', about: 'speed of retries and schedules, 1 to 1000000', default: '1' },
    concurrency: {
      type: 'string',
      value: 'N',
      about: 'concurrent invocations of each function, 1 to 1000',
      default: String(DEFAULT_CONCURRENCY),
    },
    database: {
      type: 'string',
      value: 'NAME',
      about: `${DATABASES.join(' or ')}, which requires Java (dynoxide where npm has it)`,
    },
    'max-database-mb': {
      type: 'string',
      value: 'N',
      about: 'size above which the oldest events are deleted, 1 to 100000',
      default: '512',
    },
    keep: { type: 'boolean', default: false, about: 'keep data, keys, pending deliveries and emails between starts' },
    directory: {
      type: 'string',
      value: 'PATH',
      about: 'directory of stack.json, functions.log and the kept data (.local)',
    },
  },
  notes: `stack.json contains URLs and keys. A second stack uses a temporary folder in the directory. All servers listen on
127.0.0.1, except dynamodb-local, which listens on all interfaces. The stack has the default settings, and ignores
deployment.json.`,
} as const;

export type Arguments = ReturnType<typeof readArguments>;

/** Validates the command line. `directory` becomes an absolute path. Throws `UserError`. */
export function readArguments({ values }: Parsed<(typeof USAGE)['options']>) {
  const port = integer('port', values.port, 0, 65535);
  const nextPort = port === 0 || port === 65535 ? 0 : port + 1;
  const speed = Number(values.speed);
  if (!(speed >= 1 && speed <= 1e6)) throw new UserError('--speed must be a number from 1 to 1000000.');
  const wanted = values.database ?? process.env.DATABASE;
  const database = DATABASES.find((name) => name === wanted);
  if (wanted !== undefined && !database) {
    const source = values.database === undefined ? 'The variable DATABASE' : '--database';
    throw new UserError(`${source} must be one of ${DATABASES.join(', ')}.`);
  }
  return {
    port,
    receiverPort: integer('receiver-port', values['receiver-port'] ?? String(nextPort), 0, 65535),
    isReceiverPortGiven: values['receiver-port'] !== undefined,
    speed,
    concurrency: integer('concurrency', values.concurrency, 1, 1000),
    database,
    maxDatabaseMb: integer('max-database-mb', values['max-database-mb'], 1, 100_000),
    keep: values.keep,
    directory: resolve(values.directory ?? localDirectory),
  };
}
