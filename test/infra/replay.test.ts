import { describe, expect, it } from 'vitest';
import { ops } from '../../infra/commands/ops.ts';
import { batchIn } from '../../infra/commands/replay.ts';
import { UserError } from '../../infra/user-error.ts';
import { type Performers, ran } from '../support/shell.ts';

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
