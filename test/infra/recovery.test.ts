import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ConditionalCheckFailedException,
  ContinuousBackupsUnavailableException,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { QueueDoesNotExist } from '@aws-sdk/client-sqs';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { ops } from '../../infra/commands/ops.ts';
import { itemKey } from '../../lib/aws/items.ts';
import { LAYOUT_KEY, TIME_TO_LIVE } from '../../lib/deployment.ts';
import { temporaryDirectory } from '../support/after-file.ts';
import { type Performers, ran } from '../support/shell.ts';
import { synth } from './synth.ts';

const deploymentFile = join(temporaryDirectory(), 'deployment.json');

const SPACE = { projectId: 'prj_1', environment: 'live' } as const;
const OTHER = { projectId: 'prj_2', environment: 'sandbox' } as const;
const ARGUMENTS = ['restore', '--stack', 'Service', '--at', '2026-01-31T12:00:00Z'];
const TABLE = 'documents-restored-20260131120000';
/** A table that was restored to another time. */
const ANOTHER = 'documents-restored-20260131115959';
const ARN = 'arn:aws:dynamodb:eu-central-1:123456789012:table';
const { Outputs } = synth({}).toJSON();
/** A stack that uses a table. */
const using = (TableName: string) => {
  const values: Record<string, string> = { TableName };
  const outputs = Object.keys(Outputs).map((OutputKey) => ({
    OutputKey,
    OutputValue: values[OutputKey] ?? `output ${OutputKey}`,
  }));
  return { DescribeStacks: () => ({ Stacks: [{ Outputs: outputs }] }) };
};
const streamOf = (table: string) => `${ARN}/${table}/stream/2026-01-31T13:00:00.000`;
/** A stack whose restored table needs nothing more than its name. */
const performers = {
  ...using('documents'),
  DescribeTable: ({ TableName }: { TableName: string }) => ({
    Table: {
      TableArn: `${ARN}/${TableName}`,
      TableStatus: 'ACTIVE',
      StreamSpecification: { StreamEnabled: true },
      DeletionProtectionEnabled: true,
      LatestStreamArn: streamOf(TableName),
    },
  }),
  UpdateTimeToLive: () => {},
  UpdateContinuousBackups: () => {},
  GetItem: () => ({}),
  UpdateItem: () => {},
  ListTagsOfResource: () => ({ Tags: [{ Key: 'aws:cloudformation:stack-name', Value: 'Service' }] }),
};
const restore = (more: Performers = {}, ...args: string[]) =>
  ran(ops, [...ARGUMENTS, ...args], { ...performers, ...more }, { deploymentFile });
const table = { name: TABLE, streamArn: streamOf(TABLE) };

it.each([
  ['documents', 'DocumentSyncService', {}], // the default name
  [ANOTHER, 'Service', { stackName: 'Service' }],
])('writes the restored table of %s to the settings of the stack %s', async (source, stack, named) => {
  const settings = { ...named, senderEmail: 'notifications@acme.example' };
  writeFileSync(deploymentFile, JSON.stringify(settings));
  expect(await restore(using(source), '--stack', stack, '--at', '2026-01-31T13:00+01:00')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(
      `deployment.json now names the table. Deploy it:\n\n  "table": ${JSON.stringify(table)}\n\n  npx cdk deploy --parameters ConfirmTable=${TABLE}\n`,
    ),
  });
  expect(JSON.parse(readFileSync(deploymentFile, 'utf8'))).toEqual({ ...settings, table });
});

it('keeps the settings that change during the restore', async () => {
  const write = (settings: object) =>
    writeFileSync(deploymentFile, JSON.stringify({ stackName: 'Service', ...settings }));
  const UpdateContinuousBackups = () => write({ senderEmail: 'b@acme.example', logRetentionDays: 7 });
  write({ senderEmail: 'a@acme.example' });
  expect((await restore({ UpdateContinuousBackups })).status).toBe(0);
  const kept = { senderEmail: 'b@acme.example', logRetentionDays: 7, table };
  expect(JSON.parse(readFileSync(deploymentFile, 'utf8'))).toMatchObject(kept);
});

