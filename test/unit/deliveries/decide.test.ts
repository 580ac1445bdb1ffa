import { describe, expect, it } from 'vitest';
import { type Task, taskOf, type Verdict, verdictOn } from '../../../lib/deliveries/decide.ts';
import type { Lane } from '../../../lib/deliveries/lanes.ts';
import type { DeliveryMessage } from '../../../lib/deliveries/messages.ts';
import type { DeliveryRecord } from '../../../lib/deliveries/record.ts';
import { type DeliveryReason, dueAfter } from '../../../lib/deliveries/retry-schedule.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { attempt, event, message, now, record, webhook } from './builders.ts';

const MINUTE_S = 60;
const HOUR_S = 3600;

const disabled = { status: 'disabled' } as const;
/** Disabled by the first run of this delivery; its email is not marked as sent. */
const disabledByThis = { ...disabled, disabledBy: 'evt_1#0' };
const failed = { status: 'failed', attempt: 6 } as const;
const pending = { retryPending: true, nextAttemptAt: now + 60_000 };
const slow = { slowUntil: now + 1 };
const second = { attempt: 2 };
const FAIL = { task: 'end', as: { status: 'failed' } } as const;
const skip = (reason: DeliveryReason): Task => ({ task: 'end', as: { status: 'skipped', reason } });
const cancel = (reason: DeliveryReason): Task => ({ task: 'end', as: { status: 'canceled', reason } });
const REQUEUE = { task: 'requeue', due: { dueAt: now + 60_000, delaySeconds: 60 } } as const;
const exhausted = { message: { attempt: 6 }, delivery: failed };

interface Given {
  message?: Partial<DeliveryMessage>;
  /** `null`: it is deleted. */
  webhook?: Partial<WebhookRecord> | null;
  /** Absent: nothing is recorded yet. */
  delivery?: Partial<DeliveryRecord>;
  lane?: Lane;
  isTest?: boolean;
  hasExpired?: boolean;
  isSuspended?: boolean;
}
function decide({ lane = 'new', isTest = false, hasExpired = false, isSuspended = false, ...given }: Given): Task {
  const context = {
    webhook: given.webhook === null ? undefined : webhook(given.webhook),
    event: hasExpired ? undefined : event(isTest ? { webhookId: 'whk_1' } : {}),
    delivery: given.delivery && record(given.delivery),
    isSuspended,
  };
  return taskOf({ message: message(given.message), context, lane, nowMs: now });
}

