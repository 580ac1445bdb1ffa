import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../../lib/deliveries/attempt.ts';
import type { DeliveryRecord } from '../../../lib/deliveries/record.ts';
import {
  dueAfter,
  isEmailOwed,
  isRetryPending,
  type Task,
  taskOf,
  type Verdict,
  verdictOn,
} from '../../../lib/delivery/decide.ts';
import type { DeliveryMessage } from '../../../lib/delivery/messages.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhooks.ts';
import { attempt, message, now, record, webhook } from './builders.ts';

const MINUTE_S = 60;
const HOUR_S = 3600;

describe('a message', () => {
  const disabled = { status: 'disabled' } as const;
  /** Disabled by the first run of this delivery; its email is not marked as sent. */
  const disabledByThis = { ...disabled, disabledBy: 'evt_1#0' };
  const failed = { status: 'failed', attempt: 6 } as const;

  interface Given {
    message?: Partial<DeliveryMessage>;
    webhook?: Partial<WebhookRecord>;
    /** Absent: nothing is recorded yet. */
    delivery?: Partial<DeliveryRecord>;
    isTest?: boolean;
    isDeferred?: boolean;
  }
  const decide = ({ message: asked, webhook: hook, delivery, isTest = false, isDeferred = false }: Given): Task =>
    taskOf(message(asked), webhook(hook), delivery && record(delivery), isTest, isDeferred);

  it.each<[string, Given, Task]>([
    // Nothing of it is recorded.
    ['that is the first is sent', {}, 'send'],
    ['whose endpoint belongs in a slower lane is handed there', { isDeferred: true }, 'defer'],
    ['of a disabled webhook is canceled', { webhook: disabled }, 'cancel'],
    ['of a disabled webhook is canceled, whatever its lane', { webhook: disabled, isDeferred: true }, 'cancel'],
    ['that is a test is sent to a disabled webhook too', { webhook: disabled, isTest: true }, 'send'],
    ['that is a test has lanes too', { webhook: disabled, isTest: true, isDeferred: true }, 'defer'],
    // The attempt before it is recorded.
    ['that is the retry of the last attempt is sent', { message: { attempt: 2 }, delivery: {} }, 'send'],
    [
      'that arrived before its pending flag was cleared is sent',
      { message: { attempt: 2 }, delivery: { retryPending: true } },
      'send',
    ],
    [
      'that is a retry may be handed to a slower lane',
      { message: { attempt: 2 }, delivery: {}, isDeferred: true },
      'defer',
    ],
    [
      'that is a retry of a webhook disabled since is canceled',
      { message: { attempt: 2 }, webhook: disabled, delivery: {} },
      'cancel',
    ],
    // Its own attempt is recorded.
    ['that came twice is dropped', { delivery: {} }, 'drop'],
    ['that came twice is dropped, not handed on', { delivery: {}, isDeferred: true }, 'drop'],
    ['that came twice is dropped, even if its webhook is disabled since', { webhook: disabled, delivery: {} }, 'drop'],
    ['that succeeded is dropped', { delivery: { status: 'succeeded' } }, 'drop'],
    ['whose retry may not be queued queues it', { delivery: { retryPending: true } }, 'requeue'],
    [
      'whose retry may not be queued queues it, even if its webhook is disabled since',
      { webhook: disabled, delivery: { retryPending: true } },
      'requeue',
    ],
    ['that a later attempt has overtaken is dropped', { delivery: { attempt: 2, retryPending: true } }, 'drop'],
    // Its run ended without an attempt of that number.
    ['of a canceled run is dropped', { message: { attempt: 3 }, delivery: { status: 'canceled', attempt: 1 } }, 'drop'],
    ['of a skipped delivery is dropped', { delivery: { status: 'skipped', attempt: 0 } }, 'drop'],
    // Runs.
    ['of a redelivery is sent', { message: { run: 1 }, delivery: failed }, 'send'],
    [
      'of a redelivery of a skipped delivery is sent',
      { message: { run: 1 }, delivery: { status: 'skipped', attempt: 0 } },
      'send',
    ],
    [
      'of a redelivery does not queue the retry of the run before',
      { message: { run: 1 }, delivery: { retryPending: true } },
      'send',
    ],
    ['of an earlier run is dropped', { message: { attempt: 2 }, delivery: { run: 1, attempt: 1 } }, 'drop'],
    ['of an earlier run does not queue the retry of a newer one', { delivery: { run: 1, retryPending: true } }, 'drop'],
    // The sixth failure.
    [
      'that disabled its webhook sends the email',
      { message: { attempt: 6 }, webhook: disabledByThis, delivery: failed },
      'notify',
    ],
    [
      'that disabled its webhook sends one email',
      { message: { attempt: 6 }, webhook: { ...disabledByThis, emailedAt: now }, delivery: failed },
      'drop',
    ],
    [
      'whose webhook another delivery disabled leaves the email to it',
      { message: { attempt: 6 }, webhook: { ...disabled, disabledBy: 'evt_2#0' }, delivery: failed },
      'drop',
    ],
    [
      'whose webhook another run disabled leaves the email to it',
      { message: { attempt: 6 }, webhook: { ...disabled, disabledBy: 'evt_1#1' }, delivery: failed },
      'drop',
    ],
    [
      'that is not the last of its run leaves the email to that one',
      { message: { attempt: 5 }, webhook: disabledByThis, delivery: failed },
      'drop',
    ],
    [
      'whose webhook its owner paused has no email',
      { message: { attempt: 6 }, webhook: disabled, delivery: failed },
      'drop',
    ],
  ])('%s', (_, given, task) => {
    expect(decide(given)).toBe(task);
  });
});

