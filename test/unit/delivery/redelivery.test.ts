import { describe, expect, it } from 'vitest';
import type { QueueMessage, RecoverMessage } from '../../../lib/deliveries/messages.ts';
import { isRecoverable } from '../../../lib/deliveries/record.ts';
import {
  type Recovery,
  type RecoveryPosition,
  recoverPage,
  sendAgain,
  stuckBefore,
} from '../../../lib/deliveries/recovery.ts';
import { message, now, record, space, webhook } from './builders.ts';

type RecoveryOptions = Parameters<Recovery['recoverable']>[1];

const HOUR_MS = 60 * 60 * 1000;

/** A recovery that records its effects in order. */
function recovery(overrides: Partial<Recovery> = {}) {
  const done: string[] = [];
  const sent: QueueMessage[] = [];
  const asked: [webhookId: string, RecoveryOptions][] = [];
  const deps: Recovery = {
    clock: () => now,
    webhook: async () => webhook(),
    extendOutage: async (_, webhookId, sinceMs) => void done.push(`extend ${webhookId} to ${sinceMs - now}`),
    enqueue: async (messages, delaySeconds = 0) => {
      const isPage = messages.some((each) => 'recover' in each);
      done.push(isPage ? `enqueue page in ${delaySeconds} s` : `enqueue ${messages.length}`);
      sent.push(...messages);
    },
    startRun: async ({ eventId }, run, nowMs) => void done.push(`start ${eventId}#${run} at ${nowMs - now}`),
    recoverable: async (webhookId, options) => {
      done.push('read');
      asked.push([webhookId, options]);
      return { deliveries: [], next: undefined };
    },
    ...overrides,
  };
  return { done, sent, asked, deps };
}
const failed = record({ status: 'failed', attempt: 6 });
const redelivered = record({ status: 'failed', eventId: 'evt_2', run: 4, attempt: 6 });

describe('a redelivery', () => {
  it('queues the messages before it records the runs, which then record themselves', async () => {
    const { done, deps } = recovery();
    await sendAgain(space, [failed, redelivered], 'redelivery', deps);
    expect(done).toEqual(['enqueue 2', 'start evt_1#1 at 0', 'start evt_2#5 at 0']);
  });

  it('waits for all runs when one of them fails', async () => {
    const started: string[] = [];
    const startRun = async ({ eventId }: typeof failed) => {
      if (eventId === failed.eventId) throw new Error('DynamoDB is down');
      await new Promise((resolve) => setImmediate(resolve));
      started.push(eventId);
    };
    const { deps } = recovery({ startRun });
    await expect(sendAgain(space, [failed, redelivered], 'redelivery', deps)).rejects.toThrow('DynamoDB is down');
    expect(started).toEqual([redelivered.eventId]);
  });

  it('is the first attempt of the next run', async () => {
    const { sent, deps } = recovery();
    await sendAgain(space, [failed, redelivered], 'redelivery', deps);
    expect(sent).toEqual([
      message({ run: 1, attempt: 1, trigger: 'redelivery' }),
      message({ eventId: 'evt_2', run: 5, attempt: 1, trigger: 'redelivery' }),
    ]);
  });

  it('records no run if its messages could not be queued', async () => {
    const { done, deps } = recovery({ enqueue: () => Promise.reject(new Error('throttled')) });
    await expect(sendAgain(space, [failed], 'redelivery', deps)).rejects.toThrow('throttled');
    expect(done).toEqual([]);
  });

  it('fails if a run could not be recorded', async () => {
    const { done, deps } = recovery({ startRun: () => Promise.reject(new Error('throttled')) });
    await expect(sendAgain(space, [failed], 'redelivery', deps)).rejects.toThrow('throttled');
    expect(done).toEqual(['enqueue 1']);
  });
});

