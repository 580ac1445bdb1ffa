import { describe, expect, it } from 'vitest';
import { createQueue } from './queues.ts';

describe('a queue', () => {
  it('returns messages of several groups in one poll', () => {
    const queue = createQueue();
    for (const group of ['a', 'b', undefined]) queue.send(`${group}`, { group });
    expect(queue.receive(10).map(({ body }) => body)).toEqual(['a', 'b', 'undefined']);
  });

  it('makes a failed message visible again with a new receipt', async () => {
    const queue = createQueue();
    queue.send('a');
    const [first] = queue.receive(1);
    queue.fail(first?.receiptHandle ?? '');
    await queue.untilVisible();
    const [second] = queue.receive(1);
    expect(second).toMatchObject({ body: 'a', receiveCount: 2 });
    expect(second?.receiptHandle).not.toBe(first?.receiptHandle);
  });

  it('moves a message to the dead letters after too many receives', async () => {
    const deadLetters = createQueue();
    const queue = createQueue({ deadLetters: { queue: () => deadLetters, maxReceiveCount: 2 } });
    queue.send('a', { group: 'g' });
    for (let i = 0; i < 2; i++) {
      await queue.untilVisible();
      queue.fail(queue.receive(1)[0]?.receiptHandle ?? '');
    }
    await queue.untilVisible();
    expect(queue.receive(1)).toEqual([]);
    expect(deadLetters.receive(1)).toMatchObject([{ body: 'a', group: 'g' }]);
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
  });

  it('removes all state of deleted messages', () => {
    const queue = createQueue();
    for (let i = 0; i < 1000; i++) {
      queue.send('a', { group: `group${i}` });
      for (const { receiptHandle } of queue.receive(10)) queue.delete(receiptHandle);
    }
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    expect(queue.groupCount).toBe(0);
  });

  it('contains the waiting, in-flight and delayed messages of the queue that it replaces', async () => {
    const kept = new Map();
    const ended = createQueue({ kept });
    const other = createQueue({ kept, name: 'other' });
    for (const body of ['deleted', 'in flight', 'waiting']) ended.send(body, { group: body });
    ended.send('delayed', { delaySeconds: 0.2 });
    ended.send('far', { delaySeconds: 900 });
    other.send('elsewhere');
    ended.delete(ended.receive(1)[0]?.receiptHandle ?? '');
    const [inFlight] = ended.receive(1);
    ended.stop();
    const queue = createQueue({ kept });
    expect(queue.counts()).toEqual({ visible: 2, inFlight: 0, delayed: 2 });
    const received = queue.receive(10);
    expect(received.map(({ body, group }) => [body, group])).toEqual([
      ['in flight', 'in flight'],
      ['waiting', 'waiting'],
    ]);
    expect(received[0]).toMatchObject({ messageId: inFlight?.messageId, sentAt: inFlight?.sentAt });
    await queue.untilVisible();
    expect(queue.receive(10)).toMatchObject([{ body: 'delayed' }]);
  });

  it('stores a message once when it moves to the dead letters', async () => {
    const kept = new Map();
    const deadLetters = createQueue({ kept, name: 'dead' });
    const queue = createQueue({ kept, deadLetters: { queue: () => deadLetters, maxReceiveCount: 0 } });
    queue.send('a');
    queue.receive(1);
    expect([...kept.values()]).toMatchObject([{ queue: 'dead', body: 'a' }]);
  });
});
