import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { OPERATOR } from '../../infra/local/services/iam.ts';
import { REGION } from '../../infra/local/template.ts';
import { type LogEvent, logEvents, matchesPattern } from './cloudwatch/logs.ts';
import type { Performers } from './operator.ts';
import { tablePerformers } from './table-performers.ts';
import type { WatchedStack } from './watched-stack.ts';

/** The physical id of a mapping is a UUID. */
const uuidOf = (logicalId: string): string =>
  createHash('md5')
    .update(logicalId)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** Resources that the template has only with parameters. */
const OPTIONAL: Record<string, string> = {
  EncryptionKey: '1234abcd-12ab-34cd-56ef-1234567890ab',
  AlarmTopic: 'arn:aws:sns:eu-central-1:123456789012:alarms',
};

/** Runs the operations of the AWS CLI on a local stack. SQS commands use the SDK. */
export function stackPerformers(stack: WatchedStack): Performers {
  const sqs = new SQSClient({
    region: REGION,
    endpoint: stack.endpoints.url('sqs'),
    credentials: { accessKeyId: OPERATOR, secretAccessKey: 'local' },
  });
  const groups = new Map(
    stack.template
      .ofType<{ LoggingConfig?: { LogGroup: string } }>('AWS::Lambda::Function')
      .map(({ id, properties }) => [id, properties.LoggingConfig?.LogGroup]),
  );
  const logged: { group: string; event: LogEvent }[] = [];
  const log = stack.cloudWatch.log.bind(stack.cloudWatch);
  stack.cloudWatch.log = (source, text) => {
    const group = groups.get(source) ?? source;
    for (const event of logEvents(text)) logged.push({ group, event });
    log(source, text);
  };
  const bucket = (name: string) => {
    const found = stack.buckets.get(`arn:aws:s3:::${name}`);
    if (!found) throw new Error(`NoSuchBucket: ${name}`);
    return found;
  };
  const object = (url = '') => {
    const [, name = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/.exec(url) ?? [];
    return { objects: bucket(name), key };
  };
  const mapping = ({ UUID }: Record<string, unknown>) => {
    const [, found] = [...stack.mappings].find(([id]) => uuidOf(id) === UUID) ?? [];
    if (!found) throw new Error(`ResourceNotFoundException: ${UUID}`);
    return found;
  };
  const stateOf = (input: Record<string, unknown>) => ({
    UUID: input.UUID,
    EventSourceArn: mapping(input).EventSourceArn,
    FunctionArn: stack.template.arn(mapping(input).FunctionName),
    State: mapping(input).Enabled === false ? 'Disabled' : 'Enabled',
    StateTransitionReason: 'User action',
    LastProcessingResult: 'OK',
  });

  return {
    ...tablePerformers(stack),
    's3api ListObjectsV2': ({ Bucket }) => ({ Contents: [...bucket(String(Bucket)).keys()].map((Key) => ({ Key })) }),
    's3 cp': (_, [source]) => {
      const { objects, key } = object(source);
      const text = objects.get(key);
      if (text === undefined) throw new Error(`NoSuchKey: ${key}`);
      return text;
    },
    's3 rm': (_, [url]) => {
      const { objects, key } = object(url);
      return `delete: ${key} ${objects.delete(key)}`;
    },
    async 'lambda Invoke'({ FunctionName, Payload }, [file = '']) {
      writeFileSync(file, JSON.stringify(await stack.invoke(String(FunctionName), JSON.parse(String(Payload)))));
      return { StatusCode: 200 };
    },
    'lambda GetEventSourceMapping': stateOf,
    'lambda UpdateEventSourceMapping': (input) => {
      mapping(input).Enabled = Boolean(input.Enabled);
      return stateOf(input);
    },
    'lambda DeleteFunctionConcurrency': ({ FunctionName }) => {
      const fn = stack.functions.get(String(FunctionName));
      if (!fn) throw new Error(`ResourceNotFoundException: ${FunctionName}`);
      fn.reservedConcurrency = Number.POSITIVE_INFINITY;
      return undefined;
    },
    'cloudformation DescribeStackResource': ({ LogicalResourceId }) => {
      const id = String(LogicalResourceId);
      if (OPTIONAL[id]) return { StackResourceDetail: { PhysicalResourceId: OPTIONAL[id] } };
      stack.template.resource(id); // throws if there is none
      const PhysicalResourceId = stack.mappings.has(id) ? uuidOf(id) : stack.template.ref(id);
      return { StackResourceDetail: { PhysicalResourceId } };
    },
    'sqs GetQueueAttributes': (input) => sqs.send(new GetQueueAttributesCommand(input as never)),
    'cloudformation DescribeStacks': () => ({
      Stacks: [
        {
          Outputs: ['Projects', 'CreateProject'].map((name) => ({
            OutputKey: `${name}Function`,
            OutputValue: [...stack.functions.keys()].find((id) => new RegExp(`^${name}[0-9A-F]{8}$`).test(id)),
          })),
        },
      ],
    }),
    'logs FilterLogEvents': ({ logGroupName, filterPattern }) => ({
      events: logged
        .filter(({ group, event }) => group === logGroupName && matchesPattern(String(filterPattern), event))
        .map(({ event }) => ({ message: JSON.stringify(event) })),
    }),
    'sqs ReceiveMessage': (input) => sqs.send(new ReceiveMessageCommand(input as never)),
    'sqs DeleteMessage': (input) => sqs.send(new DeleteMessageCommand(input as never)),
    'sqs SendMessage': (input) => sqs.send(new SendMessageCommand(input as never)),
    'sqs SendMessageBatch': (input) => sqs.send(new SendMessageBatchCommand(input as never)),
    'sqs StartMessageMoveTask': ({ SourceArn }) => {
      const letters = stack.queueAt(String(SourceArn));
      const source = [...stack.queues.values()].find(({ settings }) => settings.deadLetters?.queue() === letters);
      if (!letters || !source) throw new Error('Source queue must be configured as a Dead Letter Queue.');
      for (const { body, group, receiptHandle } of letters.receive(10)) {
        source.send(body, { group });
        letters.delete(receiptHandle);
      }
      return { TaskHandle: 'task' };
    },
  };
}
