import { DeleteObjectCommand, GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type QueueAttributeName,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { visible } from '../../lib/printable.ts';
import { UserError } from '../user-error.ts';
import { awsReason } from './aws-reason.ts';
import { command, type Shell } from './command.ts';
import { deploymentOf, invokeFunction, outputsOf, STACK_OPTION } from './deployment.ts';
import { fanOutStored } from './stored-events.ts';
import { pastTime } from './usage.ts';

export const replay = command(
  {
    command: 'replay',
    positionals: '(events | schedules | since TIME)',
    about: `Repeats work of a deployment that failed permanently. Recorded attempts are not sent again.

  events       the events that the fan-out set aside
  schedules    the retries that schedules could not queue
  since TIME   all stored events of all projects since then, such as 2026-01-31T12:00:00Z. Reads the whole table`,
    options: STACK_OPTION,
  },
  async ({ values: { stack }, positionals: [kind = '', time, ...more] }, shell) => {
    if (kind === 'since' && more.length === 0) {
      const since = pastTime('since', time);
      const count = await fanOutStored(shell, await deploymentOf(shell, stack), since);
      return shell.print(`Replayed ${count} events.\n`);
    }
    if (!['events', 'schedules'].includes(kind) || time !== undefined)
      throw new UserError('Name what to replay: events, schedules, or since TIME.');
    const output = await outputsOf(shell, stack);
    const { result, left } =
      kind === 'schedules'
        ? await replaySchedules(shell, output('FailedSchedulesQueue'))
        : await replayEvents(shell, output('FailedEventsBucket'), output('FanOutFunction'));
    shell.print(`${result}\n`);
    for (const [name, reason] of left) shell.say(`Not replayed: ${name}. ${visible(reason)}`);
    return left.size > 0 ? 1 : 0;
  },
);

/** The batch that Lambda or the function stored in the bucket. */
const StoredBatch = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ payload: v.pipe(v.string(), v.parseJson(), v.looseObject({ Records: v.array(v.unknown()) })) }),
);
/** The input of SendMessage, which Scheduler puts into its dead-letter queue. */
const Unsent = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({ QueueUrl: v.string(), MessageBody: v.pipe(v.string(), v.minLength(1)) }),
);

/** The batch in an object of the bucket. It is marked as a replay, so that the function does not set its records aside again. */
export function batchIn(key: string, text: string): object {
  const { success, output } = v.safeParse(StoredBatch, text);
  if (!success) throw new UserError(`${key} contains no failed events, because it has no payload with Records.`);
  return { ...output.payload, isReplay: true };
}

/**
 * Invokes the fan-out with failed events, sorted by key. Deletes an object only if its events succeed. A replay is harmless,
 * because a recorded attempt is not sent again.
 */
async function replayEvents(shell: Shell, Bucket: string, functionName: string) {
  const s3 = shell.client(S3Client);
  const keys: string[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket }))
    keys.push(...Contents.flatMap(({ Key }) => Key ?? []));
  const left = new Map<string, string>();
  for (const Key of keys.sort()) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    const text = (await Body?.transformToString()) ?? '';
    const reason = await failureOf(shell, functionName, Key, text);
    if (reason === undefined) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    else left.set(Key, reason);
  }
  return { result: `Replayed ${keys.length - left.size} objects.`, left };
}

/** Invokes the fan-out with the events of an object. Returns why it did not handle them, because the others are replayed anyway. */
async function failureOf(shell: Shell, functionName: string, key: string, text: string): Promise<string | undefined> {
  try {
    const response = await invokeFunction(shell, functionName, batchIn(key, text));
    const failures = (response as { batchItemFailures?: unknown[] } | null)?.batchItemFailures;
    return failures?.length === 0 ? undefined : 'See the log of the function.';
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

/** The time of a poll without messages. Long polling asks all servers of SQS. */
const POLL_SECONDS = 5;
/** How long polls find no new message before the command ends: longer than SQS hides a received message. */
export const IDLE_SECONDS = 200;
/** Counts of 0 in a row that end the command, because SQS counts messages with a delay. */
const CONFIRMATIONS = 3;

/**
 * Sends the messages that schedules could not send. SQS hides a received message for minutes, so an empty response does not mean that
 * the queue is empty: it can hide the messages of an interrupted run.
 */
async function replaySchedules({ client, say }: Shell, QueueUrl: string) {
  const sqs = client(SQSClient);
  const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: POLL_SECONDS });
  const sent = new Set<string>();
  const left = new Map<string, string>();
  let [idlePolls, confirmations, isWaiting] = [0, 0, false];
  while (idlePolls * POLL_SECONDS < IDLE_SECONDS && confirmations < CONFIRMATIONS) {
    const handled = sent.size + left.size;
    const { Messages = [] } = await sqs.send(receive);
    for (const { MessageId = '', Body, ReceiptHandle } of Messages) {
      if (left.has(MessageId)) continue;
      const reason = await rejectionOf(sqs, Body);
      if (reason !== undefined) left.set(MessageId, reason);
      else {
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        sent.add(MessageId);
      }
    }
    if (sent.size + left.size > handled) {
      [idlePolls, confirmations] = [0, 0];
      continue;
    }
    idlePolls++;
    const waiting = (await messagesIn(sqs, QueueUrl)) - left.size;
    confirmations = waiting > 0 ? 0 : confirmations + 1;
    if (waiting > 0 && !isWaiting) say(`Waiting up to 3 minutes for hidden messages: ${waiting}.`);
    isWaiting ||= waiting > 0;
  }
  return { result: `Sent ${sent.size} messages.`, left };
}

/** The errors of SQS about a message or its queue. After other errors, the next message would fail too. */
const REJECTIONS = /^(QueueDoesNotExist|InvalidAddress|InvalidMessageContents|InvalidParameterValue)(Exception)?$/;

/** Sends a message of a schedule. Returns why SQS does not accept it, because the others are sent anyway. */
async function rejectionOf(sqs: SQSClient, text: string | undefined): Promise<string | undefined> {
  const { success, output } = v.safeParse(Unsent, text);
  if (!success) return 'It is no input of SendMessage.';
  try {
    await sqs.send(new SendMessageCommand(output));
    return undefined;
  } catch (error) {
    if (REJECTIONS.test((error as Error).name)) return awsReason(error);
    throw error;
  }
}

/** The messages of a queue, also those that it hides. */
async function messagesIn(sqs: SQSClient, QueueUrl: string): Promise<number> {
  const AttributeNames: QueueAttributeName[] = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'];
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }));
  return AttributeNames.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
}