it('sets what a restore does not set, each time when the new table is active, although its description is late', async () => {
  let state = 'CREATING';
  const calls: object[] = [];
  const call = (input: object) => {
    expect(state).toBe('ACTIVE');
    calls.push(input);
  };
  const operations: Performers = {
    ...performers,
    DescribeTable({ TableName: name }) {
      if (name === TABLE && state === 'CREATING') throw new ResourceNotFoundException({ message: '', $metadata: {} });
      return {
        Table: {
          TableArn: `${ARN}/${name}`,
          TableStatus: 'ACTIVE',
          LatestStreamArn: streamOf(name),
          StreamSpecification: { StreamEnabled: name !== TABLE },
          DeletionProtectionEnabled: name !== TABLE,
        },
      };
    },
    RestoreTableToPointInTime: () => ({}),
    UpdateTable(input) {
      call(input);
      state = 'UPDATING';
    },
    UpdateTimeToLive: call,
    UpdateContinuousBackups: call,
    ListTagsOfResource: ({ ResourceArn, NextToken }) =>
      NextToken ? { Tags: [{ Key: 'of', Value: ResourceArn }] } : { Tags: [{ Key: 'aws:of' }], NextToken: 'next' },
    TagResource: call,
  };
  const states = ['CREATING', 'CREATING', 'ACTIVE'];
  const wait = async (ms: number) => {
    expect(ms).toBe(15_000);
    state = states.shift() ?? 'ACTIVE';
  };
  const { status, stderr } = await ran(ops, ARGUMENTS, operations, { deploymentFile, wait });
  const expected = `DynamoDB restores the table as ${TABLE}, which can take an hour. If you stop, repeat the command.\n`;
  expect([status, stderr]).toEqual([0, expected]);
  expect(calls).toEqual([
    { TableName: TABLE, StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } },
    { TableName: TABLE, DeletionProtectionEnabled: true },
    { TableName: TABLE, TimeToLiveSpecification: { AttributeName: TIME_TO_LIVE, Enabled: true } },
    { TableName: TABLE, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
    { ResourceArn: `${ARN}/${TABLE}`, Tags: [{ Key: 'of', Value: `${ARN}/documents` }] },
  ]);
});

it('ends when the new table is missing for more than five minutes', async () => {
  const operations: Performers = {
    ...performers,
    RestoreTableToPointInTime: () => ({}),
    DescribeTable(input) {
      if (input.TableName === TABLE) throw new ResourceNotFoundException({ message: '', $metadata: {} });
      return performers.DescribeTable(input);
    },
  };
  let waitedMs = 0;
  const wait = async (ms: number) => {
    waitedMs += ms;
  };
  const { status, stderr } = await ran(ops, ARGUMENTS, operations, { deploymentFile, wait });
  expect([status, stderr, waitedMs]).toEqual([1, expect.stringContaining('ResourceNotFoundException'), 315_000]);
});

it.each([
  [0, 20],
  [1, 21],
])('ends with %i when the new table has backups after %i minutes', async (expected, minutes) => {
  let waitedMs = 0;
  const wait = async (ms: number) => {
    waitedMs += ms;
  };
  const operations: Performers = {
    ...performers,
    UpdateContinuousBackups() {
      if (waitedMs < minutes * 60_000)
        throw new ContinuousBackupsUnavailableException({ message: 'Backups are being enabled', $metadata: {} });
    },
  };
  const { status, stderr } = await ran(ops, ARGUMENTS, operations, { deploymentFile, wait });
  const reason = 'AWS rejected the call (ContinuousBackupsUnavailableException): Backups are being enabled.\n';
  expect([status, stderr, waitedMs]).toEqual([expected, expected === 0 ? '' : reason, 20 * 60_000]);
});

