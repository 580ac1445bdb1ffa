import { createHash } from 'node:crypto';
import { type Service, ServiceError } from './endpoints.ts';
import type { LocalIam } from './iam.ts';
import { LocalQueue } from './sqs.ts';
import type { Template } from './template.ts';

interface Entry {
  Id?: string;
  MessageBody: string;
  MessageGroupId?: string;
  DelaySeconds?: number;
  ReceiptHandle?: string;
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** The JSON protocol of SQS (`x-amz-json-1.0`) over local queues. */
export function sqsService(queueNamed: (name: string) => LocalQueue | undefined, iam: LocalIam): Service {
  return ({ headers, body, principal }) => {
    const action = String(headers['x-amz-target']).replace('AmazonSQS.', '');
    const input = JSON.parse(body || '{}');
    const name =
      String(input.QueueUrl ?? input.QueueName)
        .split('/')
        .at(-1) ?? '';
    const queue = queueNamed(name);
    if (!queue) throw new ServiceError('QueueDoesNotExist', `There is no queue ${name}`);
    iam.require(principal, `sqs:${action.replace('Batch', '')}`, queue.settings.arn);
    return {
      headers: { 'Content-Type': 'application/x-amz-json-1.0' },
      body: JSON.stringify(perform(queue, action, input)),
    };
  };
}

function perform(queue: LocalQueue, action: string, input: Record<string, unknown> & Entry): unknown {
  const entries = (input.Entries ?? []) as Entry[];
  const send = ({ MessageBody, MessageGroupId, DelaySeconds }: Entry) => ({
    MessageId: queue.send(MessageBody, { group: MessageGroupId, delaySeconds: DelaySeconds }),
    MD5OfMessageBody: md5(MessageBody),
  });
  switch (action) {
    case 'SendMessage':
      return send(input);
    case 'SendMessageBatch':
      if (entries.length > 10) throw new ServiceError('TooManyEntriesInBatchRequest', 'At most 10 entries');
      return { Successful: entries.map((entry) => ({ Id: entry.Id, ...send(entry) })), Failed: [] };
    case 'ReceiveMessage':
      return { Messages: queue.receive(Number(input.MaxNumberOfMessages ?? 1)).map(toMessage) };
    case 'DeleteMessage':
      queue.delete(String(input.ReceiptHandle));
      return {};
    case 'DeleteMessageBatch':
      for (const { ReceiptHandle } of entries) queue.delete(String(ReceiptHandle));
      return { Successful: entries.map(({ Id }) => ({ Id })), Failed: [] };
    case 'GetQueueAttributes': {
      const { visible, inFlight, delayed } = queue.counts();
      return {
        Attributes: {
          QueueArn: queue.settings.arn,
          ApproximateNumberOfMessages: String(visible),
          ApproximateNumberOfMessagesNotVisible: String(inFlight),
          ApproximateNumberOfMessagesDelayed: String(delayed),
        },
      };
    }
    case 'GetQueueUrl':
      return { QueueUrl: input.QueueUrl ?? queue.settings.name };
    default:
      throw new ServiceError('UnsupportedOperation', `The local SQS does not know ${action}`);
  }
}

function toMessage(message: ReturnType<LocalQueue['receive']>[number]) {
  return {
    MessageId: message.messageId,
    ReceiptHandle: message.receiptHandle,
    Body: message.body,
    MD5OfBody: md5(message.body),
    Attributes: { ApproximateReceiveCount: String(message.receiveCount), SentTimestamp: String(message.sentAt) },
  };
}

interface QueueProperties {
  VisibilityTimeout?: number;
  RedrivePolicy?: { deadLetterTargetArn: string; maxReceiveCount: number };
}

/** The queues of the template, by id. */
export function createQueues(template: Template, speed: number, visibilitySpeed: number): Map<string, LocalQueue> {
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
        speed,
        visibilitySpeed,
      }),
    );
  }
  return queues;
}
