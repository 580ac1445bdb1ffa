import { isTest, type StoredEvent } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { type Attempt, isSuccess } from './attempt.ts';
import { isSlower, type Lane, laneOf } from './lanes.ts';
import type { DeliveryMessage, SkipReason } from './messages.ts';
import { type DeliveryRecord, type RunId, runKey } from './record.ts';
import { type DeliveryReason, type Due, dueAfter, isUnderWay, retryAfter } from './retry-schedule.ts';

/** The stored data that a message refers to. */
export interface DeliveryContext {
  webhook: WebhookRecord | undefined;
  event: StoredEvent | undefined;
  delivery: DeliveryRecord | undefined;
  /** Whether the project is suspended. */
  isSuspended: boolean;
}

/** A message whose webhook and event exist, with the recorded attempts of its delivery. */
export interface Found {
  message: DeliveryMessage;
  webhook: WebhookRecord;
  event: StoredEvent;
  attempts: readonly Attempt[];
}

/**
 * The steps that remain after an attempt was recorded. `requeue`: its retry may not be queued. `notify`: it disabled the webhook,
 * but the email about it may not be sent.
 */
export type Remaining = { task: 'requeue'; due: Due } | { task: 'notify' };

/** How a run ends without another attempt. It fails if its event expired. */
export type RunEnd =
  | { status: 'failed'; reason?: undefined }
  | { status: 'canceled' | 'skipped'; reason: DeliveryReason };

/** Why a disabled webhook receives nothing: a person paused it, or failures disabled it. */
export const skipReasonOf = ({ disabledReason }: Pick<WebhookRecord, 'disabledReason'>): SkipReason =>
  disabledReason === 'paused' ? 'paused' : 'disabled';

/**
 * The task of a message. `drop`: nothing is left to do. `end`: the run ends without another attempt. `defer`: the endpoint belongs
 * in a slower lane. `send`: make the attempt.
 */
export type Task =
  | { task: 'drop' }
  | { task: 'end'; as: RunEnd }
  | { task: 'defer'; lane: Lane }
  | { task: 'send'; found: Found }
  | (Remaining & { found: Found });

/** Derives the task of a message from the stored data. `lane` is the lane of the function. */
export function taskOf({
  message,
  context: { webhook, event, delivery, isSuspended },
  lane,
  nowMs,
}: {
  message: DeliveryMessage;
  context: DeliveryContext;
  lane: Lane;
  nowMs: number;
}): Task {
  if (!webhook) return { task: 'drop' };
  if (!event) return delivery ? { task: 'end', as: { status: 'failed' } } : { task: 'drop' }; // the event expired
  const found = { message, webhook, event, attempts: delivery?.attempts ?? [] };
  if (delivery && isRecorded(message, delivery)) {
    if (!isLastOf(message, delivery)) return { task: 'drop' };
    if (delivery.retryPending) return { task: 'requeue', found, due: dueAfter(delivery.nextAttemptAt ?? 0, nowMs) };
    return isEmailPending(message, webhook) ? { task: 'notify', found } : { task: 'drop' };
  }
  const isStarted = message.run > 0 || message.attempt > 1;
  if (isSuspended) return { task: 'end', as: { status: isStarted ? 'canceled' : 'skipped', reason: 'suspended' } };
  if (webhook.status === 'disabled' && !isTest(event))
    return { task: 'end', as: { status: 'canceled', reason: skipReasonOf(webhook) } };
  const laneOfEndpoint = laneOf(webhook, nowMs);
  return isSlower(laneOfEndpoint, lane) ? { task: 'defer', lane: laneOfEndpoint } : { task: 'send', found };
}

const isLastOf = (message: DeliveryMessage, { run, attempt }: DeliveryRecord): boolean =>
  run === message.run && attempt === message.attempt;

function isRecorded(message: DeliveryMessage, delivery: DeliveryRecord): boolean {
  if (delivery.run !== message.run) return delivery.run > message.run;
  // `skipped` and `canceled` end a run without an attempt of that number.
  return delivery.attempt >= message.attempt || !isUnderWay(delivery.status);
}

/** The consequence of an attempt. */
export type Verdict = { status: 'succeeded' } | ({ status: 'retrying' } & Due) | { status: 'failed' };

/** A 2xx response is a success. Every other outcome is retried on schedule up to the sixth attempt. A test event has one attempt. */
export function verdictOn(attempt: Attempt, event: StoredEvent): Verdict {
  if (isSuccess(attempt)) return { status: 'succeeded' };
  const due = isTest(event) ? undefined : retryAfter(attempt.number, attempt.at + attempt.durationMs);
  return due ? { status: 'retrying', ...due } : { status: 'failed' };
}

/*
 * The failure of the sixth attempt disables the webhook. Of several deliveries that fail, only the first one changes the webhook
 * (`recordLastFailure` in endpoint-store.ts), and only its run sends the email.
 */

/** Whether the outcome of an attempt disables the webhook. A failed test event does not. */
export const disablesWebhook = ({ status }: Verdict, event: StoredEvent): boolean =>
  status === 'failed' && !isTest(event);

/** This run disabled the webhook, and the email about it may not be sent. */
export const isEmailPending = (run: RunId, { disabledBy, emailedAt }: WebhookRecord): boolean =>
  disabledBy === runKey(run) && emailedAt === undefined;
