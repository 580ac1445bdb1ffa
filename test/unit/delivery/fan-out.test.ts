import { describe, expect, it } from 'vitest';
import {
  type FanOutDeps,
  fanOut,
  fanOutBatch,
  isAwaited,
  isFor,
  pendingDelivery,
} from '../../../lib/deliveries/fan-out.ts';
import { carrying } from '../../../lib/deliveries/messages.ts';
import type { StoredEvent } from '../../../lib/events/event.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { event, message, now, webhook } from './builders.ts';

/** Returns the webhooks of an event by lane, and the skipped ones. */
function goesTo(webhooks: readonly WebhookRecord[], overrides: Partial<StoredEvent> = {}) {
  const { lanes, skipped } = fanOut(event(overrides), webhooks, now);
  const ids = (messages: { webhookId: string }[]) => messages.map(({ webhookId }) => webhookId);
  return {
    ...Object.fromEntries([...lanes].map(([lane, messages]) => [lane, ids(messages)])),
    ...(skipped.length > 0 && { skipped: ids(skipped) }),
  };
}

describe('an event', () => {
  it.each<[string, Partial<WebhookRecord>, object]>([
    ['goes to a webhook that is subscribed to its type', {}, { new: ['whk_1'] }],
    ['goes to one with further types', { events: ['document.created', 'document.deleted'] }, { new: ['whk_1'] }],
    ['does not go to a webhook of other types', { events: ['document.created', 'document.changed'] }, {}],
    ['does not go to a disabled webhook, which is recorded', { status: 'disabled' }, { skipped: ['whk_1'] }],
    ['is not recorded for a disabled webhook of other types', { status: 'disabled', events: ['sync.completed'] }, {}],
    ['is not recorded for a disabled webhook of other documents', { status: 'disabled', documents: ['other:*'] }, {}],
    ['goes to a webhook created in its millisecond', { createdAt: now }, { new: ['whk_1'] }],
    ['does not go to a webhook created after it', { createdAt: now + 1 }, {}],
    ['goes to a webhook with a pattern for its document', { documents: ['a', 'org:acme:*'] }, { new: ['whk_1'] }],
    ['does not go to a webhook for other documents', { documents: ['org:acme', 'org:other:*'] }, {}],
    ['goes to a webhook for all documents', { documents: [] }, { new: ['whk_1'] }],
    ['is not recorded for a disabled webhook created after it', { status: 'disabled', createdAt: now + 1 }, {}],
  ])('%s', (_, overrides, expected) => {
    expect(goesTo([webhook(overrides)])).toEqual(expected);
  });

  it.each<[string, Partial<WebhookRecord>, object]>([
    ['new', {}, { new: ['whk_1'] }],
    ['quick', { quickSince: now - 1 }, { quick: ['whk_1'] }],
    ['slow', { slowUntil: now + 1 }, { slow: ['whk_1'] }],
    ['slow during a long attempt', { quickSince: now - 1, slowUntil: now + 1 }, { slow: ['whk_1'] }],
    ['new after slow', { slowUntil: now }, { new: ['whk_1'] }],
  ])('uses the lane of the endpoint: %s', (_, pace, expected) => {
    expect(goesTo([webhook(pace)])).toEqual(expected);
  });

  it('goes once to each of many webhooks, in their order within a lane', () => {
    const webhooks = [
      webhook({ id: 'whk_a' }),
      webhook({ id: 'whk_b', quickSince: now }),
      webhook({ id: 'whk_c', status: 'disabled', quickSince: now }),
      webhook({ id: 'whk_d' }),
      webhook({ id: 'whk_e', events: ['sync.conflict'] }),
      webhook({ id: 'whk_f', slowUntil: now + 1 }),
      webhook({ id: 'whk_g', status: 'disabled' }),
    ];
    const expected = { new: ['whk_a', 'whk_d'], quick: ['whk_b'], slow: ['whk_f'], skipped: ['whk_c', 'whk_g'] };
    expect(goesTo(webhooks)).toEqual(expected);
  });

  it('without a document goes to webhooks without patterns', () => {
    const webhooks = [webhook({ id: 'whk_a', documents: ['*'] }), webhook({ id: 'whk_b' })];
    expect(goesTo(webhooks, { documentKey: undefined })).toEqual({ new: ['whk_b'] });
  });

  it('of a test goes to its webhook, regardless of its event types', () => {
    const one = webhook({ documents: ['none'] });
    expect(isFor(event({ webhookId: 'whk_1' }), one)).toBe(true);
    expect(isFor(event({ webhookId: 'whk_2' }), one)).toBe(false);
  });

  it('is not queued without webhooks', () => {
    expect(goesTo([])).toEqual({});
  });

  it('is queued or skipped as the first attempt of the first run', () => {
    const webhooks = [webhook(), webhook({ id: 'whk_2', status: 'disabled' })];
    const { lanes, skipped } = fanOut(event(), webhooks, now);
    const first = { run: 0, attempt: 1, trigger: 'schedule' } as const;
    expect(lanes.get('new')).toEqual([carrying(message(first), event())]);
    expect(skipped).toEqual([message({ webhookId: 'whk_2', ...first })]);
  });

  it('stays in its space', () => {
    const { lanes } = fanOut(event({ environment: 'sandbox' }), [webhook({ environment: 'sandbox' })], now);
    expect(lanes.get('new')).toMatchObject([{ projectId: 'prj_1', environment: 'sandbox' }]);
  });
});

