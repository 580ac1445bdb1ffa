import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { ops } from '../../infra/commands/ops.ts';
import { batchIn } from '../../infra/commands/replay.ts';
import { UserError } from '../../infra/user-error.ts';
import { itemKey } from '../../lib/aws/items.ts';
import { temporaryDirectory } from '../support/after-file.ts';
import { type Performers, ran } from '../support/shell.ts';

const deploymentFile = join(temporaryDirectory(), 'deployment.json');

const SPACE = { projectId: 'prj_1', environment: 'live' } as const;
const ARGUMENTS = ['restore', '--stack', 'Service', '--at', '2026-01-31T12:00:00Z'];
const TABLE = 'documents-restored-20260131120000';
const ARN = 'arn:aws:dynamodb:eu-central-1:123456789012:table';
const STREAM = `${ARN}/${TABLE}/stream/2026-01-31T13:00:00.000`;
/** A stack whose restored table needs nothing more than its name. */
const performers = {
  DescribeStacks: () => ({ Stacks: [{ Outputs: [{ OutputKey: 'FanOutFunction', OutputValue: 'fan-out' }] }] }),
  DescribeStackResource: () => ({ StackResourceDetail: { PhysicalResourceId: 'id' } }),
  GetEventSourceMapping: () => ({ EventSourceArn: `${ARN}/documents/stream/2026-01-01T00:00:00.000` }),
  DescribeTable: ({ TableName }: { TableName: string }) => ({
    Table: {
      TableArn: `${ARN}/${TableName}`,
      TableStatus: 'ACTIVE',
      StreamSpecification: { StreamEnabled: true },
      DeletionProtectionEnabled: true,
      LatestStreamArn: STREAM,
    },
  }),
  UpdateTimeToLive: () => {},
  UpdateContinuousBackups: () => {},
  ListTagsOfResource: () => ({ Tags: [{ Key: 'aws:cloudformation:stack-name', Value: 'Service' }] }),
};
const restore = (stack: string) =>
  ran(ops, ['restore', '--stack', stack, '--at', '2026-01-31T12:00:00Z'], performers, { deploymentFile });
const table = { name: TABLE, streamArn: STREAM };

it('writes the restored table to the settings of the stack', async () => {
  const settings = { stackName: 'Service', senderEmail: 'notifications@acme.example' };
  writeFileSync(deploymentFile, JSON.stringify(settings));
  expect(await restore('Service')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(
      `deployment.json now names the table. Deploy it:\n\n  "table": ${JSON.stringify(table)}\n\n  npx cdk deploy --parameters ConfirmTable=${TABLE}\n`,
    ),
  });
  expect(JSON.parse(readFileSync(deploymentFile, 'utf8'))).toEqual({ ...settings, table });
});

it.each([
  ['another stack', JSON.stringify({ stackName: 'Other', senderEmail: 'notifications@acme.example' })],
  ['no stack', undefined],
])('prints the table when deployment.json has the settings of %s', async (_, text) => {
  if (text === undefined) rmSync(deploymentFile);
  else writeFileSync(deploymentFile, text);
  expect((await restore('Service')).stdout).toContain(
    `Add the table to the settings of the stack, and deploy it:\n\n  "table": ${JSON.stringify(table)}\n`,
  );
  if (text !== undefined) expect(readFileSync(deploymentFile, 'utf8')).toBe(text);
});

it('queues the work that waited, also of a delivery that has changed since', async () => {
  const items = [
    { ...itemKey.webhook(SPACE, 'whk_1') },
    { ...itemKey.delivery('whk_1', 'evt_1'), status: 'retrying', run: 0, attempt: 2, attempts: [] },
    {
      ...itemKey.delivery('whk_1', 'evt_2'),
      status: 'pending',
      run: 1,
      attempt: 0,
      attempts: [{ trigger: 'redelivery' }],
    },
    { ...itemKey.delivery('whk_1', 'evt_3'), status: 'retrying', test: true, run: 0, attempt: 1, attempts: [] },
    { ...itemKey.delivery('whk_gone', 'evt_1'), status: 'retrying', run: 0, attempt: 1, attempts: [] },
  ].map((item) => marshall(item));
  const sent: object[] = [];
  const updated: object[] = [];
  const { status, stdout } = await ran(ops, [...ARGUMENTS, '--resume', '--events', '30'], {
    ...performers,
    GetEventSourceMapping: () => ({ EventSourceArn: STREAM }),
    Scan({ ExclusiveStartKey: after, ExpressionAttributeValues }) {
      expect(unmarshall(ExpressionAttributeValues)[':since']).toBe(Date.parse('2026-01-31T11:30:00Z'));
      return after ? { Items: items.slice(0, 2) } : { Items: items.slice(2), LastEvaluatedKey: {} };
    },
    UpdateItem({ Key }) {
      updated.push(unmarshall(Key));
      throw new ConditionalCheckFailedException({ message: 'changed', $metadata: {} });
    },
    SendMessageBatch({ Entries }) {
      for (const { MessageBody, MessageGroupId } of Entries) sent.push([MessageGroupId, JSON.parse(MessageBody)]);
      return {};
    },
  });
  expect([status, stdout]).toEqual([0, 'Queued 2 deliveries in progress, 0 events and 0 checks of connections.\n']);
  expect(updated).toEqual([itemKey.delivery('whk_1', 'evt_1')]);
  const message = { webhookId: 'whk_1', ...SPACE };
  expect(sent).toEqual([
    ['whk_1', { ...message, eventId: 'evt_2', run: 1, attempt: 1, trigger: 'redelivery' }],
    ['whk_1', { ...message, eventId: 'evt_1', run: 0, attempt: 2, trigger: 'schedule' }],
  ]);
});

