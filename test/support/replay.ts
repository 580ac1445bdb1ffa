import { randomUUID } from 'node:crypto';
import { type Command, DynamoDbError } from '../../infra/local/memory/requests.ts';
import { comparedTable } from './compared-table.ts';

/*
 * Proves that the table in memory behaves like the database. It records what tests do with tables in memory, repeats it after
 * their file on the database of this worker, and compares every result. So a test needs only the table in memory.
 */

/** Repetitions are slow, so they happen only if `DATABASE` selects a database, as in `.ci/run`. */
const IS_REPLAYED = !['memory', undefined].includes(process.env.DATABASE);

/** Members whose value does not change the kind of a request. */
const DATA = [
  ...['TableName', 'Key', 'Keys', 'Item', 'ExclusiveStartKey', 'Limit', 'ClientRequestToken'],
  ...['ExpressionAttributeNames', 'ExpressionAttributeValues'],
];
/** The counters of stats, whose names contain data. */
const COUNTERS = /#\w+_\w+ :\w+_\w+(, #\w+_\w+ :\w+_\w+)*/g;
const POSITION = /position_\w+/g;
const WRITES = ['Put', 'Update', 'Delete', 'TransactWrite'];
/** The number of histories that a worker repeats at the same time. */
const CONCURRENT = 4;

// biome-ignore lint/suspicious/noExplicitAny: results of many shapes
type Members = Record<string, any>;

const known = new Set<string>();
/** Histories with a kind of request and result that no earlier one of this worker had, and the number of commands up to it. */
const wanted = new Map<Command[], number>();

/** Records a command that a table in memory accepted, and its result or error. */
export function recordCommand(history: Command[], command: Command, result: object): void {
  if (!IS_REPLAYED) return;
  const kind = JSON.stringify([command, kindOf(result)], (name, value) => (DATA.includes(name) ? undefined : value))
    .replace(COUNTERS, 'counters')
    .replace(POSITION, 'position');
  const isNew = !known.has(kind);
  known.add(kind);
  // Other commands leave the table unchanged.
  if (isNew || (WRITES.includes(command.name) && !(result instanceof DynamoDbError))) history.push(command);
  if (isNew) wanted.set(history, history.length);
}

function kindOf({ name, CancellationReasons, Item, Attributes, Count = 0, LastEvaluatedKey }: Members): unknown[] {
  const reasons = CancellationReasons?.map(({ Code, Item }: Members) => [Code, Item !== undefined]);
  const members = [Item, Attributes, LastEvaluatedKey].map((each) => each !== undefined);
  return [name, reasons, members, Math.min(Count, 2)];
}

/** Repeats the recorded histories, and throws if the database has another result than the table in memory. */
export async function replayRecorded(): Promise<void> {
  const histories = [...wanted].map(([history, length]) => history.slice(0, length));
  wanted.clear();
  const repeat = async () => {
    for (let history = histories.pop(); history; history = histories.pop()) await replay(history);
  };
  await Promise.all(Array.from({ length: CONCURRENT }, repeat));
}

async function replay(history: readonly Command[]): Promise<void> {
  const { perform, compareItems, drop } = await comparedTable();
  // The database must not know the token of a transaction from another history.
  const tokens = new Map<string, string>();
  for (const { name, input } of history) {
    const { ClientRequestToken: token } = input;
    if (token !== undefined) tokens.set(token, tokens.get(token) ?? randomUUID());
    const ClientRequestToken = tokens.get(token);
    const command = { name, input: { ...input, ...(ClientRequestToken && { ClientRequestToken }) } };
    await perform(command).catch((error: Error) => {
      if (!(error instanceof DynamoDbError)) throw error;
    });
  }
  await compareItems();
  await drop();
}