it.each<[string, Given, Partial<Task> | Task['task']]>([
  // What it refers to does not exist.
  ['is dropped for a deleted webhook', { webhook: null, delivery: pending }, 'drop'],
  ['is dropped if its event expired before the first attempt', { hasExpired: true, webhook: disabled }, 'drop'],
  ['fails if its event expired during the run', { hasExpired: true, message: second, delivery: {} }, FAIL],
  // Nothing of it is recorded.
  ['is sent as the first attempt', {}, 'send'],
  ['is canceled for a disabled webhook in any lane', { webhook: { ...disabled, ...slow } }, cancel('disabled')],
  ['is canceled for a paused webhook', { webhook: { ...disabled, disabledReason: 'paused' } }, cancel('paused')],
  ['is forwarded to the lane of its endpoint', { lane: 'new', webhook: slow }, { task: 'defer', lane: 'slow' }],
  ['is sent in a slower lane', { lane: 'slow' }, 'send'],
  ['is forwarded to a slower lane as a test', { webhook: { ...disabled, ...slow }, isTest: true }, 'defer'],
  ['is skipped for a suspended project in any lane', { isSuspended: true, webhook: slow }, skip('suspended')],
  [
    'is skipped as a test of a suspended project',
    { isSuspended: true, isTest: true, webhook: disabled },
    skip('suspended'),
  ],
  [
    'is canceled as a retry of a suspended project',
    { isSuspended: true, message: second, delivery: {} },
    cancel('suspended'),
  ],
  [
    'is canceled as a redelivery of a suspended project',
    { isSuspended: true, message: { run: 1 } },
    cancel('suspended'),
  ],
  ['is dropped as a duplicate even if its project was suspended', { isSuspended: true, delivery: {} }, 'drop'],
  // The attempt before it is recorded.
  ['is sent if it arrived before its pending flag was cleared', { message: second, delivery: pending }, 'send'],
  // Its own attempt is recorded.
  ['is dropped as a duplicate even if its webhook was disabled', { webhook: disabled, delivery: {} }, 'drop'],
  ['is dropped after a success', { delivery: { status: 'succeeded' } }, 'drop'],
  ['queues its pending retry even if its webhook was disabled', { webhook: disabled, delivery: pending }, REQUEUE],
  ['is dropped after a later attempt', { delivery: { attempt: 2, retryPending: true } }, 'drop'],
  // Its run ended without an attempt of that number.
  ['is dropped for a canceled run', { message: { attempt: 3 }, delivery: { status: 'canceled' } }, 'drop'],
  // Runs.
  ['is sent for a redelivery', { message: { run: 1 }, delivery: failed }, 'send'],
  ['does not queue the retry of the previous run', { message: { run: 1 }, delivery: pending }, 'send'],
  ['is dropped for an earlier run', { message: second, delivery: { run: 1, attempt: 1 } }, 'drop'],
  ['does not queue the retry of a newer run', { delivery: { run: 1, retryPending: true } }, 'drop'],
  // The sixth failure.
  ['sends the email when it disabled its webhook', { ...exhausted, webhook: disabledByThis }, 'notify'],
  [
    'sends only one email when it disabled its webhook',
    { ...exhausted, webhook: { ...disabledByThis, emailedAt: now } },
    'drop',
  ],
  [
    'sends no email when another run disabled the webhook',
    { ...exhausted, webhook: { ...disabled, disabledBy: 'evt_1#1' } },
    'drop',
  ],
  [
    'sends no email before the last attempt of its run',
    { message: { attempt: 5 }, webhook: disabledByThis, delivery: failed },
    'drop',
  ],
])('a message %s', (_, given, expected) => {
  expect(decide(given)).toMatchObject(typeof expected === 'string' ? { task: expected } : expected);
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
  ])('number %i has a retry on schedule after a failure, except the sixth', (number, verdict) => {
    expect(verdictOn(attempt({ number, at, durationMs }), event())).toEqual(verdict);
  });

  it.each<[number | null, Verdict['status']]>([
    [199, 'retrying'],
    [200, 'succeeded'],
    [299, 'succeeded'],
    [300, 'retrying'],
    [null, 'retrying'],
  ])('with status code %s is %s, because only 2xx is a success', (statusCode, status) => {
    expect(verdictOn(attempt({ statusCode }), event()).status).toBe(status);
  });

  it('is a success by its status code, not by what else went wrong', () => {
    const verdict = verdictOn(attempt({ number: 6, statusCode: 200, error: 'response_truncated' }), event());
    expect(verdict).toEqual({ status: 'succeeded' });
  });

  it.each<[number | null, Verdict]>([
    [204, { status: 'succeeded' }],
    [500, failed],
  ])('has no retry for a test event with status code %s', (statusCode, verdict) => {
    expect(verdictOn(attempt({ statusCode }), event({ webhookId: 'whk_1' }))).toEqual(verdict);
  });
});

it.each<[string, number, number]>([
  ['is due immediately for a time in the past', now - 60_000, 0],
  ['is never early, in a millisecond', now + 1, 1],
  ['is rounded up after a second', now + 1001, 2],
  ['is due in 12 hours', now + 12 * HOUR_S * 1000, 12 * HOUR_S],
])('the next attempt %s', (_, dueAt, delaySeconds) => {
  expect(dueAfter(dueAt, now)).toEqual({ dueAt, delaySeconds });
});