it.each([
  ['another stack', JSON.stringify({ stackName: 'Other', senderEmail: 'notifications@acme.example' })],
  ['no stack', undefined],
])('prints the table when deployment.json has the settings of %s', async (_, text) => {
  if (text === undefined) rmSync(deploymentFile);
  else writeFileSync(deploymentFile, text);
  expect((await restore()).stdout).toContain(
    `Add the table to the settings of the stack, and deploy it:\n\n  "table": ${JSON.stringify(table)}\n`,
  );
  if (text !== undefined) expect(readFileSync(deploymentFile, 'utf8')).toBe(text);
});

it.each([
  ['one above that of the table that it replaces', { documents: 50_000, [TABLE]: 49_999 }, 50_001],
  ['the one that an earlier run set', { documents: 50_000, [TABLE]: 50_001 }, undefined],
])('gives the restored table %s as epoch', async (_, epochs: Record<string, number>, expected) => {
  const set: unknown[] = [];
  const operations: Performers = {
    GetItem: ({ TableName, Key }) => {
      expect(unmarshall(Key)).toEqual(LAYOUT_KEY);
      return { Item: marshall({ layout: 1, epoch: epochs[TableName] }) };
    },
    UpdateItem: ({ TableName, ExpressionAttributeValues: values }) => void set.push([TableName, unmarshall(values)]),
  };
  expect((await restore(operations)).status).toBe(0);
  expect(set).toEqual(expected === undefined ? [] : [[TABLE, { ':epoch': expected }]]);
});

it('leaves the epoch of a table that the service already uses', async () => {
  const operations = { ...using(TABLE), UpdateItem: () => expect.fail('The epoch was raised') };
  expect((await restore(operations)).status).toBe(0);
});

it('restores nothing while deployment.json is invalid, because a restore takes an hour', async () => {
  writeFileSync(deploymentFile, '{}');
  const operations = { DescribeTable: () => expect.fail('The restore has started') };
  const stderr = 'Correct deployment.json:\n  senderEmail is missing\n';
  expect(await restore(operations)).toEqual({ status: 1, stdout: '', stderr });
});

it.each(['documents', ANOTHER])('resumes nothing while the stack uses the table %s', async (name) => {
  const stderr = `The stack uses the table ${name}. Deploy it with the restored table first.\n`;
  expect(await restore(using(name), '--resume')).toEqual({ status: 1, stdout: '', stderr });
});

