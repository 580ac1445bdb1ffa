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
});