describe('a test event', () => {
  const test = { webhookId: 'whk_2' };
  it.each<[string, readonly WebhookRecord[]]>([
    ['goes to its webhook alone', [webhook(), webhook({ id: 'whk_2' })]],
    ['goes to its webhook without asking for it', []],
    ['goes to its webhook though it is disabled', [webhook({ id: 'whk_2', status: 'disabled' })]],
    ['goes to its webhook though it is not subscribed', [webhook({ id: 'whk_2', events: ['sync.conflict'] })]],
    ['goes to its webhook by the new lane, whatever its pace', [webhook({ id: 'whk_2', quickSince: now })]],
  ])('%s', (_, webhooks) => {
    expect(goesTo(webhooks, test)).toEqual({ new: ['whk_2'] });
  });

  it('is marked as one', () => {
    const sent = carrying(message({ ...test, trigger: 'test' }), event(test));
    expect(fanOut(event(test), [], now).lanes.get('new')).toEqual([sent]);
  });
});

describe('a delivery without a record', () => {
  it.each<[string, Partial<WebhookRecord>, Partial<StoredEvent>, number, boolean]>([
    ['is awaited', {}, {}, now, true],
    ['is not awaited of an event that is for others', { events: ['sync.conflict'] }, {}, now, false],
    ['is awaited since its subscription last changed', { subscribedAt: now }, {}, now, true],
    ['is not awaited of an earlier event', { subscribedAt: now + 1 }, {}, now, false],
    ['is awaited of an earlier test', { subscribedAt: now + 1 }, { webhookId: 'whk_1' }, now, true],
    ['is not awaited when its event is no longer kept', {}, {}, now + 30 * 24 * 60 * 60 * 1000, false],
  ])('%s', (_, of, occurred, at, expected) => {
    expect(isAwaited(event(occurred), webhook(of), at)).toBe(expected);
  });

  it('is pending since the time of its event', () => {
    expect(pendingDelivery(event({ documentKey: 'a' }), webhook())).toMatchObject({
      ...{ status: 'pending', run: 0, attempts: [], createdAt: now, documentKey: 'a' },
    });
    expect(pendingDelivery(event(), webhook()).test).toBeUndefined();
    expect(pendingDelivery(event({ webhookId: 'whk_1' }), webhook()).test).toBe(true);
  });
});

describe('a batch of events', () => {
  /** A fan-out with one space that has an enabled and a disabled webhook. Other spaces have no webhooks. */
  function sender(overrides: Partial<FanOutDeps> = {}) {
    const done: string[] = [];
    const send = fanOutBatch({
      webhooks: async ({ projectId, environment }) => {
        done.push(`read ${projectId} ${environment}`);
        const isOurs = projectId === 'prj_1' && environment === 'live';
        return isOurs ? [webhook(), webhook({ id: 'whk_2' }), webhook({ id: 'whk_3', status: 'disabled' })] : [];
      },
      enqueue: async (lane, messages) => void done.push(`${lane} ${messages.map(({ webhookId }) => webhookId)}`),
      skip: async ({ webhookId }, { id }) => void done.push(`skip ${webhookId} ${id}`),
      clock: () => now,
      ...overrides,
    });
    return { done, send };
  }

  it('goes to the webhooks of its space, which are read once', async () => {
    const { done, send } = sender();
    expect(await send(event())).toEqual({ deliveries: 2, skipped: 1 });
    expect(await send(event())).toEqual({ deliveries: 2, skipped: 1 });
    expect(await send(event({ environment: 'sandbox' }))).toEqual({ deliveries: 0, skipped: 0 });
    expect(await send(event({ projectId: 'prj_2' }))).toEqual({ deliveries: 0, skipped: 0 });
    const sent = ['new whk_1,whk_2', 'skip whk_3 evt_1'];
    expect(done).toEqual(['read prj_1 live', ...sent, ...sent, 'read prj_1 sandbox', 'read prj_2 live']);
  });

  it('reads no webhooks for a test', async () => {
    const { done, send } = sender();
    expect(await send(event({ webhookId: 'whk_1' }))).toEqual({ deliveries: 1, skipped: 0 });
    expect(done).toEqual(['new whk_1']);
  });

  it.each([
    'webhooks',
    'enqueue',
    'skip',
  ] as const)('has an event come again if anything of it fails: %s', async (step) => {
    const { send } = sender({ [step]: () => Promise.reject(new Error('throttled')) });
    await expect(send(event())).rejects.toThrow('throttled');
  });
});