it('queues the work that waited, also of a delivery that has changed since', async () => {
  const delivery = (webhookId: string, eventId: string, run: number, attempt: number, ...triggers: string[]) => ({
    ...itemKey.delivery(webhookId, eventId),
    status: attempt === 0 ? 'pending' : 'retrying',
    run,
    attempt,
    attempts: triggers.map((trigger) => ({ trigger })),
  });
  const event = itemKey.event(OTHER, 'evt_4');
  const items = [
    itemKey.webhook(SPACE, 'whk_1'), // on the last page
    { ...delivery('whk_1', 'evt_1', 3, 2, 'redelivery', 'recovery'), recovery: 'rec_1' },
    { ...itemKey.recovery('whk_1'), id: 'rec_1', page: 3 },
    { ...itemKey.recovery('whk_gone'), id: 'rec_2', page: 0 },
    ...Array(11).fill({ ...itemKey.connection(OTHER, 'con_1'), id: 'con_1', ...OTHER }),
    { ...itemKey.engine(OTHER, 'engine-1'), id: 'engine-1', session: 's', ...OTHER },
    delivery('whk_2', 'evt_2', 1, 0, 'schedule', 'redelivery'),
    delivery('whk_2', 'evt_3', 0, 4),
    itemKey.webhook(OTHER, 'whk_2'),
    { ...delivery('whk_1', 'evt_3', 0, 1), test: true },
    delivery('whk_gone', 'evt_1', 0, 1),
    event,
  ].map((item) => marshall(item));
  const since = Date.parse('2026-01-31T11:30:00Z');
  const sent: object[] = [];
  const updated: object[] = [];
  const operations: Performers = {
    ...using(TABLE),
    Scan({ ExclusiveStartKey: after, ExpressionAttributeValues: values, ...input }) {
      const FilterExpression = expect.stringMatching(
        /#status IN \(:pending, :retrying\)\)\s+OR .* attribute_not_exists\(endedAt\)/,
      );
      expect(input).toMatchObject({ TableName: TABLE, ConsistentRead: true, FilterExpression });
      expect(unmarshall(values)).toMatchObject({ ':since': since, ':pending': 'pending', ':retrying': 'retrying' });
      return after ? { Items: items.slice(0, 1) } : { Items: items.slice(1), LastEvaluatedKey: {} };
    },
    Invoke({ FunctionName, Payload }) {
      sent.push([FunctionName, JSON.parse(Payload).Records[0].dynamodb.NewImage]);
      return { Payload: Buffer.from('{"batchItemFailures":[]}') };
    },
    UpdateItem({ TableName, Key, ConditionExpression, ExpressionAttributeValues }) {
      expect(ConditionExpression).toBe('#run = :run AND #attempt = :attempt AND #status = :retrying');
      const { ':run': run, ':attempt': attempt } = unmarshall(ExpressionAttributeValues);
      updated.push([TableName, unmarshall(Key), run, attempt]);
      throw new ConditionalCheckFailedException({ message: 'changed', $metadata: {} });
    },
    SendMessageBatch({ QueueUrl, Entries }) {
      expect(Entries.length).toBeLessThanOrEqual(10);
      expect(new Set(Entries.map(({ Id }: { Id: string }) => Id)).size).toBe(Entries.length);
      // A function that receives a retry expects its mark.
      if (QueueUrl === 'output DeliveriesQueue') expect(updated.length).toBeGreaterThan(0);
      for (const { MessageBody, MessageGroupId: group } of Entries)
        sent.push([QueueUrl, group, JSON.parse(MessageBody)]);
      return {};
    },
  };
  const stdout = 'Queued 3 deliveries in progress, 1 recoveries, 1 events and 12 checks of connections.\n';
  const resume = ['--resume', '--events', '30'];
  expect(await restore(operations, ...resume)).toEqual({ status: 0, stdout, stderr: '' });
  expect(updated).toEqual([
    [TABLE, itemKey.delivery('whk_1', 'evt_1'), 3, 2],
    [TABLE, itemKey.delivery('whk_2', 'evt_3'), 0, 4],
  ]);
  const queue = 'output DeliveriesQueue';
  expect(sent).toEqual([
    ...Array(11).fill(['output ChecksQueue', undefined, { connectionId: 'con_1', ...OTHER }]),
    ['output ChecksQueue', undefined, { engineId: 'engine-1', session: 's', ...OTHER }],
    ['output FanOutFunction', marshall(event)],
    [
      queue,
      'prj_1#live',
      { webhookId: 'whk_1', ...SPACE, eventId: 'evt_1', run: 3, attempt: 2, trigger: 'recovery', recovery: 'rec_1' },
    ],
    [
      queue,
      'prj_2#sandbox',
      { webhookId: 'whk_2', ...OTHER, eventId: 'evt_2', run: 1, attempt: 1, trigger: 'redelivery' },
    ],
    [
      queue,
      'prj_2#sandbox',
      { webhookId: 'whk_2', ...OTHER, eventId: 'evt_3', run: 0, attempt: 4, trigger: 'schedule' },
    ],
    [queue, 'prj_1#live', { recover: { webhookId: 'whk_1', ...SPACE, recoveryId: 'rec_1', page: 3 } }],
  ]);

  const complete = sent.splice(0);
  const Invoke: Performers[string] = (input) => {
    operations.Invoke?.(input, undefined);
    return { Payload: '{"batchItemFailures":[{"itemIdentifier":"0"}]}' };
  };
  expect(await restore({ ...operations, Invoke }, ...resume)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('1 of the events'),
  });
  expect(sent).toEqual(complete);

  const rejected = await restore({ ...operations, SendMessageBatch: () => ({ Failed: [{ Id: '0' }] }) }, ...resume);
  const stderr = 'SQS did not accept all messages. Repeat the command. [{"Id":"0"}]\n';
  expect(rejected).toEqual({ status: 1, stdout: '', stderr });

  const Scan: Performers[string] = ({ ExpressionAttributeValues: values }) => {
    expect(unmarshall(values)[':since']).toBe(Date.parse('2026-01-31T11:00:00Z'));
    return {};
  };
  expect((await restore({ ...operations, Scan }, '--resume')).status).toBe(0);
});

