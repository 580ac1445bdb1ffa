import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ServiceRequest } from '../../../infra/local/services/endpoints.ts';
import { LocalIam } from '../../../infra/local/services/iam.ts';
import { sqsService } from '../../../infra/local/services/sqs-service.ts';
import { readTemplate } from './gateway.ts';
import { createQueue } from './queues.ts';

afterEach(() => {
  vi.useRealTimers();
});

const MIB = 1_048_576;

function createService() {
  const queue = createQueue();
  const iam = new LocalIam(readTemplate());
  iam.isPermissive = true;
  const service = sqsService(new Map([['queue', queue]]), iam);
  const send = async (Entries: object[]) => {
    const input: Record<string, unknown> = { QueueUrl: 'queue', Entries };
    return JSON.parse(String((await service({ input, principal: 'role' } as ServiceRequest)).body));
  };
  return { queue, send };
}

const entry = (Id: string, more: object = {}) => ({ Id, MessageBody: 'a', ...more });

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
    expect(await createService().send([entry('a', input)])).toMatchObject({ Successful: [{ Id: 'a' }], Failed: [] });
  });

  it.each<[name: string, input: object, code?: string]>([
    ['a longer delay', { DelaySeconds: 901 }],
    ['a delay before now', { DelaySeconds: -1 }],
    ['no message', { MessageBody: '' }],
    ['a longer group', { MessageGroupId: '_'.repeat(129) }],
    ['a group with a space', { MessageGroupId: 'a b' }],
    ...[...'\u0000\u000b\u001f\ufffe\uffff', '\ud800', '\udfff'].map((MessageBody): [string, object, string] => [
      JSON.stringify(MessageBody),
      { MessageBody },
      'InvalidMessageContents',
    ]),
  ])('rejects %s, and sends the other entries of the batch', async (_name, input, Code = 'InvalidParameterValue') => {
    const { queue, send } = createService();
    expect(await send([entry('good', { MessageGroupId: 'g' }), entry('bad', input)])).toMatchObject({
      Successful: [{ Id: 'good' }],
      Failed: [{ Id: 'bad', Code, SenderFault: true }],
    });
    expect(queue.receive(2)).toMatchObject([{ body: 'a', group: 'g' }]);
  });

  it.each([
    ['none', [], 'EmptyBatchRequest'],
    ['eleven', Array.from({ length: 11 }, (_, i) => entry(`${i}`)), 'TooManyEntriesInBatchRequest'],
    ['an id with a space', [entry('a b')], 'InvalidBatchEntryId'],
    ['an id of 81 characters', [entry('a'.repeat(81))], 'InvalidBatchEntryId'],
    ['two of one id', [entry('a'), entry('a')], 'BatchEntryIdsNotDistinct'],
    ['too much in all', [entry('a', { MessageBody: 'a'.repeat(MIB) }), entry('b')], 'BatchRequestTooLong'],
  ])('rejects a batch of %s', async (_name, Entries, code) => {
    await expect(createService().send(Entries)).rejects.toMatchObject({ code });
  });
});

describe('a fair queue', () => {
  function createGroups() {
    const queue = createQueue();
    const send = (group: string | undefined, count = 1) => {
      for (let i = 0; i < count; i++) queue.send(`${group}${i}`, { group });
    };
    const bodies = (count: number) => queue.receive(count).map(({ body }) => body);
    return { queue, send, bodies };
  }

  it('returns messages of quiet groups first, the oldest one first', () => {
    const { send, bodies } = createGroups();
    send('noisy', 3);
    expect(bodies(1)).toEqual(['noisy0']); // all of the messages in flight
    send('quiet', 1);
    send('other', 1);
    expect(bodies(4)).toEqual(['quiet0', 'other0', 'noisy1', 'noisy2']);
  });

  it('returns messages of the noisy group with the fewest messages in flight first', () => {
    const { send, bodies } = createGroups();
    send('a', 6);
    send('b', 6);
    expect(bodies(6).sort()).toEqual(['a0', 'a1', 'a2', 'b0', 'b1', 'b2']);
    send('c', 3);
    expect(bodies(3)).toEqual(['c0', 'c1', 'c2']); // the last two have fewer in flight than a and b
  });

  it('does not prefer a group to many groups that together have many messages in flight', () => {
    const { send, bodies } = createGroups();
    for (let i = 0; i < 40; i++) send(`group${i}-`, 2);
    bodies(40);
    send('late');
    expect(bodies(41).at(-1)).toBe('late0');
  });

  it('lets a group continue when its messages have ended', () => {
    const { queue, send, bodies } = createGroups();
    send('a', 3);
    for (const { receiptHandle } of queue.receive(2)) queue.delete(receiptHandle);
    send('b');
    expect(bodies(2)).toEqual(['a2', 'b0']);
  });

  it('never delays messages without a group', () => {
    const { queue, send, bodies } = createGroups();
    send(undefined, 60);
    queue.receive(40);
    send('a');
    expect(bodies(1)).toEqual(['undefined40']);
  });
});

