import { describe, expect, it } from 'vitest';
import { type BatchDeps, deliverBatch } from '../../../lib/deliveries/batch.ts';
import { nextMessage, type QueueMessage } from '../../../lib/deliveries/messages.ts';
import { NotYetError, UnavailableError } from '../../../lib/errors.ts';
import { deliverer, event, message, now, record, referred, webhook } from './builders.ts';

const recovery: QueueMessage = {
  recover: { webhookId: 'whk_1', projectId: 'prj_1', environment: 'live', since: 0, until: now, perSecond: 1 },
};

/** Returns the result of each message of a batch, and the effects. */
async function handled(messages: (QueueMessage | null)[], overrides: Partial<BatchDeps> = {}) {
  const { deps, done } = deliverer();
  const handle = deliverBatch(messages, {
    ...deps,
    loadContexts: async (due) => due.map(() => referred({ webhook: webhook({ quickSince: now - 1 }) })),
    recoverPage: async () => void done.push('recoverPage'),
    takeSlots: async () => [],
    done: ({ eventId }, { task }) => void done.push(`${eventId} ${task}`),
    ...overrides,
  });
  const ends = await Promise.allSettled(messages.map(handle));
  return { done, reasons: ends.map((end) => (end.status === 'rejected' ? end.reason : null)) };
}

describe('a batch', () => {
  it('reads the records of all deliveries together, and nothing for other messages', async () => {
    const loads: unknown[] = [];
    const loadContexts: BatchDeps['loadContexts'] = async (due) => {
      loads.push(due);
      return due.map(({ eventId }) => referred({ webhook: webhook(), event: event({ id: eventId }) }));
    };
    const [a, b] = [message(), message({ eventId: 'evt_2' })];
    const { done, reasons } = await handled([a, null, recovery, b], { loadContexts });
    expect(loads).toEqual([[a, b]]);
    expect(done.filter((name) => / |recover/.test(name)).sort()).toEqual(['evt_1 send', 'evt_2 send', 'recoverPage']);
    expect(reasons).toEqual([null, new Error('The message has an unknown format'), null, null]);
  });

  it('retries all messages that need records when the read fails', async () => {
    const throttled = new Error('throttled');
    const loadContexts = () => Promise.reject(throttled);
    const { done, reasons } = await handled([message(), recovery, message()], { loadContexts });
    expect(reasons).toEqual([throttled, null, throttled]);
    expect(done).toEqual(['recoverPage']);
  });

  it('delivers the other messages when the records of one cannot be read', async () => {
    const throttled = new UnavailableError(new Error('throttled'));
    const loadContexts: BatchDeps['loadContexts'] = async (due) =>
      due.map(({ eventId }) => (eventId === 'evt_1' ? throttled : referred({ webhook: webhook() })));
    const { done, reasons } = await handled([message(), message({ eventId: 'evt_2' })], { loadContexts });
    expect(reasons).toEqual([throttled, null]);
    expect(done).toContain('evt_2 send');
    expect(done).not.toContain('evt_1 send');
  });

  it('delivers duplicate messages once and logs them once', async () => {
    const { done, reasons } = await handled([message(), message(), message({ eventId: 'evt_2' })]);
    expect(reasons).toEqual([null, null, null]);
    expect(done.filter((name) => name === 'post')).toHaveLength(2);
    expect(done.filter((name) => name.startsWith('evt_'))).toEqual(['evt_1 send', 'evt_2 send']);
  });

  it('retries a message while another run is sending its email', async () => {
    const disabled = webhook({ status: 'disabled', disabledBy: 'evt_1#0' });
    const delivery = record({ status: 'failed', attempt: 6 });
    const { done, reasons } = await handled([message({ attempt: 6 })], {
      loadContexts: async () => [referred({ webhook: disabled, delivery })],
      disabledEmail: deliverer({ 'disabledEmail.claim': async () => 'busy' }).deps.disabledEmail,
    });
    expect(reasons).toEqual([new NotYetError('Another run is processing the message')]);
    expect(done).toEqual(['evt_1 wait']);
  });
});