it.each([
  ['all events', { Payload: '{"batchItemFailures":[]}' }, 0, ''],
  ['not all events', { Payload: '{"batchItemFailures":[{"itemIdentifier":"1"}]}' }, 3, ''],
  [
    'no events',
    { FunctionError: 'Unhandled', Payload: '{"errorMessage":"No"}' },
    1002,
    'output FanOutFunction failed: No\n'.repeat(3),
  ],
])('replays stored events in batches of 1,000, when the function handles %s', async (_, response, left, reasons) => {
  const batches: number[] = [];
  const { status, stdout, stderr } = await ran(ops, ['replay', 'since', '2026-01-31T12:00:00Z', '--stack', 'Service'], {
    ...performers,
    Scan({ ExclusiveStartKey: after, ExpressionAttributeValues: values }) {
      expect(unmarshall(values)).toEqual({ ':event': 'EVENT#', ':since': Date.parse('2026-01-31T12:00:00Z') });
      const Items = Array(after ? 1 : 1001).fill(marshall(itemKey.event(SPACE, 'evt_1')));
      return { Items, ...(!after && { LastEvaluatedKey: {} }) };
    },
    Invoke({ FunctionName, Payload }) {
      const { Records, isReplay } = JSON.parse(Payload);
      expect([FunctionName, isReplay, Records[0].eventName]).toEqual(['output FanOutFunction', true, 'INSERT']);
      expect(unmarshall(Records[0].dynamodb.Keys)).toEqual(itemKey.event(SPACE, 'evt_1'));
      batches.push(Records.length);
      return response;
    },
  });
  const end = `output FanOutFunction did not handle ${left} of the events. See its log, and repeat the command.\n`;
  const printed = left === 0 ? [0, 'Replayed 1002 events.\n', ''] : [1, '', reasons + end];
  expect([status, stdout, stderr]).toEqual(printed);
  expect(batches).toEqual([1000, 1, 1]);
});

it('replays stored events of any size', async () => {
  const item = marshall({ ...itemKey.event(SPACE, 'evt_1'), json: 'a'.repeat(250_000) });
  const replayed = { pages: 0, events: 0 };
  const { stdout } = await ran(ops, ['replay', 'since', '2026-01-31T12:00:00Z', '--stack', 'Service'], {
    ...performers,
    Scan: () => ({ Items: Array(4).fill(item), ...(++replayed.pages < 8 && { LastEvaluatedKey: {} }) }),
    Invoke({ Payload }) {
      replayed.events += JSON.parse(Payload).Records.length;
      return { Payload: '{"batchItemFailures":[]}' };
    },
  });
  expect([replayed, stdout]).toEqual([{ pages: 8, events: 32 }, 'Replayed 32 events.\n']);
});

const replay = (kind: string, performers: Performers) =>
  ran(ops, ['replay', kind, '--stack', 'Service'], { ...using('documents'), ...performers });

