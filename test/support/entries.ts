import { marshall } from '@aws-sdk/util-dynamodb';
import type { Context, DynamoDBRecord } from 'aws-lambda';
import * as authorizer from '../../functions/authorizer.ts';
import * as checkConnection from '../../functions/check-connection.ts';
import * as createProject from '../../functions/create-project.ts';
import * as deliver from '../../functions/deliver.ts';
import * as documents from '../../functions/documents.ts';
import * as emailEvents from '../../functions/email-events.ts';
import * as events from '../../functions/events.ts';
import * as fanOut from '../../functions/fan-out.ts';
import * as keys from '../../functions/keys.ts';
import * as project from '../../functions/project.ts';
import * as projects from '../../functions/projects.ts';
import * as stats from '../../functions/stats.ts';
import * as tokens from '../../functions/tokens.ts';
import * as webhooks from '../../functions/webhooks.ts';
import type { Item } from '../../infra/local/memory/paths.ts';
import type { Runtime } from '../../lib/aws/runtime.ts';
import { LANES } from '../../lib/deliveries/lanes.ts';
import { LANE_QUEUES } from '../../lib/deployment.ts';
import { type Command, commandOf } from './runtime.ts';

export type Handler = (event: never, context: Context) => Promise<unknown>;

/** The HTTP requests of functions, which are not calls of the AWS SDK. Without them, the functions use the network. */
interface Outgoing {
  /** Creates the function that sends the requests of attempts. */
  poster?: Parameters<typeof deliver.create>[1];
  /** Creates the function that stores an event that always fails. */
  keeper?: Parameters<typeof fanOut.create>[1];
}

/** The deployed entries by file. The function of a lane has the name `deliver LANE`. */
const ENTRIES: Readonly<Record<string, (runtime: Runtime, outgoing: Outgoing) => Handler>> = {
  authorizer: authorizer.create,
  'check-connection': checkConnection.create,
  'create-project': createProject.create,
  documents: documents.create,
  'email-events': emailEvents.create,
  events: events.create,
  'fan-out': (runtime, { keeper }) => fanOut.create(runtime, keeper),
  keys: keys.create,
  project: project.create,
  projects: projects.create,
  stats: stats.create,
  tokens: tokens.create,
  webhooks: webhooks.create,
  deliver: (runtime, { poster }) => deliver.create(runtime, poster),
};

/** Observes what a function uses, by its name. */
interface Observer {
  command(name: string, command: Command): void;
  variable(name: string, variable: string): void;
}
let observer: Observer | undefined;

/** Passes the commands and environment variables of every function that is created later to an observer. */
export function observeEntries(next: Observer | undefined): void {
  observer = next;
}

export function createEntry(name: string, given: Runtime, outgoing: Outgoing = {}): Handler {
  const [entry = '', lane] = name.split(' ');
  const create = ENTRIES[entry];
  if (!create) throw new Error(`There is no function ${name}`);
  const runtime = lane ? { ...given, variables: { ...given.variables, LANE: lane } } : given;
  const used = observer;
  if (!used) return create(runtime, outgoing);
  const client = runtime.client({} as never) as unknown as { send(command: object): Promise<object> };
  const send = (command: object) => {
    used.command(name, commandOf(command as never));
    return client.send(command);
  };
  const variables = new Proxy(runtime.variables, {
    get(values, variable: string) {
      used.variable(name, variable);
      return values[variable];
    },
  });
  return create({ ...runtime, variables, client: () => ({ send }) as never }, outgoing);
}

/** The function that each queue feeds, by the variable with the URL of the queue. */
export const CONSUMERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LANES.map((lane) => [LANE_QUEUES[lane], `deliver ${lane}`])),
  CHECKS_QUEUE_URL: 'check-connection',
  SUMMARIES_QUEUE_URL: 'email-events',
};

/** The function that the queue with this URL of `VARIABLES` feeds. */
export const consumerOf = (queueUrl: string): string => CONSUMERS[queueUrl.split('/').at(-1) ?? ''] ?? '';

/** A message as its function receives it. */
export const queueRecord = (messageId: string, body: string) => ({
  messageId,
  body,
  attributes: { ApproximateReceiveCount: '1' },
  eventSource: 'aws:sqs',
});

/** The message of a schedule that a function creates, and when it is due. */
export function scheduledMessage({ Target, ScheduleExpression }: ScheduleInput) {
  const { QueueUrl, MessageBody } = JSON.parse(Target.Input) as { QueueUrl: string; MessageBody: string };
  return { at: Date.parse(`${ScheduleExpression.slice('at('.length, -1)}Z`), queueUrl: QueueUrl, body: MessageBody };
}

interface ScheduleInput {
  Target: { Input: string };
  ScheduleExpression: string;
}

/** A change of an item in the stream of the table. */
export function streamRecord(
  before: Item | undefined,
  after: Item | undefined,
  SequenceNumber: string,
): DynamoDBRecord {
  const image = (item: Item) => marshall(item, { removeUndefinedValues: true }) as never;
  const { pk = '', sk = '' } = after ?? before ?? {};
  const images = { ...(before && { OldImage: image(before) }), ...(after && { NewImage: image(after) }) };
  return { eventID: SequenceNumber, dynamodb: { Keys: image({ pk, sk }), SequenceNumber, ...images } };
}
