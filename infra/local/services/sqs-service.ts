import { createHash } from 'node:crypto';
import type { Template } from '../template.ts';
import { type Service, ServiceError } from './endpoints.ts';
import type { LocalIam } from './iam.ts';
import { LocalQueue, type QueueSettings } from './sqs.ts';

interface Entry {
  Id: string;
  MessageBody: string;
  MessageGroupId?: string;
  DelaySeconds?: number;
}

/** The maximum size of all messages in a batch (Amazon SQS quotas). */
const MAX_BYTES = 1_048_576;
const MAX_DELAY_SECONDS = 900;
/** Any character outside the set that SQS accepts in a message (SQS API Reference, `SendMessage`). */
const REFUSED_CHARACTER = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;
const ENTRY_ID = /^[\w-]{1,80}$/;
const GROUP_ID = /^[\w!"#$%&'()*+,\-./:;<=>?@[\\\]^`{|}~]{1,128}$/;

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** Implements `SendMessageBatch` in the JSON protocol of SQS (`x-amz-json-1.0`), the only operation that functions use. */
export function sqsService(queues: ReadonlyMap<string, LocalQueue>, iam: LocalIam): Service {
  return ({ input, principal }) => {
    const { QueueUrl, Entries } = input as { QueueUrl: string; Entries: Entry[] };
    const name = QueueUrl.split('/').at(-1) ?? '';
    const queue = queues.get(name);
    if (!queue) throw new ServiceError('QueueDoesNotExist', `There is no queue ${name}`);
    iam.require(principal, 'sqs:SendMessage', queue.settings.arn);
    return {
      headers: { 'Content-Type': 'application/x-amz-json-1.0' },
      body: JSON.stringify(sendBatch(queue, Entries)),
    };
  };
}

function send(queue: LocalQueue, { MessageBody, MessageGroupId, DelaySeconds = 0 }: Omit<Entry, 'Id'>) {
  if (REFUSED_CHARACTER.test(MessageBody))
    throw new ServiceError('InvalidMessageContents', 'The message contains characters outside the allowed set');
  const isValid =
    MessageBody !== '' &&
    Number.isInteger(DelaySeconds) &&
    DelaySeconds >= 0 &&
    DelaySeconds <= MAX_DELAY_SECONDS &&
    (MessageGroupId === undefined || GROUP_ID.test(MessageGroupId));
  if (!isValid) throw new ServiceError('InvalidParameterValue', 'The body, the delay or the group is not valid');
  return {
    MessageId: queue.send(MessageBody, { group: MessageGroupId, delaySeconds: DelaySeconds }),
    MD5OfMessageBody: md5(MessageBody),
  };
}

function sendBatch(queue: LocalQueue, entries: Entry[]) {
  const ids = new Set(entries.map(({ Id }) => Id));
  const bytes = entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0);
  if (entries.length === 0) throw new ServiceError('EmptyBatchRequest', 'The batch must have at least one entry');
  if (entries.length > 10) throw new ServiceError('TooManyEntriesInBatchRequest', 'At most 10 entries');
  if (entries.some(({ Id }) => !ENTRY_ID.test(Id)))
    throw new ServiceError('InvalidBatchEntryId', 'An id has 1 to 80 letters, digits, hyphens and underscores');
  if (ids.size < entries.length) throw new ServiceError('BatchEntryIdsNotDistinct', 'The ids must differ');
  if (bytes > MAX_BYTES) throw new ServiceError('BatchRequestTooLong', `At most ${MAX_BYTES} bytes`);
  const Successful: object[] = [];
  const Failed: object[] = [];
  for (const { Id, ...entry } of entries) {
    try {
      Successful.push({ Id, ...send(queue, entry) });
    } catch (error) {
      const { code: Code, message: Message } = error as ServiceError;
      Failed.push({ Id, Code, Message, SenderFault: true });
    }
  }
  return { Successful, Failed };
}

interface QueueProperties {
  VisibilityTimeout?: number;
  RedrivePolicy?: { deadLetterTargetArn: string; maxReceiveCount: number };
}

/** Creates the queues of the template, by id. */
export function createQueues(
  template: Template,
  settings: Pick<QueueSettings, 'speed' | 'visibilitySpeed' | 'kept' | 'now'>,
): Map<string, LocalQueue> {
  const queues = new Map<string, LocalQueue>();
  for (const { id, properties } of template.ofType<QueueProperties>('AWS::SQS::Queue')) {
    const { VisibilityTimeout: visibilityTimeoutSeconds = 30, RedrivePolicy } = properties;
    const target = RedrivePolicy?.deadLetterTargetArn.split(':').at(-1) ?? '';
    const deadLetters = RedrivePolicy && {
      queue: () => queues.get(target) as LocalQueue,
      maxReceiveCount: RedrivePolicy.maxReceiveCount,
    };
    queues.set(
      id,
      new LocalQueue({
        name: id,
        arn: template.arn(id),
        visibilityTimeoutSeconds,
        deadLetters,
        ...settings,
      }),
    );
  }
  return queues;
}
