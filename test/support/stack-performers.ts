import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalQueue, QueueMessage } from '../../infra/local/services/sqs.ts';
import type { LocalStack } from '../../infra/local/stack.ts';
import type { Performers } from './shell.ts';
import { tablePerformers } from './table-performers.ts';

/** Performs the operations of commands on a local stack, as if it were deployed. */
export function stackPerformers(stack: LocalStack): Performers {
  const queueOf = ({ QueueUrl }: { QueueUrl: string }): LocalQueue => {
    const queue = stack.queueAt(QueueUrl);
    if (!queue) throw new Error(`There is no queue ${QueueUrl}`);
    return queue;
  };
  const toMessage = ({ messageId, body, receiptHandle }: QueueMessage) => ({
    MessageId: messageId,
    Body: body,
    ReceiptHandle: receiptHandle,
  });
  const bucket = (name: string) => stack.buckets.get(`arn:aws:s3:::${name}`) ?? new Map<string, string>();
  const file = join(stack.template.directory, 'DocumentSyncService.template.json');
  const { Outputs } = JSON.parse(readFileSync(file, 'utf8'));
  const outputs = Object.entries(stack.template.resolve(Outputs) as Record<string, { Value: string }>);
  return {
    ...tablePerformers(stack),
    DescribeStacks: () => ({
      Stacks: [{ Outputs: outputs.map(([OutputKey, { Value }]) => ({ OutputKey, OutputValue: Value })) }],
    }),
    async Invoke({ FunctionName, Payload }) {
      const result = await stack.invoke(FunctionName, JSON.parse(Buffer.from(Payload).toString())).then(
        (value) => ({ value }),
        ({ message }: Error) => ({ FunctionError: 'Unhandled', value: { errorMessage: message } }),
      );
      return { ...result, Payload: Buffer.from(JSON.stringify(result.value)) };
    },
    ListObjectsV2: ({ Bucket }) => ({ Contents: [...bucket(Bucket).keys()].map((Key) => ({ Key })) }),
    GetObject: ({ Bucket, Key }) => ({ Body: { transformToString: async () => bucket(Bucket).get(Key) } }),
    DeleteObject: ({ Bucket, Key }) => bucket(Bucket).delete(Key),
    // A short poll can find nothing (SQS Developer Guide).
    ReceiveMessage: (input) =>
      input.WaitTimeSeconds > 0 ? { Messages: queueOf(input).receive(input.MaxNumberOfMessages).map(toMessage) } : {},
    GetQueueAttributes(input) {
      const { visible, inFlight } = queueOf(input).counts();
      const counts = { ApproximateNumberOfMessages: visible, ApproximateNumberOfMessagesNotVisible: inFlight };
      return { Attributes: Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)])) };
    },
    DeleteMessage: (input) => queueOf(input).delete(input.ReceiptHandle),
    SendMessage: (input) => queueOf(input).send(input.MessageBody, { group: input.MessageGroupId }),
    SendMessageBatch({ Entries, ...input }) {
      for (const { MessageBody, MessageGroupId: group } of Entries) queueOf(input).send(MessageBody, { group });
      return {};
    },
  };
}
