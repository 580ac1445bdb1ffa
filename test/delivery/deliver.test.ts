import { describe, expect, it } from 'vitest';
import { type DeliverDeps, type DeliveryContext, deliver } from '../../lib/delivery/deliver.ts';
import { firstMessage } from '../../lib/delivery/messages.ts';
import type { DeliveryRecord } from '../../lib/delivery/record.ts';
import { newEvent, sampleData } from '../../lib/events/events.ts';
import { StageError, withStages } from '../../lib/stages.ts';
import type { WebhookRecord } from '../../lib/webhooks/webhooks.ts';

const now = Date.parse('2026-01-31T12:00:00.000Z');
const space = { projectId: 'prj_1', environment: 'live' } as const;
const event = newEvent({
  ...space,
  id: 'evt_1',
  at: now,
  type: 'document.deleted',
  data: sampleData('document.deleted', now),
});
const webhook = (overrides: Partial<WebhookRecord> = {}): WebhookRecord => ({
  ...space,
  id: 'whk_1',
  url: 'https://example.com/',
  events: ['document.deleted'],
  description: null,
  secret: 'secret',
  status: 'enabled',
  createdAt: now,
  updatedAt: now,
  ...overrides,
});
const record = (overrides: Partial<DeliveryRecord>): DeliveryRecord => ({
  webhookId: 'whk_1',
  eventId: 'evt_1',
  eventType: 'document.deleted',
  status: 'retrying',
  run: 0,
  attempt: 1,
  attempts: [],
  createdAt: now,
  ...overrides,
});
const message = (attempt = 1) => ({ ...firstMessage(space, 'whk_1', 'evt_1'), attempt });
const referred = (overrides: Partial<DeliveryContext> = {}): DeliveryContext => ({
  webhook: webhook(),
  event,
  delivery: undefined,
  ...overrides,
});

/** A deliverer that notes what it is asked for, in order. */
function deliverer(overrides: Partial<DeliverDeps> = {}) {
  const done: string[] = [];
  const noting =
    <Result>(name: string, result: Result) =>
    async () => {
      done.push(name);
      return result;
    };
  const deps: DeliverDeps = {
    lane: 'slow',
    clock: () => now,
    post: noting('post', { statusCode: 200, error: null, durationMs: 10, waitedMs: 10, excerpt: null }),
    retry: noting('retry', undefined),
    defer: noting('defer', undefined),
    setPace: noting('setPace', undefined),
    warn: (name) => void done.push(name),
    record: noting('record', 'recorded' as const),
    markRetried: noting('markRetried', undefined),
    exhaust: noting('exhaust', 'disabled' as const),
    end: noting('end', undefined),
    claimEmail: noting('claimEmail', 'claimed' as const),
    releaseEmail: noting('releaseEmail', undefined),
    notify: noting('notify', undefined),
    markEmailed: noting('markEmailed', undefined),
    ...overrides,
  };
  return { done, deps };
}
const failing: Partial<DeliverDeps> = {
  post: async () => ({ statusCode: 500, error: 'status_not_2xx', durationMs: 10, waitedMs: 10, excerpt: null }),
};
const proven = webhook({ quickSince: now - 1 });

