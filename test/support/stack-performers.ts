import { Buffer } from 'node:buffer';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { OPERATOR } from '../../infra/local/services/iam.ts';
import type { LocalStack } from '../../infra/local/stack.ts';
import { REGION } from '../../infra/local/template.ts';
import type { Performers } from './shell.ts';
import { tablePerformers } from './table-performers.ts';

/** Performs the operations of commands on a local stack, as if it were deployed. */
export function stackPerformers(stack: LocalStack): Performers {
  const sqs = new SQSClient({
    region: REGION,
    endpoint: stack.endpoints.url('sqs'),
    credentials: { accessKeyId: OPERATOR, secretAccessKey: 'local' },
  });
  const pass: Performers[string] = (_, command) => sqs.send(command);
  const bucket = (name: string) => stack.buckets.get(`arn:aws:s3:::${name}`) ?? new Map<string, string>();
  const outputs: Record<string, string> = {
    BaseUrl: stack.baseUrl,
    FailedEventsBucket: [...stack.buckets.keys()][0]?.split(':').at(-1) ?? '',
    FailedSchedulesQueue: stack.template.ref('FailedSchedules'),
    FanOutFunction: 'DeliveryFanOut',
    ProjectsFunction: 'Projects',
    CreateProjectFunction: 'CreateProject',
  };
  return {
    ...tablePerformers(stack),
    DescribeStacks: () => ({
      Stacks: [{ Outputs: Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })) }],
    }),
    DescribeStackResource: ({ LogicalResourceId: id }) => ({
      StackResourceDetail: { PhysicalResourceId: stack.mappings.has(id) ? id : stack.template.ref(id) },
    }),
    GetEventSourceMapping: ({ UUID }) => ({ EventSourceArn: stack.mappings.get(UUID)?.EventSourceArn }),
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
    ReceiveMessage: async (input) =>
      input.WaitTimeSeconds > 0 ? sqs.send(new ReceiveMessageCommand({ ...input, WaitTimeSeconds: 0 })) : {},
    GetQueueAttributes({ QueueUrl }) {
      const { visible, inFlight } = stack.queues.get(QueueUrl.split('/').at(-1))?.counts() ?? {};
      const counts = { ApproximateNumberOfMessages: visible, ApproximateNumberOfMessagesNotVisible: inFlight };
      return { Attributes: Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)])) };
    },
    DeleteMessage: pass,
    SendMessage: pass,
    SendMessageBatch: pass,
  };
}
