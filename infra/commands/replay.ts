import * as v from 'valibot';
import { UserError } from '../user-error.ts';
import {
  awsCall,
  deployed,
  type FailedEventsAccess,
  type FailedSchedulesAccess,
  failedEvents,
  failedSchedules,
} from './aws-cli.ts';
import { command, pastTime, runCommand } from './command.ts';
import { fanOutStored } from './resume.ts';

const StoredBatch = v.object({
  payload: v.pipe(v.string(), v.parseJson(), v.looseObject({ Records: v.array(v.unknown()) })),
});

/** The batch in an object of the bucket. It is marked as a replay, so that the function does not set its records aside again. */
export function batchIn(key: string, text: string): string {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), StoredBatch), text);
  if (!success) throw new UserError(`${key} contains no failed events, because it has no payload with Records.`);
  return JSON.stringify({ ...output.payload, isReplay: true });
}

/**
 * Invokes the fan-out with failed events, sorted by key. Deletes an object only if its events succeed. A replay is harmless,
 * because a recorded attempt is not sent again.
 */
export async function replayEvents(access: FailedEventsAccess): Promise<{ replayed: string[]; left: string[] }> {
  const replayed: string[] = [];
  const left: string[] = [];
  for (const key of (await access.list()).sort()) {
    const response = (await access.invoke(batchIn(key, await access.read(key)))) as {
      batchItemFailures?: unknown[];
    } | null;
    if (response?.batchItemFailures?.length !== 0) {
      left.push(key);
      continue;
    }
    await access.remove(key);
    replayed.push(key);
  }
  return { replayed, left };
}

/**
 * Sends the messages that schedules could not send, and returns their number. The dead-letter queue of the schedules contains the
 * input of each SendMessage.
 */
export async function replaySchedules(access: FailedSchedulesAccess): Promise<number> {
  let count = 0;
  for (let messages = await access.receive(); messages.length > 0; messages = await access.receive()) {
    for (const { body, receiptHandle } of messages) {
      await access.send(body);
      await access.remove(receiptHandle);
      count++;
    }
  }
  return count;
}

const USAGE = {
  command: 'npm run replay',
  positionals: '(events BUCKET FUNCTION | schedules QUEUE_URL | since TIME)',
  about: `Repeats work that failed permanently: events that the fan-out set aside or never received, or messages that schedules
could not send. Recorded attempts are not sent again.

  events BUCKET FUNCTION   the outputs FailedEventsBucket and FanOutFunction of the stack
  schedules QUEUE_URL      the output FailedSchedulesQueue
  since TIME               all stored events of all projects since then, such as 2026-01-31T12:00:00Z. Reads the whole table`,
  options: {
    until: { type: 'string', value: 'TIME', about: 'since: only events until then' },
    stack: { type: 'string', value: 'NAME', about: 'since: the name of the stack', default: 'DocumentSyncService' },
  },
  notes: 'The command requires version 2 of the AWS CLI and credentials.',
} as const;

const replay = command(USAGE, async ({ values, positionals: [kind, source = '', functionName = ''] }) => {
  if (kind === 'events' && source && functionName) {
    const { replayed, left } = await replayEvents(failedEvents(source, functionName));
    process.stdout.write(`Replayed ${replayed.length} objects.\n`);
    for (const key of left) process.stderr.write(`Not replayed: ${key}. See the log of the function.\n`);
    process.exitCode = left.length > 0 ? 1 : 0;
  } else if (kind === 'schedules' && source) {
    process.stdout.write(`Sent ${await replaySchedules(failedSchedules(source))} messages.\n`);
  } else if (kind === 'since') {
    const now = Date.now();
    const since = pastTime('since', source, now);
    const until = values.until === undefined ? Number.MAX_SAFE_INTEGER : pastTime('--until', values.until, now);
    const count = await fanOutStored(awsCall, await deployed(awsCall, values.stack), since, until);
    process.stdout.write(`Replayed ${count} events.\n`);
  } else {
    throw new UserError('Name what to replay: events BUCKET FUNCTION, schedules QUEUE_URL, or since TIME.');
  }
});

if (import.meta.main) await runCommand(replay);
