import { describe, expect, it } from 'vitest';
import { replayEvents, replaySchedules } from '../../infra/commands/replay.ts';

const object = JSON.stringify({ payload: JSON.stringify({ Records: [{ eventID: 'e1' }] }) });

describe('npm run replay -- events', () => {
  it.each([
    ['succeeds', { batchItemFailures: [] }, ['a'], []],
    ['reports a failed event', { batchItemFailures: [{ itemIdentifier: '1' }] }, [], ['a']],
    ['returns nothing', null, [], ['a']],
    ['returns another response', {}, [], ['a']],
  ])('deletes an object only when the function succeeds: it %s', async (_, response, replayed, left) => {
    const removed: string[] = [];
    const access = {
      list: async () => ['a'],
      read: async () => object,
      remove: async (key: string) => void removed.push(key),
      invoke: async () => response,
    };
    expect(await replayEvents(access)).toEqual({ replayed, left });
    expect(removed).toEqual(replayed);
  });
});

describe('npm run replay -- schedules', () => {
  it('deletes a message only after it was sent', async () => {
    const messages = [['1', '2'].map((body) => ({ body, receiptHandle: `handle-${body}` })), []];
    const calls: string[] = [];
    const access = {
      receive: async () => messages.shift() ?? [],
      remove: async (handle: string) => void calls.push(`remove ${handle}`),
      async send(body: string) {
        calls.push(`send ${body}`);
        if (body === '2') throw new Error('SQS is down');
      },
    };
    await expect(replaySchedules(access)).rejects.toThrow('SQS is down');
    expect(calls).toEqual(['send 1', 'remove handle-1', 'send 2']);
  });
});
