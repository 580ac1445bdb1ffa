import { describe, expect, it } from 'vitest';
import type { Task } from '../../../lib/deliveries/decide.ts';
import { type DeliverDeps, type DeliveryContext, deliver } from '../../../lib/deliveries/deliver.ts';
import type { Lane } from '../../../lib/deliveries/lanes.ts';
import {
  attempt,
  type DeliverOverrides,
  deliverer,
  event,
  message as messageWith,
  now,
  record,
  referred,
  webhook,
} from './builders.ts';

const message = (attempt = 1) => messageWith({ attempt });
const failing: Partial<DeliverDeps> = {
  post: async () => ({ statusCode: 500, error: 'status_not_2xx', durationMs: 10, waitedMs: 10, excerpt: null }),
};
/** An attempt that takes a time, unless the caller aborts it. */
const lasting =
  (ms: number): DeliverDeps['post'] =>
  async (_, { tick, signal }) => {
    for (let waitedMs = 100; waitedMs <= ms; waitedMs += 100) {
      tick(waitedMs);
      await new Promise(setImmediate);
      signal.throwIfAborted();
    }
    return { statusCode: 200, error: null, durationMs: ms, waitedMs: ms, excerpt: null };
  };
/** A quick webhook that is already failing, so that an attempt changes neither state. */
const proven = webhook({ quickSince: now - 1, failingSince: now - 1 });