describe('a delivery', () => {
  it('is recorded after it was sent, and nothing follows a success', async () => {
    const { done, deps } = deliverer();
    expect(await deliver(message(), referred({ webhook: proven }), deps)).toMatchObject({ task: 'send' });
    expect(done).toEqual(['post', 'record']);
  });

  it('that failed is recorded before its retry is queued', async () => {
    const { done, deps } = deliverer(failing);
    await deliver(message(), referred({ webhook: proven }), deps);
    expect(done).toEqual(['record', 'retry', 'markRetried']);
  });

  it('that another run recorded is retried, unless that run has queued the retry', async () => {
    const pending = deliverer({ ...failing, record: async () => 'retry pending' });
    await deliver(message(), referred({ webhook: proven }), pending.deps);
    expect(pending.done).toEqual(['retry', 'markRetried']);
    const obsolete = deliverer({ ...failing, record: async () => 'obsolete' });
    await deliver(message(), referred({ webhook: proven }), obsolete.deps);
    expect(obsolete.done).toEqual([]);
  });

  it('whose retry is pending queues it, without another attempt', async () => {
    const { done, deps } = deliverer();
    const delivery = record({ retryPending: true, nextAttemptAt: now + 60_000 });
    expect(await deliver(message(), referred({ delivery }), deps)).toEqual({ task: 'requeue' });
    expect(done).toEqual(['retry', 'markRetried']);
  });

  it('is not sent again because its pace could not be noted', async () => {
    const { done, deps } = deliverer({
      setPace: () => Promise.reject(new Error('throttled')),
      post: async (_, onSlow) => {
        onSlow();
        return { statusCode: 200, error: null, durationMs: 3000, waitedMs: 3000, excerpt: null };
      },
    });
    await deliver(message(), referred({ webhook: proven }), deps);
    expect(done).toEqual(['webhook.pace_not_noted', 'record', 'webhook.pace_not_noted']);
  });

  it('is handed on to a slower lane where its endpoint belongs', async () => {
    for (const [given, lane, task] of [
      [webhook(), 'quick', 'defer'],
      [webhook({ ...proven, slowUntil: now + 1 }), 'quick', 'defer'],
      [proven, 'quick', 'send'],
      [webhook(), 'new', 'send'],
      [webhook(), 'slow', 'send'],
      [webhook({ slowUntil: now + 1 }), 'new', 'defer'],
    ] as const) {
      const { deps } = deliverer({ lane });
      expect((await deliver(message(), referred({ webhook: given }), deps)).task).toBe(task);
    }
  });

  it('notes in the middle of a long attempt that its endpoint is suspect', async () => {
    const paces: unknown[] = [];
    const { deps } = deliverer({
      lane: 'quick',
      setPace: async (_, pace) => void paces.push(pace),
      post: async (_, onSlow) => {
        onSlow();
        expect(paces).toHaveLength(1);
        return { statusCode: 200, error: null, durationMs: 5000, waitedMs: 5000, excerpt: null };
      },
    });
    await deliver(message(), referred({ webhook: proven }), deps);
    expect(paces).toEqual([{ quickSince: now - 1, slowUntil: now + 6000 }, { slowUntil: now + 600_000 }]);
  });
});

describe('the email about a disabled webhook', () => {
  const disabled = webhook({ status: 'disabled', disabledBy: 'evt_1#0' });
  const last = record({ status: 'failed', attempt: 6 });

  it('is claimed, sent and marked, in this order', async () => {
    const { done, deps } = deliverer(failing);
    const handled = await deliver(message(6), referred(), deps);
    expect(handled).toMatchObject({ task: 'send', disabled: true });
    expect(done).toEqual(['exhaust', 'claimEmail', 'notify', 'markEmailed', 'setPace']);
  });

  it('is left to the run that is sending it; this message must come again', async () => {
    const { done, deps } = deliverer({ claimEmail: async () => 'busy' });
    expect(await deliver(message(6), referred({ webhook: disabled, delivery: last }), deps)).toEqual({ task: 'wait' });
    expect(done).toEqual([]);
  });

  it('is sent once', async () => {
    const { done, deps } = deliverer({ claimEmail: async () => 'sent' });
    const handled = await deliver(message(6), referred({ webhook: disabled, delivery: last }), deps);
    expect([handled, done]).toEqual([{ task: 'notify' }, []]);
  });

  it('is free again at once if it could not be sent', async () => {
    const { done, deps } = deliverer({ notify: () => Promise.reject(new Error('MessageRejected')) });
    const sending = deliver(message(6), referred({ webhook: disabled, delivery: last }), withStages(deps));
    const error = await sending.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StageError);
    expect((error as StageError).stage).toBe('notify');
    expect(done).toEqual(['claimEmail', 'releaseEmail']);
  });
});
