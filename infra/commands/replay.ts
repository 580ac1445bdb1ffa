import { parseArgs } from 'node:util';
import { type FailedEventsAccess, type FailedSchedulesAccess, failedEvents, failedSchedules } from './aws-cli.ts';

/** The batch in an object of the bucket. It is marked as a replay, so that the function does not set its records aside again. */
export function batchIn(text: string): string {
  const { payload } = JSON.parse(text) as { payload?: unknown };
  const batch = typeof payload === 'string' ? JSON.parse(payload) : {};
  if (!Array.isArray(batch.Records))
    throw new Error('This object contains no failed events, because it has no payload with Records');
  return JSON.stringify({ ...batch, isReplay: true });
}

/**
 * Invokes the fan-out with failed events, sorted by key. Deletes an object only if its events succeed. A replay is harmless,
 * because a recorded attempt is not sent again.
 */
export async function replayEvents(access: FailedEventsAccess): Promise<{ replayed: string[]; left: string[] }> {
  const replayed: string[] = [];
  const left: string[] = [];
  for (const key of (await access.list()).sort()) {
    const response = (await access.invoke(batchIn(await access.read(key)))) as { batchItemFailures?: unknown[] } | null;
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

const USAGE = `Usage: npm run replay -- events <FailedEventsBucket> <FanOutFunction>
       npm run replay -- schedules <FailedSchedulesQueue>
The arguments are outputs of the stack. The command requires version 2 of the AWS CLI and credentials.`;

async function main(): Promise<void> {
  const [kind, source = '', functionName = ''] = parseArgs({ allowPositionals: true }).positionals;
  if (kind === 'events' && source && functionName) {
    const { replayed, left } = await replayEvents(failedEvents(source, functionName));
    process.stdout.write(`Replayed ${replayed.length} objects.\n`);
    for (const key of left) process.stderr.write(`Not replayed: ${key}. See the log of the function.\n`);
    process.exitCode = left.length > 0 ? 1 : 0;
  } else if (kind === 'schedules' && source) {
    process.stdout.write(`Sent ${await replaySchedules(failedSchedules(source))} messages.\n`);
  } else {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = 1;
  }
}

if (import.meta.main) await main();