describe('a delivery', () => {
  it('is recorded after it was sent, and has no next step after a success', async () => {
    const { done, deps } = deliverer();
    expect(await deliver(message(), referred({ webhook: proven }), deps)).toMatchObject({ task: 'send' });
    expect(done).toEqual(['post', 'record']);
  });

  it('is recorded before its retry is queued', async () => {
    const { done, deps } = deliverer(failing);
    await deliver(message(), referred({ webhook: proven }), deps);
    expect(done).toEqual(['record', 'retry', 'markRetried']);
  });

  it.each([
    ['failed', failing],
    ['succeeded', {}],
  ])('that %s but was recorded by another run is retried without further effects', async (_, outcome) => {
    const { done, deps } = deliverer({ ...outcome, record: async () => false });
    expect(await deliver(message(), referred({ webhook: proven }), deps)).toMatchObject({
      task: 'wait',
      isRecorded: false,
    });
    expect(done.filter((name) => name !== 'post')).toEqual([]);
  });

  it('queues a pending retry without another attempt', async () => {
    const { done, deps } = deliverer();
    const delivery = record({ retryPending: true, nextAttemptAt: now + 60_000 });
    expect(await deliver(message(), referred({ delivery }), deps)).toEqual({ task: 'requeue' });
    expect(done).toEqual(['retry', 'markRetried']);
  });

  it('is not repeated when its pace could not be stored', async () => {
    const { done, deps } = deliverer({
      lane: 'new',
      suspect: () => Promise.reject(new Error('throttled')),
      setPace: () => Promise.reject(new Error('throttled')),
      post: lasting(3000),
    });
    await deliver(message(), referred({ webhook: proven }), deps);
    expect(done).toEqual(['webhook.pace_not_noted', 'record', 'webhook.pace_not_noted']);
  });

  it('is forwarded to the slower lane of its endpoint', async () => {
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

  it.each<[Lane, number, boolean, string[]]>([
    ['quick', 200, true, ['record']],
    ['quick', 300, true, ['suspect', 'record']],
    ['quick', 900, true, ['suspect', 'record', 'setPace']],
    ['quick', 1000, true, ['suspect', 'defer']],
    ['quick', 300, false, ['suspect', 'defer']],
    ['new', 900, true, ['record', 'setPace']],
    ['new', 1000, false, ['suspect', 'record', 'setPace']],
    ['slow', 5000, false, ['suspect', 'record', 'setPace']],
  ])('in the %s lane, takes these steps after %d ms (first overdue attempt: %s)', async (lane, ms, isFirst, steps) => {
    const { done, deps } = deliverer({ lane, post: lasting(ms) });
    deps.suspect = async (_, slowUntil, at) => {
      done.push('suspect');
      expect([slowUntil, at]).toEqual([now + 6000, now]);
      return isFirst;
    };
    await deliver(message(), referred({ webhook: proven }), deps);
    expect(done).toEqual(steps);
  });

  it('goes to the slow lane with the same attempt when it leaves the quick lane', async () => {
    const deferred: unknown[] = [];
    const defer: DeliverDeps['defer'] = async (...args) => void deferred.push(args);
    const { deps } = deliverer({ lane: 'quick', post: lasting(5000), defer });
    const third = message(3);
    expect(await deliver(third, referred({ webhook: proven }), deps)).toEqual({ task: 'defer' });
    expect(deferred).toEqual([[third, 'slow']]);
  });

  it('makes no note of an overdue attempt while its endpoint has the slow lane', async () => {
    const { done, deps } = deliverer({ post: lasting(1900) });
    await deliver(message(), referred({ webhook: webhook({ slowUntil: now + 1 }) }), deps);
    expect(done).toEqual(['record']);
  });
});

describe('the email about a disabled webhook', () => {
  const disabled = webhook({ status: 'disabled', disabledBy: 'evt_1#0' });
  const last = record({ status: 'failed', attempt: 6 });

  it('is claimed, sent and marked, in this order', async () => {
    const { done, deps } = deliverer(failing);
    const handled = await deliver(message(6), referred(), deps);
    expect(handled).toMatchObject({ task: 'send', disabled: true });
    expect(done).toEqual(['exhaust', 'disabledEmail.claim', 'disabledEmail.send', 'disabledEmail.markSent', 'setPace']);
  });

  it('is left to the run that is sending it, and the message is retried', async () => {
    const { done, deps } = deliverer({ 'disabledEmail.claim': async () => 'busy' });
    expect(await deliver(message(6), referred({ webhook: disabled, delivery: last }), deps)).toEqual({ task: 'wait' });
    expect(done).toEqual([]);
  });

  it('is sent once', async () => {
    const { done, deps } = deliverer({ 'disabledEmail.claim': async () => 'sent' });
    const handled = await deliver(message(6), referred({ webhook: disabled, delivery: last }), deps);
    expect([handled, done]).toEqual([{ task: 'notify' }, []]);
  });
});

describe('a message', () => {
  const disabled = webhook({ status: 'disabled' });
  const test = event({ webhookId: 'whk_1' });

  it.each<[string, Partial<DeliveryContext>, Task, string[]]>([
    ['is dropped for a deleted webhook', { webhook: undefined }, 'drop', []],
    ['is dropped for an event that expired before the first attempt', { event: undefined }, 'drop', []],
    [
      'ends the run for an event that expired during the run',
      { event: undefined, delivery: record({ status: 'pending', run: 1 }) },
      'drop',
      ['end'],
    ],
    ['is dropped if it was already processed', { delivery: record() }, 'drop', []],
    ['ends the run for a disabled webhook', { webhook: disabled }, 'cancel', ['end']],
    ['is sent to a disabled webhook for a test event', { webhook: disabled, event: test }, 'send', ['post', 'record']],
  ])('%s', async (_, overrides, task, effects) => {
    const { done, deps } = deliverer({ setPace: async () => {} });
    expect(await deliver(message(), referred(overrides), deps)).toMatchObject({ task });
    expect(done).toEqual(effects);
  });

  it('is canceled immediately', async () => {
    const ends: unknown[][] = [];
    const { deps } = deliverer({ end: async (...args) => void ends.push(args) });
    await deliver(message(2), referred({ webhook: disabled, delivery: record() }), deps);
    expect(ends).toEqual([[message(2), event(), 'canceled', now]]);
  });

  it('is forwarded unchanged', async () => {
    const handedOn: unknown[][] = [];
    const { done, deps } = deliverer({ lane: 'quick', defer: async (...args) => void handedOn.push(args) });
    await deliver(message(3), referred({ delivery: record({ attempt: 2 }) }), deps);
    expect(handedOn).toEqual([[message(3), 'new']]);
    expect(done).toEqual([]);
  });

  it.each<[string, number | undefined, number]>([
    ['when it is due', now + 60_000, 60],
    ['at once if that is over', now - 60_000, 0],
    ['at once if nobody knows', undefined, 0],
  ])('queues the next attempt of a pending retry, %s', async (_, nextAttemptAt, delaySeconds) => {
    const retries: unknown[][] = [];
    const { deps } = deliverer({ retry: async (...args) => void retries.push(args) });
    await deliver(message(), referred({ delivery: record({ retryPending: true, nextAttemptAt }) }), deps);
    expect(retries).toEqual([[message(2), { dueAt: nextAttemptAt ?? 0, delaySeconds }]]);
  });
});

describe('an attempt', () => {
  it('is recorded with its number, its trigger, and the time before it', async () => {
    let time = now;
    const records: unknown[][] = [];
    const { deps } = deliverer({
      clock: () => time,
      post: async () => {
        time += 300;
        return { statusCode: 503, error: 'status_not_2xx', durationMs: 290, waitedMs: 200, excerpt: 'busy' };
      },
      record: async (...args) => {
        records.push(args);
        return true;
      },
    });
    const asked = messageWith({ attempt: 2, run: 1, trigger: 'redelivery' });
    const result = await deliver(asked, referred({ webhook: proven }), deps);
    const made = attempt({
      number: 2,
      trigger: 'redelivery',
      at: now,
      statusCode: 503,
      durationMs: 290,
      excerpt: 'busy',
      url: proven.url,
      sent: expect.arrayContaining([['X-Service-Signature', expect.stringContaining('sha256=')]]),
    });
    const verdict = { status: 'retrying', delaySeconds: 300, dueAt: now + 290 + 300_000 };
    expect(records).toEqual([[asked, event(), made, verdict]]);
    expect(result).toEqual({ task: 'send', attempt: made, verdict, disabled: false, isRecorded: true });
  });

  it('sends the stored event to the endpoint URL, signed at the time of the attempt', async () => {
    const posts: unknown[] = [];
    const { deps } = deliverer({
      post: async (request) => {
        posts.push(request);
        return { statusCode: 200, error: null, durationMs: 10, waitedMs: 10, excerpt: null };
      },
    });
    await deliver(message(2), referred({ webhook: proven }), deps);
    const headers = expect.objectContaining({ 'X-Service-Event-Id': 'evt_1', 'X-Service-Attempt': '2' });
    expect(posts).toEqual([{ url: proven.url, headers, body: event().body }]);
  });

  it('queues the next attempt on schedule after a failure', async () => {
    const retries: unknown[][] = [];
    const { deps } = deliverer({ ...failing, retry: async (...args) => void retries.push(args) });
    await deliver(message(5), referred({ webhook: proven }), deps);
    expect(retries).toEqual([[message(6), expect.objectContaining({ dueAt: now + 10 + 43_200_000 })]]);
  });

  it('is recorded for a failed test event, without a retry or an effect on the webhook', async () => {
    const { done, deps } = deliverer(failing);
    const context = referred({ webhook: proven, event: event({ webhookId: 'whk_1' }) });
    const result = await deliver(message(), context, deps);
    expect(result).toMatchObject({ task: 'send', verdict: { status: 'failed' }, disabled: false });
    expect(done).toEqual(['record']);
  });

  it('sends no email after the sixth failure if it did not disable the webhook', async () => {
    const { done, deps } = deliverer({
      ...failing,
      exhaust: async () => ({ isRecorded: true, isEmailPending: false }),
    });
    const result = await deliver(message(6), referred({ webhook: proven }), deps);
    expect(result).toMatchObject({ task: 'send', verdict: { status: 'failed' }, disabled: false });
    expect(done).toEqual([]);
  });

  it('does not count the sixth failure again after another run has recorded it', async () => {
    const exhaust = async () => ({ isRecorded: false, isEmailPending: true });
    const { done, deps } = deliverer({ ...failing, exhaust });
    const result = await deliver(message(6), referred({ webhook: proven }), deps);
    expect(result).toMatchObject({ task: 'send', disabled: false, isRecorded: false });
    expect(done).toEqual(['disabledEmail.claim', 'disabledEmail.send', 'disabledEmail.markSent']);
  });

  it('moves a quick endpoint to the quick lane after it is recorded', async () => {
    const paces: unknown[] = [];
    const { done, deps } = deliverer({
      setPace: async (_, pace) => {
        paces.push([...done, pace]);
      },
    });
    await deliver(message(), referred(), deps);
    expect(paces).toEqual([['post', 'record', { quickSince: now }]]);
  });
});

it('logs a failed note with its webhook and the reason', async () => {
  const error = new Error('throttled');
  const logged: unknown[] = [];
  const { deps } = deliverer({
    setPace: () => Promise.reject(error),
    endOutage: () => Promise.reject(error),
    warn: (...args) => void logged.push(args),
  });
  await deliver(message(), referred({ webhook: webhook({ undeliveredSince: now - 1 }) }), deps);
  const fields = { webhook_id: 'whk_1', error };
  expect(logged).toEqual([
    ['webhook.outage_end_not_noted', fields],
    ['webhook.pace_not_noted', fields],
  ]);
});

describe('a step that fails', () => {
  const sixth = { attempt: 6 } as const;
  it.each<[keyof DeliverOverrides, { attempt?: number }, string[]]>([
    ['post', {}, []],
    ['record', {}, []],
    ['retry', {}, ['record']],
    ['markRetried', {}, ['record', 'retry']],
    ['exhaust', sixth, []],
    ['disabledEmail.claim', sixth, ['exhaust']],
    ['disabledEmail.send', sixth, ['exhaust', 'disabledEmail.claim', 'disabledEmail.release']],
    ['disabledEmail.markSent', sixth, ['exhaust', 'disabledEmail.claim', 'disabledEmail.send']],
  ])('stops the later steps, so that the message is retried: %s', async (step, { attempt = 1 }, effects) => {
    const { done, deps } = deliverer({ ...failing, [step]: () => Promise.reject(new Error('throttled')) });
    const delivering = deliver(message(attempt), referred({ webhook: proven }), deps);
    await expect(delivering).rejects.toThrow('throttled');
    expect(done).toEqual(effects);
  });
});

describe('an email', () => {
  const earlier = [1, 2, 3, 1, 2, 3, 4, 5].map((number) => attempt({ number }));
  /** Returns the email for a context, and the other effects. */
  async function emailOf(overrides: Partial<DeliveryContext>, others: DeliverOverrides = {}) {
    const emails: unknown[][] = [];
    const { done, deps } = deliverer({
      ...failing,
      'disabledEmail.send': async ({ webhook, event, attempts }) => void emails.push([webhook, event, attempts]),
      ...others,
    });
    const result = await deliver(message(6), referred(overrides), deps);
    return { emails, result, done };
  }

  it('lists the attempts of its run, including the last one', async () => {
    const { emails } = await emailOf({ delivery: record({ attempt: 5, attempts: earlier }) });
    const attempts = [1, 2, 3, 4, 5, 6].map((number) => attempt({ number }));
    expect(emails).toMatchObject([[webhook(), event(), attempts]]);
  });

  it('lists the recorded attempts if it is sent later', async () => {
    const disabled = webhook({ status: 'disabled', disabledBy: 'evt_1#0' });
    const attempts = [...earlier, attempt({ number: 6 })];
    const delivery = record({ status: 'failed', attempt: 6, attempts });
    const { emails, result, done } = await emailOf({ webhook: disabled, delivery });
    expect(emails).toEqual([[disabled, event(), attempts.slice(-6)]]);
    expect(result).toEqual({ task: 'notify' });
    expect(done).toEqual(['disabledEmail.claim', 'disabledEmail.markSent']);
  });

  it('waits while another run is sending it, even after the attempt', async () => {
    const { emails, result } = await emailOf({}, { 'disabledEmail.claim': async () => 'busy' });
    expect(result).toMatchObject({ task: 'wait', attempt: { number: 6 }, disabled: true });
    expect(emails).toEqual([]);
  });

  it('is not sent twice if another run has sent it', async () => {
    const { emails, result } = await emailOf({}, { 'disabledEmail.claim': async () => 'sent' });
    expect(result).toMatchObject({ task: 'send', disabled: true });
    expect(emails).toEqual([]);
  });

  it('fails for its own reason, even if the claim could not be released', async () => {
    const failed = emailOf(
      {},
      {
        'disabledEmail.send': () => Promise.reject(new Error('MessageRejected')),
        'disabledEmail.release': () => Promise.reject(new Error('throttled')),
      },
    );
    await expect(failed).rejects.toThrow('MessageRejected');
  });
});

describe('an outage', () => {
  it('is noted after the retry is queued and before its flag is cleared, unless it is already known', async () => {
    const first = deliverer(failing);
    await deliver(message(), referred({ webhook: webhook({ quickSince: now - 1 }) }), first.deps);
    expect(first.done).toEqual(['record', 'retry', 'beginOutage', 'markRetried']);
    const known = deliverer(failing);
    await deliver(message(), referred({ webhook: proven }), known.deps);
    expect(known.done).toEqual(['record', 'retry', 'markRetried']);
  });

  it('is noted again with the retry if the note failed', async () => {
    const { done, deps } = deliverer({ ...failing, beginOutage: () => Promise.reject(new Error('throttled')) });
    const found = referred({ webhook: webhook({ quickSince: now - 1 }) });
    await expect(deliver(message(), found, deps)).rejects.toThrow('throttled');
    expect(done).toEqual(['record', 'retry']);
  });

  it('ends with a success, which counts even if the note fails', async () => {
    const out = webhook({ quickSince: now - 1, failingSince: now - 1, undeliveredSince: now - 1 });
    const noted = deliverer();
    await deliver(message(), referred({ webhook: out }), noted.deps);
    expect(noted.done).toEqual(['post', 'record', 'endOutage']);
    const lost = deliverer({ endOutage: () => Promise.reject(new Error('throttled')) });
    expect(await deliver(message(), referred({ webhook: out }), lost.deps)).toMatchObject({ task: 'send' });
    expect(lost.done).toEqual(['post', 'record', 'webhook.outage_end_not_noted']);
  });

  it('is not started or ended by a test', async () => {
    const test = event({ webhookId: 'whk_1' });
    for (const overrides of [failing, {}]) {
      const { done, deps } = deliverer(overrides);
      const out = webhook({ quickSince: now - 1, ...(overrides === failing ? {} : { undeliveredSince: now - 1 }) });
      await deliver(message(), referred({ webhook: out, event: test }), deps);
      expect(done.filter((name) => name.endsWith('Outage'))).toEqual([]);
    }
  });

  it.each([
    [
      'claimed',
      'send',
      ['record', 'retry', 'warningEmail.claim', 'warningEmail.send', 'warningEmail.markSent', 'markRetried'],
    ],
    ['sent', 'send', ['record', 'retry', 'warningEmail.claim', 'markRetried']],
    ['busy', 'wait', ['record', 'retry', 'warningEmail.claim']],
  ] as const)('is warned of at the fourth failure, after the retry is queued: %s', async (claim, task, expected) => {
    const { done, deps } = deliverer({
      ...failing,
      'warningEmail.claim': async () => {
        done.push('warningEmail.claim');
        return claim;
      },
    });
    expect(await deliver(message(4), referred({ webhook: proven }), deps)).toMatchObject({ task });
    expect(done).toEqual(expected);
  });

  it('has its warning sent with a pending retry, when no other run is sending it', async () => {
    const delivery = record({ attempt: 4, retryPending: true, attempts: [attempt({ number: 4 })] });
    for (const [claim, task] of [
      ['busy', 'wait'],
      ['sent', 'requeue'],
    ] as const) {
      const { deps } = deliverer({ 'warningEmail.claim': async () => claim });
      expect(await deliver(message(4), referred({ webhook: proven, delivery }), deps)).toEqual({ task });
    }
  });

  it('has a warning with the attempts of its run', async () => {
    const warnings: unknown[][] = [];
    const { deps } = deliverer({
      ...failing,
      'warningEmail.send': async ({ webhook, event, attempts }) => void warnings.push([webhook, event, attempts]),
    });
    const delivery = record({ attempt: 3, attempts: [6, 1, 2, 3].map((number) => attempt({ number })) });
    await deliver(message(4), referred({ webhook: proven, delivery }), deps);
    expect(warnings).toMatchObject([[proven, event(), [1, 2, 3, 4].map((number) => ({ number }))]]);
    await deliver(message(4), referred({ webhook: proven }), deps);
    expect(warnings[1]).toMatchObject([proven, event(), [{ number: 4 }]]);
  });

  it('releases the claim of a failed warning and keeps the retry pending', async () => {
    const { done, deps } = deliverer({ ...failing, 'warningEmail.send': () => Promise.reject(new Error('throttled')) });
    await expect(deliver(message(4), referred({ webhook: proven }), deps)).rejects.toThrow('throttled');
    expect(done).toEqual(['record', 'retry', 'warningEmail.claim', 'warningEmail.release']);
  });
});

describe('a delivery that would wait too long for the rate limit', () => {
  const skip: DeliverOverrides = { takeSlot: async () => 'skip' };
  const limited = webhook({ ...proven, maxPerSecond: 2 });
  const told = webhook({ ...limited, overloadedAt: now - 1 });
  const test = event({ webhookId: 'whk_1' });

  it.each([1, 3])('is skipped without an attempt, at attempt %d, and the customer gets an email', async (number) => {
    const ended: unknown[] = [];
    const { done, deps } = deliverer({ ...skip, end: async (...args) => void ended.push(args) });
    const delivery = number > 1 ? record({ attempt: number - 1 }) : undefined;
    const found = referred({ webhook: limited, delivery });
    expect(await deliver(message(number), found, deps)).toEqual({ task: 'overload' });
    expect(ended).toEqual([[message(number), event(), 'skipped', now]]);
    expect(done).toEqual(['overloadEmail.claim', 'overloadEmail.send', 'overloadEmail.markSent']);
  });

  it('sends no email in an overload that already has one, or for a test', async () => {
    for (const found of [{ webhook: told }, { webhook: limited, event: test }]) {
      const { done, deps } = deliverer(skip);
      await deliver(message(), referred(found), deps);
      expect(done).toEqual(['end']);
    }
  });

  it('stays skipped if the email fails, which the next skipped delivery sends', async () => {
    const { done, deps } = deliverer({ ...skip, 'overloadEmail.send': () => Promise.reject(new Error('throttled')) });
    await expect(deliver(message(), referred({ webhook: limited }), deps)).rejects.toThrow('throttled');
    expect(done).toEqual(['end', 'overloadEmail.claim', 'overloadEmail.release']);
  });

  it('starts a new overload after an attempt that did not wait', async () => {
    const waited = messageWith({ slot: { at: now, maxPerSecond: 2 } });
    for (const [given, found, first] of [
      [message(), { webhook: told }, 'endOverload'],
      [waited, { webhook: told }, 'post'],
      [message(), { webhook: told, event: test }, 'post'],
      [message(), { webhook: limited }, 'post'],
    ] as const) {
      const { done, deps } = deliverer();
      await deliver(given, referred(found), deps);
      expect(done.filter((name) => name !== 'takeSlot')[0]).toBe(first);
    }
  });

  it('does not prevent an attempt if the end of the overload could not be stored', async () => {
    const { done, deps } = deliverer({ endOverload: () => Promise.reject(new Error('throttled')) });
    expect(await deliver(message(), referred({ webhook: told }), deps)).toMatchObject({ task: 'send' });
    expect(done).toEqual(['takeSlot', 'webhook.overload_end_not_noted', 'post', 'record']);
  });
});