describe('replay events', () => {
  it.each([
    ['succeeds', { Payload: '{"batchItemFailures":[]}' }, ['aws/lambda/a', 'set-aside/b']],
    ['reports a failed event', { Payload: '{"batchItemFailures":[{"itemIdentifier":"1"}]}' }, ['set-aside/b']],
    ['returns nothing', { Payload: 'null' }, ['set-aside/b']],
    ['fails', { FunctionError: 'Unhandled', Payload: '{"errorMessage":"\u009b2J"}' }, ['set-aside/b']],
  ])('deletes an object of any page only when the function %s', async (name, result, expected) => {
    const removed: string[] = [];
    const invoked: string[] = [];
    const { status, stdout, stderr } = await replay('events', {
      ListObjectsV2: ({ ContinuationToken: token, Prefix = '' }) => ({
        Contents: [{ Key: token ? 'aws/lambda/a' : 'set-aside/b' }].filter(({ Key }) => Key.startsWith(Prefix)),
        ...(!token && { NextContinuationToken: 'next' }),
      }),
      GetObject: ({ Key }) => ({
        Body: { transformToString: async () => JSON.stringify({ payload: JSON.stringify({ Records: [Key] }) }) },
      }),
      Invoke({ FunctionName, Payload }) {
        const isFirst = invoked.push(`${FunctionName} ${Payload}`) === 1;
        return isFirst ? result : { Payload: '{"batchItemFailures":[]}' };
      },
      DeleteObject: ({ Key }) => void removed.push(Key),
    });
    expect(removed).toEqual(expected);
    const reason = name === 'fails' ? 'output FanOutFunction failed: \\u009b2J' : 'See the log of the function.';
    const left = expected.length === 2 ? '' : `Not replayed: aws/lambda/a. ${reason}\n`;
    expect([status, stdout, stderr]).toEqual([left ? 1 : 0, `Replayed ${expected.length} objects.\n`, left]);
    const event = (key: string) => `output FanOutFunction ${JSON.stringify({ Records: [key], isReplay: true })}`;
    expect(invoked).toEqual([event('aws/lambda/a'), event('set-aside/b')]);
  });

  it.each([
    'text',
    '{}',
    '{"payload":"text"}',
    '{"payload":"{}"}',
    '{"payload":{"Records":[]}}',
  ])('keeps the object %s, which has no batch', async (text) => {
    const { status, stderr } = await replay('events', {
      ListObjectsV2: () => ({ Contents: [{ Key: 'a/b' }] }),
      GetObject: () => ({ Body: { transformToString: async () => text } }),
    });
    const reason = 'a/b contains no failed events, because it has no payload with Records.';
    expect([status, stderr]).toEqual([1, `Not replayed: a/b. ${reason}\n`]);
  });
});

/**
 * A queue that hides each received message for 185 seconds, also those of an earlier run. An empty long poll takes its whole time. A short
 * poll asks only some servers of SQS, so it can find nothing (SQS Developer Guide).
 */
function queueOf(bodies: string[], hiddenBefore = 0): Performers {
  let now = 0;
  let messages = bodies.map((Body, i) => {
    const visibleAt = i < bodies.length - hiddenBefore ? 0 : 100;
    return { MessageId: `id-${i}`, Body, ReceiptHandle: `handle-${i}`, visibleAt };
  });
  return {
    ReceiveMessage({ WaitTimeSeconds = 0 }) {
      const found = messages.filter(({ visibleAt }) => WaitTimeSeconds > 0 && visibleAt <= now).slice(0, 2);
      if (found.length === 0) now += WaitTimeSeconds;
      for (const message of found) message.visibleAt = now + 185;
      return found.length > 0 ? { Messages: found } : {};
    },
    GetQueueAttributes({ AttributeNames: names }) {
      const { true: visible = [], false: hidden = [] } = Object.groupBy(
        messages,
        ({ visibleAt }) => `${visibleAt <= now}`,
      );
      const counts = { ApproximateNumberOfMessages: visible, ApproximateNumberOfMessagesNotVisible: hidden };
      const shown = Object.entries(counts).filter(([name]) => names.includes(name));
      return { Attributes: Object.fromEntries(shown.map(([name, { length }]) => [name, String(length)])) };
    },
    DeleteMessage({ ReceiptHandle: handle }) {
      messages = messages.filter(({ ReceiptHandle }) => ReceiptHandle !== handle);
    },
  };
}

