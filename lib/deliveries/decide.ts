import type { WebhookRecord } from '../webhooks/webhook.ts';
import { type Attempt, isSuccess } from './attempt.ts';
import type { DeliveryMessage } from './messages.ts';
import { type DeliveryRecord, type RunId, runKey } from './record.ts';
import { type Due, isUnderWay, retryAfter } from './retry-schedule.ts';

/**
 * The task of a message, derived from the stored data. `drop`: nothing is left to do. `requeue`: the attempt is recorded, but its
 * retry may not be queued. `cancel`: the webhook is disabled, or the project is suspended. `skip`: the project is suspended, and
 * nothing was sent of the event. `notify`: the delivery disabled the webhook, but its email may not be sent. `defer`: the endpoint
 * belongs in a slower lane. `send`: make the attempt.
 */
export type Task = 'drop' | 'requeue' | 'cancel' | 'skip' | 'notify' | 'defer' | 'send';

export function taskOf(
  message: DeliveryMessage,
  webhook: WebhookRecord,
  delivery: DeliveryRecord | undefined,
  isTest: boolean,
  isDeferred: boolean,
  isSuspended = false,
): Task {
  if (delivery && isRecorded(message, delivery)) {
    // The attempt of this message is recorded, but its retry may not be queued.
    if (isLastOf(message, delivery) && delivery.retryPending) return 'requeue';
    return isLastOf(message, delivery) && isEmailOwed(message, webhook) ? 'notify' : 'drop';
  }
  if (isSuspended) return message.run === 0 && message.attempt === 1 ? 'skip' : 'cancel';
  if (webhook.status === 'disabled' && !isTest) return 'cancel';
  return isDeferred ? 'defer' : 'send';
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
export function verdictOn(attempt: Attempt, isTest: boolean): Verdict {
  if (isSuccess(attempt)) return { status: 'succeeded' };
  const due = isTest ? undefined : retryAfter(attempt.number, attempt.at + attempt.durationMs);
  return due ? { status: 'retrying', ...due } : { status: 'failed' };
}

/*
 * The failure of the sixth attempt disables the webhook. Of several deliveries that fail, only the first one changes the webhook
 * (`exhaust` in endpoint-store.ts), and only its run sends the email.
 */

/** Whether the outcome of an attempt disables the webhook. A failed test event does not. */
export const disablesWebhook = ({ status }: Verdict, isTest: boolean): boolean => status === 'failed' && !isTest;

/** This run disabled the webhook, and the email about it may not be sent. */
export const isEmailOwed = (run: RunId, { disabledBy, emailedAt }: WebhookRecord): boolean =>
  disabledBy === runKey(run) && emailedAt === undefined;
