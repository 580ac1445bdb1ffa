import { describe, expect, it } from 'vitest';
import type { ServiceError } from '../../../infra/local/services/endpoints.ts';
import { LocalIam } from '../../../infra/local/services/iam.ts';
import { sqsService } from '../../../infra/local/services/sqs-service.ts';
import { readTemplate } from './gateway.ts';
import { createQueue } from './queues.ts';

const MIB = 1_048_576;

function createService() {
  const letters = createQueue({ name: 'letters', arn: 'arn:aws:sqs:::letters' });
  const queue = createQueue({ deadLetters: { queue: () => letters, maxReceiveCount: 1 } });
  const queues = new Map([
    ['queue', queue],
    ['letters', letters],
  ]);
  const iam = new LocalIam(readTemplate());
  iam.isPermissive = true;
  const service = sqsService(queues, iam);
  const call = async (action: string, input: object) => {
    const body = JSON.stringify({ QueueUrl: 'queue', ...input });
    const response = await service({ method: 'POST', path: '/', action, headers: {}, body, principal: 'role' });
    return JSON.parse(String(response.body));
  };
  return { queue, letters, call };
}

const entry = (Id: string, more: object = {}) => ({ Id, MessageBody: 'a', ...more });
const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error) => (error as ServiceError).code,
  );

describe('SQS', () => {
  it.each([
    ['the longest delay', { MessageBody: 'a', DelaySeconds: 900 }],
    ['the largest message', { MessageBody: 'a'.repeat(MIB) }],
    ['the longest group', { MessageBody: 'a', MessageGroupId: '_'.repeat(128) }],
  ])('accepts %s', async (_name, input) => {
    const { queue, call } = createService();
    expect(await errorOf(call('SendMessage', input))).toBe('none');
    queue.stop();
  });

  it.each([
    ['a longer delay', { MessageBody: 'a', DelaySeconds: 901 }],
    ['a delay before now', { MessageBody: 'a', DelaySeconds: -1 }],
    ['a larger message', { MessageBody: 'a'.repeat(MIB + 1) }],
    ['no message', { MessageBody: '' }],
    ['a longer group', { MessageBody: 'a', MessageGroupId: '_'.repeat(129) }],
    ['a group with a space', { MessageBody: 'a', MessageGroupId: 'a b' }],
  ])('rejects %s', async (_name, input) => {
    const { queue, call } = createService();
    expect(await errorOf(call('SendMessage', input))).toBe('InvalidParameterValue');
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
  });

  it.each([
    '\u0000',
    '\u000b',
    '\u001f',
    '\ud800',
    '\udfff',
    '\ufffe',
    '\uffff',
  ])('rejects a message with %j', async (MessageBody) => {
    expect(await errorOf(createService().call('SendMessage', { MessageBody }))).toBe('InvalidMessageContents');
    const { Failed, Successful } = await createService().call('SendMessageBatch', {
      Entries: [entry('a'), entry('b', { MessageBody })],
    });
    expect(Successful).toMatchObject([{ Id: 'a' }]);
    expect(Failed).toMatchObject([{ Id: 'b', Code: 'InvalidMessageContents', SenderFault: true }]);
  });

  it.each([
    '\t\n\r',
    ' ',
    '\u007f',
    '\ud7ff\ue000\ufffd',
    '\u{10000}\u{1ffff}\u{10ffff}',
  ])('accepts a message with %j', async (MessageBody) => {
    const { queue, call } = createService();
    expect(await errorOf(call('SendMessage', { MessageBody }))).toBe('none');
    queue.stop();
  });

  it.each([
    ['none', [], 'EmptyBatchRequest'],
    ['eleven', Array.from({ length: 11 }, (_, i) => entry(`${i}`)), 'TooManyEntriesInBatchRequest'],
    ['an id with a space', [entry('a b')], 'InvalidBatchEntryId'],
    ['an id of 81 characters', [entry('a'.repeat(81))], 'InvalidBatchEntryId'],
    ['two of one id', [entry('a'), entry('a')], 'BatchEntryIdsNotDistinct'],
    ['too much in all', [entry('a', { MessageBody: 'a'.repeat(MIB) }), entry('b')], 'BatchRequestTooLong'],
  ])('rejects a batch of %s', async (_name, Entries, code) => {
    expect(await errorOf(createService().call('SendMessageBatch', { Entries }))).toBe(code);
  });

  it('sends the valid entries of a batch and reports the others', async () => {
    const { queue, call } = createService();
    const Entries = [entry('good'), entry('bad', { DelaySeconds: 1000 })];
    expect(await call('SendMessageBatch', { Entries })).toMatchObject({
      Successful: [{ Id: 'good' }],
      Failed: [{ Id: 'bad', Code: 'InvalidParameterValue', SenderFault: true }],
    });
    expect(queue.counts().visible).toBe(1);
  });
});

describe('StartMessageMoveTask', () => {
  const letters = { SourceArn: 'arn:aws:sqs:::letters' };

  it('moves dead letters to the queues that they came from, as new messages', async () => {
    const { queue, letters: deadLetters, call } = createService();
    const sent = queue.send('a', { group: 'g' });
    queue.giveUp(queue.receive(1)[0]?.receiptHandle ?? '');
    expect(await call('StartMessageMoveTask', letters)).toEqual({ TaskHandle: expect.any(String) });
    expect([queue.counts().visible, deadLetters.counts()]).toEqual([1, { visible: 0, inFlight: 0, delayed: 0 }]);
    const [moved] = queue.receive(1);
    expect(moved).toMatchObject({ body: 'a', group: 'g', receiveCount: 1 });
    expect(moved?.messageId).not.toBe(sent);
    expect((await call('ListMessageMoveTasks', letters)).Results).toMatchObject([
      { Status: 'COMPLETED', ApproximateNumberOfMessagesMoved: 1, ApproximateNumberOfMessagesToMove: 1 },
    ]);
    queue.stop();
  });

  it('moves messages of unknown origin only to a given queue', async () => {
    const { queue, letters: deadLetters, call } = createService();
    deadLetters.send('a');
    await call('StartMessageMoveTask', letters);
    const { Results } = await call('ListMessageMoveTasks', letters);
    expect(Results).toMatchObject([{ Status: 'FAILED', FailureReason: 'CouldNotDetermineMessageSource' }]);
    deadLetters.send('b');
    await call('StartMessageMoveTask', { ...letters, DestinationArn: 'arn:aws:sqs:::queue' });
    expect(queue.receive(1)).toMatchObject([{ body: 'b' }]);
    queue.stop();
    deadLetters.stop();
  });

  it.each([
    ['is no dead-letter queue', 'arn:aws:sqs:::queue', 'InvalidParameterValue'],
    ['does not exist', 'arn:aws:sqs:::missing', 'ResourceNotFoundException'],
  ])('rejects a source that %s', async (_name, SourceArn, code) => {
    expect(await errorOf(createService().call('StartMessageMoveTask', { SourceArn }))).toBe(code);
  });
});