describe('the rate limit of a webhook', () => {
  const limited = (id: string) => referred({ webhook: webhook({ id, maxPerSecond: 2 }) });
  const loadContexts: BatchDeps['loadContexts'] = async (due) => due.map(({ webhookId }) => limited(webhookId));
  const slot = { at: now + 1_500, maxPerSecond: 2 };

  it('is checked once for all messages of the webhook, and delays messages without a token', async () => {
    const asked: unknown[] = [];
    const delayed: unknown[] = [];
    const takeSlots: BatchDeps['takeSlots'] = async ({ webhookId }, maxPerSecond, requests, nowMs) => {
      asked.push([webhookId, maxPerSecond, requests, nowMs]);
      return requests.map((_, i) => (i === 0 ? null : { slot, untilMs: slot.at }));
    };
    const delay: BatchDeps['delay'] = async (...args) => void delayed.push(args);
    const second = message({ eventId: 'evt_2', trigger: 'recovery', slot: { at: now, maxPerSecond: 2 } });
    const other = message({ eventId: 'evt_3', webhookId: 'whk_2' });
    const { done } = await handled([message(), second, other], { loadContexts, takeSlots, delay });
    const fresh = { slot: undefined, isTest: false, isRecovery: false };
    expect(asked).toEqual([
      ['whk_1', 2, [fresh, { slot: { at: now, maxPerSecond: 2 }, isTest: false, isRecovery: true }], now],
      ['whk_2', 2, [fresh], now],
    ]);
    expect(delayed).toEqual([[{ ...second, slot }, 2]]);
    expect(done.filter((name) => /^evt/.test(name)).sort()).toEqual(['evt_1 send', 'evt_2 delay', 'evt_3 send']);
  });

  it('is not checked before the time of a slot, even after several queue delays', async () => {
    const delayed: unknown[] = [];
    const early = message({ slot: { at: now + 2000_000, maxPerSecond: 2 } });
    const takeSlots: BatchDeps['takeSlots'] = () => Promise.reject(new Error('asked'));
    const delay: BatchDeps['delay'] = async (...args) => void delayed.push(args);
    const { reasons } = await handled([early], { loadContexts, takeSlots, delay });
    expect([reasons, delayed]).toEqual([[null], [[early, 900]]]);
  });

  it('does not apply once it is removed, while the webhook is disabled, or to the next attempt', async () => {
    const takeSlots: BatchDeps['takeSlots'] = () => Promise.reject(new Error('asked'));
    const waiting = message({ slot });
    const { done } = await handled([waiting], { takeSlots });
    expect(done).toContain('evt_1 send');
    const disabled = async () => [referred({ webhook: webhook({ maxPerSecond: 2, status: 'disabled' }) })];
    expect((await handled([waiting], { takeSlots, loadContexts: disabled })).done).toContain('evt_1 cancel');
    expect(nextMessage(waiting)).not.toHaveProperty('slot');
  });

  it('retries a message without an attempt when the database fails', async () => {
    const throttled = new Error('throttled');
    const takeSlots: BatchDeps['takeSlots'] = () => Promise.reject(throttled);
    const { done, reasons } = await handled([message()], { loadContexts, takeSlots });
    expect(reasons).toEqual([throttled]);
    expect(done).toEqual([]);
  });
});

describe('the failed deliveries of a batch', () => {
  const failing = [message(), message({ eventId: 'evt_2' }), message({ eventId: 'evt_3', webhookId: 'whk_2' })];
  const post: BatchDeps['post'] = async () => {
    return { statusCode: 500, error: 'status_not_2xx', durationMs: 10, waitedMs: 10, excerpt: null };
  };
  /** Both endpoints succeeded until now. */
  const loadContexts: BatchDeps['loadContexts'] = async (due) =>
    due.map(({ webhookId: id }) => referred({ webhook: webhook({ id, quickSince: now - 1 }) }));

  it('note the outage once per webhook', async () => {
    const noted: string[] = [];
    const beginOutage: BatchDeps['beginOutage'] = async ({ webhookId }) => void noted.push(webhookId);
    await handled(failing, { post, loadContexts, beginOutage });
    expect(noted.sort()).toEqual(['whk_1', 'whk_2']);
  });

  it('note the outage with the next delivery if the first note fails', async () => {
    const noted: string[] = [];
    const { deps } = deliverer({ post });
    const handle = deliverBatch(failing, {
      ...deps,
      loadContexts,
      recoverPage: async () => {},
      takeSlots: async () => [],
      done: () => {},
      beginOutage: async ({ eventId }) => {
        noted.push(eventId);
        if (noted.length === 1) throw new Error('throttled');
      },
    });
    await expect(handle(failing[0] ?? null)).rejects.toThrow('throttled');
    await handle(failing[1] ?? null);
    expect(noted).toEqual(['evt_1', 'evt_2']);
  });
});