describe('a recoverable delivery', () => {
  const isFound = (overrides: Parameters<typeof record>[0]) => isRecoverable(record(overrides), stuckBefore(now));
  const longAgo = now - 24 * HOUR_MS - 1;

  it.each(['failed', 'canceled', 'skipped'] as const)('ended without success: %s', (status) => {
    expect(isFound({ status })).toBe(true);
    expect(isFound({ status, test: true })).toBe(false);
  });

  it.each(['pending', 'retrying'] as const)('waits for an attempt that was due a day ago: %s', (status) => {
    expect(isFound({ status, nextAttemptAt: longAgo })).toBe(true);
    expect(isFound({ status, nextAttemptAt: longAgo + 1 })).toBe(false);
    expect(isFound({ status, nextAttemptAt: longAgo, test: true })).toBe(false);
  });

  it('has not succeeded', () => {
    expect(isFound({ status: 'succeeded', nextAttemptAt: longAgo })).toBe(false);
  });
});

describe('a page of a recovery', () => {
  const page = (after?: string): RecoverMessage => {
    const from = after === undefined ? {} : { from: { status: 'failed' as const, after } };
    return { recover: { ...space, webhookId: 'whk_1', since: now - HOUR_MS, until: now, perSecond: 7, ...from } };
  };
  const found = (deliveries = [failed, redelivered], after?: string): Partial<Recovery> => {
    const next: RecoveryPosition | undefined = after === undefined ? undefined : { status: 'failed', after };
    return { recoverable: async () => ({ deliveries, next }) };
  };

  it.each([undefined, 'evt_0'])('reads the page of its message, after %s', async (after) => {
    const { asked, deps } = recovery();
    await recoverPage(page(after), deps);
    const window = { since: now - HOUR_MS, until: now, endedSince: undefined, stuckBefore: now - 24 * HOUR_MS };
    expect(asked).toEqual([['whk_1', { ...window, limit: 7, from: page(after).recover.from }]]);
  });

  it('is redelivered with the full schedule', async () => {
    const { sent, deps } = recovery(found());
    await recoverPage(page(), deps);
    expect(sent).toEqual([
      message({ run: 1, attempt: 1, trigger: 'recovery' }),
      message({ eventId: 'evt_2', run: 5, attempt: 1, trigger: 'recovery' }),
    ]);
  });

  it('queues no page after the last one', async () => {
    const { done, deps } = recovery(found([failed], undefined));
    await recoverPage(page('evt_0'), deps);
    expect(done).toEqual(['enqueue 1', 'start evt_1#1 at 0']);
  });

  it('queues the next page a second later, when all runs are recorded', async () => {
    const { done, sent, deps } = recovery(found([failed], 'evt_1'));
    await recoverPage(page('evt_0'), deps);
    expect(done).toEqual(['enqueue 1', 'start evt_1#1 at 0', 'enqueue page in 1 s']);
    expect(sent.at(-1)).toEqual(page('evt_1'));
  });

  it('continues with the next page when there is nothing to recover', async () => {
    const { sent, deps } = recovery(found([], 'evt_9'));
    await recoverPage(page(), deps);
    expect(sent).toEqual([page('evt_9')]);
  });

  it.each([
    ['its start', {}, -HOUR_MS],
    ['the start of its outage', { endedSince: now - 5 }, -5],
  ])('ends when the webhook is disabled, and the next recovery covers the time since %s', async (_, given, sinceMs) => {
    const { done, deps } = recovery({
      ...found([failed], 'evt_1'),
      webhook: async () => webhook({ status: 'disabled' }),
    });
    await recoverPage({ recover: { ...page().recover, ...given } }, deps);
    expect(done).toEqual([`extend whk_1 to ${sinceMs}`]);
  });

  it('ends when the webhook was deleted', async () => {
    const { sent, deps } = recovery({ ...found([failed], 'evt_1'), webhook: async () => undefined });
    await recoverPage(page(), deps);
    expect(sent).toEqual([]);
  });

  it('is retried after a failure', async () => {
    const startRun = () => Promise.reject(new Error('throttled'));
    const { done, deps } = recovery({ ...found([failed], 'evt_1'), startRun });
    await expect(recoverPage(page(), deps)).rejects.toThrow('throttled');
    expect(done).toEqual(['enqueue 1']);
  });

  it('stays in its space', async () => {
    const { sent, deps } = recovery(found([failed]));
    await recoverPage({ recover: { ...page().recover, environment: 'sandbox' } }, deps);
    expect(sent).toEqual([message({ environment: 'sandbox', run: 1, trigger: 'recovery' })]);
  });
});