describe('a queue', () => {
  it('moves a message to the dead letters after too many receives', async () => {
    const deadLetters = createQueue();
    const kept = new Map();
    const queue = createQueue({ kept, deadLetters: { queue: () => deadLetters, maxReceiveCount: 2 } });
    queue.send('a', { group: 'g' });
    for (let i = 0; i < 2; i++) {
      await queue.untilVisible();
      queue.fail(queue.receive(1)[0]?.receiptHandle ?? '');
    }
    await queue.untilVisible();
    expect(queue.receive(1)).toEqual([]);
    expect(deadLetters.receive(1)).toMatchObject([{ body: 'a', group: 'g' }]);
    expect([queue.counts(), kept.size]).toEqual([{ visible: 0, inFlight: 0, delayed: 0 }, 0]);
  });

  it('keeps a message until it is deleted or stored in the dead letters', async () => {
    const set = () => {
      throw new Error('The disk is full');
    };
    const deadLetters = createQueue({ kept: Object.assign(new Map(), { set }) });
    const kept = new Map();
    const queue = createQueue({ kept, deadLetters: { queue: () => deadLetters, maxReceiveCount: 1 } });
    queue.send('a');
    queue.send('b');
    const [a, b] = queue.receive(2).map(({ receiptHandle }) => receiptHandle);
    queue.delete(a ?? '');
    expect(kept.size).toBe(1);
    queue.fail(b ?? '');
    await queue.untilVisible();
    expect(() => queue.receive(1)).toThrow('full');
    expect([kept.size, deadLetters.counts().visible]).toEqual([1, 0]);
  });

  it.each([
    ['without a delay', 1e6, 0, 0],
    ['after a delay', 1, 0.1, 100],
    ['after a faster delay', 60, 60, 1000],
    ['not at once after a much faster delay', 1e6, 900, 250],
  ])('shows a message %s', (_, speed, delaySeconds, expectedMs) => {
    vi.useFakeTimers();
    const queue = createQueue({ speed });
    queue.send('a', { delaySeconds });
    vi.advanceTimersByTime(Math.max(0, expectedMs - 1));
    expect(queue.counts().visible).toBe(expectedMs === 0 ? 1 : 0);
    vi.advanceTimersByTime(1);
    expect(queue.counts().visible).toBe(1);
  });

  it.each([
    ['with the rest of its visibility timeout', 1, 160_000],
    ['sooner with faster timeouts', 1000, 160],
  ])('shows a failed message %s', (_, visibilitySpeed, restMs) => {
    vi.useFakeTimers();
    const queue = createQueue({ visibilityTimeoutSeconds: 185, visibilitySpeed });
    queue.send('a');
    const [received] = queue.receive(1);
    vi.advanceTimersByTime(25_000);
    queue.fail(received?.receiptHandle ?? '');
    vi.advanceTimersByTime(restMs - 1);
    expect(queue.counts().visible).toBe(0);
    vi.advanceTimersByTime(1);
    expect(queue.counts().visible).toBe(1);
  });

  it('continues with its own kept messages, and with the rest of their delays', () => {
    const due = { queue: 'queue', body: 'a', group: 'g', sentAt: 0, visibleAt: Date.now() };
    const messages = { due, delayed: { ...due, visibleAt: Date.now() + 900_000 }, other: { ...due, queue: 'other' } };
    const queue = createQueue({ kept: new Map(Object.entries(messages)) });
    expect(queue.receive(3)).toMatchObject([{ messageId: 'due', body: 'a', group: 'g', sentAt: 0 }]);
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 1, delayed: 1 });
  });
});
