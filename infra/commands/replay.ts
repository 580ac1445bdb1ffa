import { LambdaClient } from '@aws-sdk/client-lambda';
import { DeleteObjectCommand, GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { UserError } from '../user-error.ts';
import { command, type Shell } from './command.ts';
import { DEPLOYED_STACK_OPTION, deploymentOf, invokeFunction, outputsOf, requireStack } from './deployment.ts';
import { fanOutStored } from './stored-events.ts';
import { pastTime } from './usage.ts';

const StoredBatch = v.object({
  payload: v.pipe(v.string(), v.parseJson(), v.looseObject({ Records: v.array(v.unknown()) })),
});
/** The input of SendMessage, which Scheduler puts into its dead-letter queue. */
const Unsent = v.pipe(v.string(), v.parseJson(), v.looseObject({ QueueUrl: v.string(), MessageBody: v.string() }));

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
export async function replayEvents(
  { client }: Pick<Shell, 'client'>,
  Bucket: string,
  functionName: string,
): Promise<{ replayed: string[]; left: string[] }> {
  const [s3, lambda] = [client(S3Client), client(LambdaClient)];
  const keys: string[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket }))
    keys.push(...Contents.flatMap(({ Key }) => Key ?? []));
  const replayed: string[] = [];
  const left: string[] = [];
  for (const Key of keys.sort()) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    const batch = batchIn(Key, (await Body?.transformToString()) ?? '');
    const response = (await invokeFunction(lambda, functionName, batch)) as { batchItemFailures?: unknown[] } | null;
    if (response?.batchItemFailures?.length !== 0) {
      left.push(Key);
      continue;
    }
    await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    replayed.push(Key);
  }
  return { replayed, left };
}

/** Sends the messages that schedules could not send, and returns their number. */
export async function replaySchedules({ client }: Pick<Shell, 'client'>, QueueUrl: string): Promise<number> {
  const sqs = client(SQSClient);
  const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 5 });
  let count = 0;
  for (;;) {
    const { Messages = [] } = await sqs.send(receive);
    if (Messages.length === 0) return count;
    for (const { MessageId, Body, ReceiptHandle } of Messages) {
      const { success, output } = v.safeParse(Unsent, Body);
      if (!success) throw new UserError(`The message ${MessageId} of the queue is no input of SendMessage.`);
      await sqs.send(new SendMessageCommand(output));
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      count++;
    }
  }
}

const USAGE = {
  command: 'npm run ops -- replay',
  positionals: '(events | schedules | since TIME)',
  about: `Repeats work that failed permanently. Recorded attempts are not sent again.

  events       the events that the fan-out set aside
  schedules    the retries that schedules could not queue
  since TIME   all stored events of all projects since then, such as 2026-01-31T12:00:00Z. Reads the whole table`,
  options: {
    ...DEPLOYED_STACK_OPTION,
    until: { type: 'string', value: 'TIME', about: 'since: only events until then' },
  },
} as const;

export const replay = command(USAGE, async ({ values, positionals: [kind = '', time, ...more] }, shell) => {
  if (!['events', 'schedules', 'since'].includes(kind) || (kind !== 'since' && time !== undefined) || more.length > 0)
    throw new UserError('Name what to replay: events, schedules, or since TIME.');
  const since = kind === 'since' ? pastTime('since', time, shell.clock()) : 0;
  const until = values.until === undefined ? Number.MAX_SAFE_INTEGER : pastTime('--until', values.until, shell.clock());
  const stack = requireStack(values.stack);
  if (kind === 'since') {
    const count = await fanOutStored(shell, await deploymentOf(shell, stack), since, until);
    return shell.print(`Replayed ${count} events.\n`);
  }
  const output = await outputsOf(shell, stack);
  if (kind === 'schedules') {
    const count = await replaySchedules(shell, output('FailedSchedulesQueue'));
    return shell.print(`Sent ${count} messages.\n`);
  }
  const { replayed, left } = await replayEvents(shell, output('FailedEventsBucket'), output('FanOutFunction'));
  shell.print(`Replayed ${replayed.length} objects.\n`);
  for (const key of left) shell.say(`Not replayed: ${key}. See the log of the function.`);
  return left.length > 0 ? 1 : 0;
});
