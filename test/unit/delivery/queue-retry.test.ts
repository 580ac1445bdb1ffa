import { describe, expect, it } from 'vitest';
import { MAX_QUEUE_DELAY_SECONDS, retryBy } from '../../../lib/deliveries/queue-retry.ts';
import { message, now } from './builders.ts';

/** Returns how the next attempt is queued or scheduled. */
async function handedOn(delaySeconds: number): Promise<unknown[]> {
  const calls: unknown[] = [];
  const retry = retryBy({
    enqueue: async (...args) => void calls.push(['enqueue', ...args]),
    schedule: async (...args) => void calls.push(['schedule', ...args]),
  });
  await retry(message({ attempt: 2 }), { delaySeconds, dueAt: now + 1 });
  return calls;
}

describe('the next attempt', () => {
  it.each([0, 60, MAX_QUEUE_DELAY_SECONDS])('waits in the queue for %s s', async (delaySeconds) => {
    expect(await handedOn(delaySeconds)).toEqual([['enqueue', message({ attempt: 2 }), delaySeconds]]);
  });

  it('has a schedule named by the attempt when the delay exceeds the queue limit', async () => {
    const scheduled = ['schedule', '1-1-0-2', message({ attempt: 2 }), now + 1];
    expect(await handedOn(MAX_QUEUE_DELAY_SECONDS + 1)).toEqual([scheduled]);
  });
});
