import { describe, expect, it } from 'vitest';
import { createQueue } from './queues.ts';

describe('a fair queue', () => {
  function createGroups() {
    const queue = createQueue();
    const send = (group: string | undefined, count = 1) => {
      for (let i = 0; i < count; i++) queue.send(`${group}${i}`, { group });
    };
    const bodies = (count: number) => queue.receive(count).map(({ body }) => body);
    return { queue, send, bodies };
  }

  it('returns the oldest message of the groups with the fewest messages in flight', () => {
    const { send, bodies } = createGroups();
    send('noisy', 3);
    send('quiet', 2);
    expect(bodies(2)).toEqual(['noisy0', 'quiet0']);
    send('new');
    expect(bodies(5)).toEqual(['new0', 'noisy1', 'quiet1', 'noisy2']);
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