describe('replay schedules', () => {
  const input = (MessageBody: string) => JSON.stringify({ QueueUrl: 'quick', MessageBody, MessageGroupId: 'whk_1' });

  it('sends the messages of all responses unchanged and deletes them, also those that an earlier run received', async () => {
    const calls: unknown[] = [];
    const queue = queueOf(['1', '2', '3', '4'].map(input), 1);
    let counts = 0;
    const GetQueueAttributes: Performers[string] = (call) =>
      counts++ === 0 ? { Attributes: {} } : queue.GetQueueAttributes?.(call, undefined); // the first count is old
    const SendMessage = (call: object) => void calls.push(call);
    const DeleteMessage = (call: object) => void calls.push(call, queue.DeleteMessage?.(call, undefined));
    expect(await replay('schedules', { ...queue, GetQueueAttributes, SendMessage, DeleteMessage })).toEqual({
      status: 0,
      stdout: 'Sent 4 messages.\n',
      stderr: 'Waiting up to 3 minutes for hidden messages: 1.\n',
    });
    const deleted = (i: number) => ({ QueueUrl: 'output FailedSchedulesQueue', ReceiptHandle: `handle-${i}` });
    expect(calls.filter(Boolean)).toEqual(
      ['1', '2', '3', '4'].flatMap((body, i) => [JSON.parse(input(body)), deleted(i)]),
    );
  });

  it.each([
    'text',
    '{}',
    '{"QueueUrl":"quick"}',
    '{"QueueUrl":"quick","MessageBody":""}',
    '{"QueueUrl":"gone","MessageBody":"0"}',
  ])('leaves the message %s in the queue, and sends the others', async (body) => {
    const { status, stdout, stderr } = await replay('schedules', {
      ...queueOf([body, input('1'), input('2')]),
      SendMessage({ QueueUrl }) {
        if (QueueUrl === 'gone') throw new QueueDoesNotExist({ message: 'No such queue', $metadata: {} });
      },
    });
    const reason = body.includes('gone')
      ? 'AWS rejected the call (QueueDoesNotExist): No such queue.'
      : 'It is no input of SendMessage.';
    expect([status, stdout, stderr]).toEqual([1, 'Sent 2 messages.\n', `Not replayed: id-0. ${reason}\n`]);
  });

  it.each([
    ['no message', []],
    ['an invalid message again and again', [{ MessageId: 'id', Body: 'text' }]],
  ])('ends when SQS counts messages for ever, but returns %s', async (_, Messages) => {
    let polls = 0;
    const { stdout } = await replay('schedules', {
      ReceiveMessage: () => (++polls > 50 ? expect.fail('It polls for ever') : { Messages }),
      GetQueueAttributes: () => ({ Attributes: { ApproximateNumberOfMessages: '2' } }),
    });
    expect([stdout, polls * 5 > 185]).toEqual(['Sent 0 messages.\n', true]);
  });
});

const BUSY = Object.assign(new Error('Try later'), { name: 'Busy', $metadata: {} });

