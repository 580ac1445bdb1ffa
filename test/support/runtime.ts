import { randomBytes } from 'node:crypto';
import type { Runtime } from '../../lib/aws/runtime.ts';
import type { Variable } from '../../lib/deployment.ts';

/** A command to AWS: its name without `Command`, and its input. */
export interface Command {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: inputs of different commands
  input: any;
}

/** The environment variables of a function. The URL of a queue ends with the name of its variable. */
export const VARIABLES: Readonly<Record<Exclude<Variable, 'SOURCE_ADDRESSES' | 'DASHBOARD_URL'>, string>> = {
  TABLE_NAME: 'table',
  DELIVERIES_QUEUE_URL: 'https://sqs.example.com/DELIVERIES_QUEUE_URL',
  NEW_QUEUE_URL: 'https://sqs.example.com/NEW_QUEUE_URL',
  SLOW_QUEUE_URL: 'https://sqs.example.com/SLOW_QUEUE_URL',
  CHECKS_QUEUE_URL: 'https://sqs.example.com/CHECKS_QUEUE_URL',
  SUMMARIES_QUEUE_URL: 'https://sqs.example.com/SUMMARIES_QUEUE_URL',
  LANE: 'quick',
  SCHEDULE_GROUP: 'group',
  SCHEDULE_ROLE_ARN: 'arn:aws:iam::111122223333:role/schedules',
  SCHEDULE_DLQ_ARN: 'arn:aws:sqs:eu-central-1:111122223333:failed-schedules',
  SENDER_EMAIL: 'notifications@example.com',
  CONFIGURATION_SET: 'emails',
  BASE_URL: 'https://api.example.com',
  SHARE_PREFIX: 'share',
  DELIVERIES_PER_SECOND: '1000',
  FAILED_EVENTS_URL: 'https://failed-events.example.com',
};

export const isRead = (name: string): boolean => ['Get', 'BatchGet', 'Query', 'Scan'].includes(name);

interface SdkCommand {
  constructor: { name: string };
  input: object;
}

export const commandOf = (command: SdkCommand): Command => ({
  name: command.constructor.name.replace(/Command$/, ''),
  input: command.input,
});

/** The runtime of a function whose calls to AWS go to `send`. */
export function runtimeWith(send: (command: Command) => Promise<object>, rest: Partial<Runtime> = {}): Runtime {
  const client = { send: (command: SdkCommand) => send(commandOf(command)) };
  return {
    variables: VARIABLES,
    clock: () => Date.now(),
    random: randomBytes,
    log: { info() {}, warn() {}, error() {} },
    wait: async () => {},
    client: () => client as never,
    ...rest,
  };
}
