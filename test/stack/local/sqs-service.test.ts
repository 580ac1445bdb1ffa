import { describe, expect, it } from 'vitest';
import type { ServiceError } from '../../../infra/local/services/endpoints.ts';
import { LocalIam } from '../../../infra/local/services/iam.ts';
import { sqsService } from '../../../infra/local/services/sqs-service.ts';
import { readTemplate } from './gateway.ts';
import { createQueue } from './queues.ts';

const MIB = 1_048_576;

function createService() {
  const queue = createQueue();
  const iam = new LocalIam(readTemplate());
  iam.isPermissive = true;
  const service = sqsService(new Map([['queue', queue]]), iam);
  const call = async (action: string, input: object) => {
    const body = JSON.stringify({ QueueUrl: 'queue', ...input });
    const response = await service({ method: 'POST', path: '/', action, headers: {}, body, principal: 'role' });
    return JSON.parse(String(response.body));
  };
  return { queue, call };
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
