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
    ['the longest delay', { DelaySeconds: 900 }],
    ['the largest message', { MessageBody: 'a'.repeat(MIB) }],
    ['the longest group', { MessageGroupId: '_'.repeat(128) }],
    ['white space', { MessageBody: ' \t\n\r' }],
    ['the last control character', { MessageBody: '\u007f' }],
    ['the characters next to surrogates', { MessageBody: '\ud7ff\ue000\ufffd' }],
    ['characters outside the basic plane', { MessageBody: '\u{10000}\u{1ffff}\u{10ffff}' }],
  ])('accepts %s', async (_name, input) => {
    expect(await errorOf(createService().call('SendMessage', { MessageBody: 'a', ...input }))).toBe('none');
  });

  it.each([
    ['a longer delay', { DelaySeconds: 901 }],
    ['a delay before now', { DelaySeconds: -1 }],
    ['a larger message', { MessageBody: 'a'.repeat(MIB + 1) }],
    ['no message', { MessageBody: '' }],
    ['a longer group', { MessageGroupId: '_'.repeat(129) }],
    ['a group with a space', { MessageGroupId: 'a b' }],
  ])('rejects %s, also in a batch whose other entries it sends', async (_name, input) => {
    const { queue, call } = createService();
    const code = 'InvalidParameterValue';
    expect(await errorOf(call('SendMessage', { MessageBody: 'a', ...input }))).toBe(code);
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    if (JSON.stringify(input).length > MIB) return; // it is too long for a batch
    expect(await call('SendMessageBatch', { Entries: [entry('good'), entry('bad', input)] })).toMatchObject({
      Successful: [{ Id: 'good' }],
      Failed: [{ Id: 'bad', Code: code, SenderFault: true }],
    });
    expect(queue.counts().visible).toBe(1);
  });

  it.each([
    ...'\u0000\u000b\u001f\ufffe\uffff',
    '\ud800',
    '\udfff',
  ])('rejects a message with %j', async (MessageBody) => {
    expect(await errorOf(createService().call('SendMessage', { MessageBody }))).toBe('InvalidMessageContents');
    const { Failed, Successful } = await createService().call('SendMessageBatch', {
      Entries: [entry('a'), entry('b', { MessageBody })],
    });
    expect(Successful).toMatchObject([{ Id: 'a' }]);
    expect(Failed).toMatchObject([{ Id: 'b', Code: 'InvalidMessageContents', SenderFault: true }]);
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
});