/** A deployment of the template with stored work, and the calls with which commands change it. AWS rejects some of them the second time. */
function startDeployment(table: string) {
  const changes = new Set<string>();
  const isDone = (part: string) => [...changes].some((change) => change.includes(part));
  const delivery = { ...itemKey.delivery('whk_1', 'evt_1'), status: 'retrying', run: 0, attempt: 1, attempts: [] };
  const work = [itemKey.webhook(SPACE, 'whk_1'), delivery, { ...itemKey.connection(SPACE, 'con_1'), id: 'con_1' }];
  const response = { name: 'Acme', state: 'deleted', data: [], webhooks: 0, next: null, batchItemFailures: [] };
  const responses: Performers = {
    ...performers,
    ...using(table),
    DescribeTable(input) {
      if (input.TableName === TABLE && !isDone('RestoreTable'))
        throw new ResourceNotFoundException({ message: 'It does not exist', $metadata: {} });
      const StreamSpecification = { StreamEnabled: isDone('StreamEnabled') };
      const changed = { StreamSpecification, DeletionProtectionEnabled: isDone('DeletionProtection') };
      return { Table: { ...performers.DescribeTable(input).Table, ...changed } };
    },
    ListTagsOfResource: () => ({ Tags: [{ Key: 'of' }] }),
    Scan({ FilterExpression: filter, ExclusiveStartKey: after }) {
      const found = after ? work.filter(() => filter.includes(':hooks')) : [itemKey.event(SPACE, 'evt_1')];
      return { Items: found.map((item) => marshall(item)), ...(!after && { LastEvaluatedKey: {} }) };
    },
    Invoke: () => ({ Payload: JSON.stringify(response) }),
    ListObjectsV2: () => ({ Contents: ['a', 'b'].filter((Key) => !isDone(`"Key":"${Key}"`)).map((Key) => ({ Key })) }),
    GetObject: () => ({ Body: { transformToString: async () => JSON.stringify({ payload: '{"Records":[]}' }) } }),
    ...queueOf(['a', 'b'].map((text) => `{"QueueUrl":"quick","MessageBody":"${text}"}`)),
  };
  /** Runs a command, and fails one of its calls before or after the call has an effect. */
  const run = async (line: string, failing = -1, isLost = false) => {
    let calls = 0;
    const call = (name: string) => (input: object) => {
      const isFailing = calls++ === failing;
      const isRead = /^(Describe|Get|List|Scan)/.test(name);
      if (isFailing && (isRead || !isLost)) throw BUSY;
      const change = `${name} ${JSON.stringify(input)}`;
      if (/^(RestoreTable|UpdateTable|UpdateTimeToLive)/.test(name) && changes.has(change))
        throw new Error('It is already enabled');
      if (!isRead) changes.add(change);
      const response = responses[name]?.(input, undefined) ?? {};
      if (isFailing) throw BUSY;
      return response;
    };
    const performers = new Proxy({}, { get: (_, name) => call(String(name)) });
    return { ...(await ran(ops, line.split(' '), performers)), calls };
  };
  return { changes, run };
}

it.each([
  'restore --at 2026-01-31T12:00:00Z',
  'restore --at 2026-01-31T12:00:00Z --resume',
  'replay events',
  'replay schedules',
  'replay since 2026-01-31T12:00:00Z',
  'projects list',
  'projects create --name Acme --email a@example.com',
  'projects show prj_1',
  'projects delete prj_1 --name Acme',
  'projects enable-webhooks --since 2026-01-31T12:00:00Z',
])('%s ends at each call to AWS that fails, and does the rest when it is repeated', async (command) => {
  const line = `${command} --stack Service`;
  const table = command.endsWith('--resume') ? TABLE : 'documents';
  const { changes, run } = startDeployment(table);
  const { status, calls } = await run(line);
  expect([status, changes.size > 0]).toEqual([0, true]);
  for (let failing = 0; failing < calls; failing++) {
    for (const isLost of [false, true]) {
      const other = startDeployment(table);
      const { status, stderr } = await other.run(line, failing, isLost);
      const lines = stderr.replace(/^DynamoDB restores the table .*\n/, '');
      expect([status, lines]).toEqual([1, 'AWS rejected the call (Busy): Try later.\n']);
      expect((await other.run(line)).status).toBe(0);
      expect(other.changes).toEqual(changes);
    }
  }
});