it.each([
  ['all events', [], 0, 'Replayed 1001 events.\n', ''],
  ['not all events', [{ itemIdentifier: '1' }], 1, '', 'fan-out did not handle all events. Repeat the command.\n'],
])('replays stored events in batches of 1,000, when the function handles %s', async (_, failures, ...printed) => {
  const batches: number[] = [];
  const { status, stdout, stderr } = await ran(ops, ['replay', 'since', '2026-01-31T12:00:00Z', '--stack', 'Service'], {
    ...performers,
    Scan: () => ({ Items: Array(1001).fill(marshall(itemKey.event(SPACE, 'evt_1'))) }),
    Invoke({ FunctionName, Payload }) {
      const { Records, isReplay } = JSON.parse(Payload);
      expect([FunctionName, isReplay, Records[0].eventName]).toEqual(['fan-out', true, 'INSERT']);
      batches.push(Records.length);
      return { Payload: Buffer.from(JSON.stringify({ batchItemFailures: failures })) };
    },
  });
  expect([status, stdout, stderr]).toEqual(printed);
  expect(batches).toEqual(failures.length === 0 ? [1000, 1] : [1000]);
});

const outputs = ['FailedEventsBucket', 'FailedSchedulesQueue', 'FanOutFunction'];
const DescribeStacks = () => ({
  Stacks: [{ Outputs: outputs.map((OutputKey) => ({ OutputKey, OutputValue: OutputKey })) }],
});
const replay = (kind: string, performers: Performers) =>
  ran(ops, ['replay', kind, '--stack', 'Service'], { DescribeStacks, ...performers });

describe('replay events', () => {
  const object = JSON.stringify({ payload: JSON.stringify({ Records: [{ eventID: 'e1' }] }) });

  it.each([
    ['succeeds', { batchItemFailures: [] }, ['a', 'b']],
    ['reports a failed event', { batchItemFailures: [{ itemIdentifier: '1' }] }, []],
    ['returns nothing', null, []],
    ['returns another response', {}, []],
  ])('deletes the objects of every page only when the function %s', async (_, response, expected) => {
    const removed: string[] = [];
    const invoked: string[] = [];
    const { status, stdout } = await replay('events', {
      ListObjectsV2: ({ ContinuationToken: token }) =>
        token ? { Contents: [{ Key: 'a' }] } : { Contents: [{ Key: 'b' }], NextContinuationToken: 'next' },
      GetObject: () => ({ Body: { transformToString: async () => object } }),
      Invoke({ FunctionName, Payload }) {
        invoked.push(`${FunctionName} ${Payload}`);
        return { Payload: Buffer.from(JSON.stringify(response)) };
      },
      DeleteObject: ({ Key }) => void removed.push(Key),
    });
    expect(removed).toEqual(expected);
    expect([status, stdout]).toEqual([expected.length === 0 ? 1 : 0, `Replayed ${expected.length} objects.\n`]);
    const event = JSON.stringify({ Records: [{ eventID: 'e1' }], isReplay: true });
    expect(invoked).toEqual([`FanOutFunction ${event}`, `FanOutFunction ${event}`]);
  });

  it.each([
    'text',
    '{}',
    '{"payload":"text"}',
    '{"payload":"{}"}',
    '{"payload":{"Records":[]}}',
  ])('rejects the object %s, which has no batch', (text) => {
    expect(() => batchIn('a/b', text)).toThrow(
      new UserError('a/b contains no failed events, because it has no payload with Records.'),
    );
  });
});

describe('replay schedules', () => {
  const queue = (bodies: string[]) => ({
    ReceiveMessage: () => ({
      Messages: bodies.splice(0).map((Body, i) => ({ MessageId: `id-${i}`, Body, ReceiptHandle: `handle-${i}` })),
    }),
  });
  const input = (MessageBody: string) => JSON.stringify({ QueueUrl: 'quick', MessageBody, MessageGroupId: 'whk_1' });

  it('deletes a message only after it was sent', async () => {
    const calls: unknown[] = [];
    const { status, stderr } = await replay('schedules', {
      ...queue([input('1'), input('2')]),
      DeleteMessage: ({ QueueUrl, ReceiptHandle }) => void calls.push([QueueUrl, ReceiptHandle]),
      SendMessage(message) {
        calls.push(message);
        if (message.MessageBody === '2') throw Object.assign(new Error('Try later'), { name: 'Busy', $metadata: {} });
      },
    });
    expect([status, stderr]).toEqual([1, 'AWS rejected the call (Busy): Try later.\n']);
    expect(calls).toEqual([JSON.parse(input('1')), ['FailedSchedulesQueue', 'handle-0'], JSON.parse(input('2'))]);
  });

  it.each(['text', '{}', '{"QueueUrl":"quick"}'])('leaves the message %s in the queue', async (body) => {
    const { status, stderr } = await replay('schedules', queue([body]));
    expect([status, stderr]).toEqual([1, 'The message id-0 of the queue is no input of SendMessage.\n']);
  });
});