describe('an attempt', () => {
  const failed = { status: 'failed' } as const;
  const at = now;
  const durationMs = 250;
  const retryAfter = (delaySeconds: number): Verdict => ({
    status: 'retrying',
    delaySeconds,
    dueAt: at + durationMs + delaySeconds * 1000, // from its end, not its start
  });

  it.each<[number, Verdict]>([
    [1, retryAfter(MINUTE_S)],
    [2, retryAfter(5 * MINUTE_S)],
    [3, retryAfter(30 * MINUTE_S)],
    [4, retryAfter(2 * HOUR_S)],
    [5, retryAfter(12 * HOUR_S)],
    [6, failed],
  ])('number %i that fails is followed by the next one on schedule, the sixth by none', (number, verdict) => {
    expect(verdictOn(attempt({ number, at, durationMs }), false)).toEqual(verdict);
  });

  it.each<[number | null, Verdict['status']]>([
    [100, 'retrying'],
    [199, 'retrying'],
    [200, 'succeeded'],
    [204, 'succeeded'],
    [299, 'succeeded'],
    [300, 'retrying'],
    [301, 'retrying'],
    [400, 'retrying'],
    [410, 'retrying'],
    [429, 'retrying'],
    [500, 'retrying'],
    [null, 'retrying'],
  ])('with status code %s is %s: 2xx alone is success', (statusCode, status) => {
    expect(verdictOn(attempt({ statusCode }), false).status).toBe(status);
  });

  it.each<[string, Partial<Attempt>, Verdict['status']]>([
    ['the sixth may still succeed', { number: 6, statusCode: 200 }, 'succeeded'],
    [
      'the status code decides, not what else went wrong',
      { statusCode: 200, error: 'response_truncated' },
      'succeeded',
    ],
    ['no status code is a failure without an error too', { statusCode: null, error: null }, 'retrying'],
  ])('%s', (_, overrides, status) => {
    expect(verdictOn(attempt(overrides), false).status).toBe(status);
  });

  it.each<[number | null, Verdict]>([
    [204, { status: 'succeeded' }],
    [500, failed],
    [null, failed],
  ])('of a test event with status code %s has no retry', (statusCode, verdict) => {
    expect(verdictOn(attempt({ statusCode }), true)).toEqual(verdict);
  });

  it('that succeeded says no more than that', () => {
    expect(verdictOn(attempt({ statusCode: 200 }), false)).toEqual({ status: 'succeeded' });
  });
});

describe('a retry', () => {
  it.each<[string, Partial<DeliveryMessage>, Partial<DeliveryRecord>, boolean]>([
    ['is pending if its attempt is flagged', {}, { retryPending: true }, true],
    ['is not pending once the flag is cleared', {}, { retryPending: undefined }, false],
    ['is not pending if the flag says so', {}, { retryPending: false }, false],
    ['of an earlier attempt is not pending', {}, { attempt: 2, retryPending: true }, false],
    ['of an attempt not recorded yet is not pending', { attempt: 2 }, { retryPending: true }, false],
    ['of an earlier run is not pending', {}, { run: 1, retryPending: true }, false],
    ['of a later run is not pending', { run: 1 }, { retryPending: true }, false],
  ])('%s', (_, asked, delivery, expected) => {
    expect(isRetryPending(message(asked), record(delivery))).toBe(expected);
  });
});

describe('the email about a disabled webhook', () => {
  it.each<[string, Partial<DeliveryMessage>, Partial<WebhookRecord>, boolean]>([
    ['is owed by the delivery that disabled it', {}, { disabledBy: 'evt_1#0' }, true],
    ['is owed by that run', { run: 3 }, { disabledBy: 'evt_1#3' }, true],
    ['is not owed by another run', { run: 1 }, { disabledBy: 'evt_1#0' }, false],
    ['is not owed by another delivery', { eventId: 'evt_2' }, { disabledBy: 'evt_1#0' }, false],
    ['is not owed once it was sent', {}, { disabledBy: 'evt_1#0', emailedAt: now }, false],
    ['is owed while another run is sending it', {}, { disabledBy: 'evt_1#0', emailingUntil: now + 1 }, true],
    ['is not owed if no delivery disabled it', {}, {}, false],
  ])('%s', (_, asked, hook, expected) => {
    expect(isEmailOwed(message(asked), webhook(hook))).toBe(expected);
  });
});

describe('what is due', () => {
  it.each<[string, number, number]>([
    ['at once', now, 0],
    ['in the past, is due at once', now - 60_000, 0],
    ['in a millisecond, never comes early', now + 1, 1],
    ['in a second', now + 1000, 1],
    ['in a second and a bit', now + 1001, 2],
    ['in 12 hours', now + 12 * HOUR_S * 1000, 12 * HOUR_S],
  ])('%s', (_, dueAt, delaySeconds) => {
    expect(dueAfter(dueAt, now)).toEqual({ dueAt, delaySeconds });
  });
});
