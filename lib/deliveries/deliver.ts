import { isTest, type StoredEvent } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { Attempt } from './attempt.ts';
import { type Due, disablesWebhook, dueAfter, type Task, taskOf, type Verdict, verdictOn } from './decide.ts';
import { isSlower, type Lane, laneOf, paceAfter } from './lanes.ts';
import { type AttemptDeps, makeAttempt, notePace, type Sendable } from './make-attempt.ts';
import { type DeliveryMessage, nextMessage } from './messages.ts';
import {
  type Claim,
  type Failing,
  noteFailure,
  noteNoWait,
  noteOverload,
  noteSuccess,
  type OutageEmail,
  type OutageNotes,
  type OverloadNotes,
  sendOnce,
  WARNED_ATTEMPT,
} from './outage.ts';
import { queueDelay } from './queue-retry.ts';
import type { Turn } from './rate-limit.ts';
import { type DeliveredEvent, type DeliveryRecord, deliveredEvent } from './record.ts';

export interface DeliverDeps extends OutageNotes, OverloadNotes, AttemptDeps {
  /** Sends the next attempt to the queue or a schedule, at least once. */
  retry(message: DeliveryMessage, due: Due): Promise<void>;
  /** Forwards the message to a slower lane, at least once. */
  defer(message: DeliveryMessage, lane: Lane): Promise<void>;
  /** Takes a token of the webhook's rate limit for an attempt, or books a slot for it. */
  takeSlot(message: DeliveryMessage, maxPerSecond: number, isTest: boolean): Promise<Turn>;
  /** Returns the message to its queue for some seconds, at least once. */
  delay(message: DeliveryMessage, seconds: number): Promise<void>;
  /** `false`: another run of the message has recorded this attempt, or a newer run has begun. */
  record(message: DeliveryMessage, event: StoredEvent, attempt: Attempt, verdict: Verdict): Promise<boolean>;
  /** Records that the retry of the last attempt is queued. */
  markRetried(message: DeliveryMessage): Promise<void>;
  /** Records the last attempt, and disables the webhook unless it is disabled. */
  exhaust(message: DeliveryMessage, event: StoredEvent, attempt: Attempt, nowMs: number): Promise<Exhausted>;
  /** Ends the run without an attempt, unless it has moved on. */
  end(
    message: DeliveryMessage,
    event: DeliveredEvent,
    status: 'canceled' | 'skipped' | 'failed',
    nowMs: number,
  ): Promise<void>;
  /** The email about a disabled webhook. */
  disabledEmail: OutageEmail;
  /** The warning that a webhook will be disabled. */
  warningEmail: OutageEmail;
}

/** The outcome of the last attempt of a run. */
export interface Exhausted {
  /** `false`: another run of the message has recorded this attempt, or a newer run has begun. */
  isRecorded: boolean;
  /** This delivery disabled the webhook, in this or another run, and the email about it may not be sent. */
  isEmailPending: boolean;
}

/** The stored data that a message refers to. */
export interface DeliveryContext {
  webhook: WebhookRecord | undefined;
  event: StoredEvent | undefined;
  delivery: DeliveryRecord | undefined;
  /** Whether the project is suspended. */
  isSuspended?: boolean;
}
type Found = DeliveryContext & Sendable;

/**
 * The result of a message: a task without an attempt, or an attempt that this or another run recorded. `delay`: the rate limit
 * of the webhook allows the attempt later. `overload`: so late that the delivery was skipped. After `wait` the message must be
 * received again.
 */
export type DeliverResult =
  | { task: Exclude<Task, 'send'> | 'delay' | 'overload' | 'wait' }
  | { task: 'send' | 'wait'; attempt: Attempt; verdict: Verdict; disabled: boolean; isRecorded: boolean };

/**
 * Handles one message. The order of effects prevents losses: POST, record the attempt with its retry pending, queue the retry,
 * clear the flag. A crash in between repeats work and drops none. A recorded attempt is not sent again. Of two copies of a
 * message, the one that records the attempt continues, and the other is received again. Only internal failures throw, and then
 * the message is received again with the same attempt number.
 */
export async function deliver(
  message: DeliveryMessage,
  context: DeliveryContext,
  deps: DeliverDeps,
): Promise<DeliverResult> {
  const { webhook, event, delivery } = context;
  if (!webhook) return { task: 'drop' };
  const now = deps.clock();
  if (!event) {
    if (delivery) await deps.end(message, deliveredEvent(delivery), 'failed', now); // it expired during the run
    return { task: 'drop' };
  }
  const lane = laneOf(webhook, now);
  const isDeferred = isSlower(lane, deps.lane);
  const attempts = delivery?.attempts ?? [];
  const task = taskOf(message, webhook, delivery, isTest(event), isDeferred, context.isSuspended);
  switch (task) {
    case 'send': {
      const turn = webhook.maxPerSecond && (await deps.takeSlot(message, webhook.maxPerSecond, isTest(event)));
      if (turn === 'skip') {
        await deps.end(message, event, 'skipped', deps.clock());
        await noteOverload(message, webhook, event, deps);
        return { task: 'overload' };
      }
      if (turn) {
        await deps.delay({ ...message, slot: turn.slot }, queueDelay(dueAfter(turn.untilMs, deps.clock())));
        return { task: 'delay' };
      }
      await noteNoWait(message, webhook, event, deps);
      return send(message, { webhook, event, delivery }, deps);
    }
    case 'cancel':
      await deps.end(message, event, 'canceled', now);
      break;
    case 'skip':
      await deps.end(message, event, 'skipped', now);
      break;
    case 'defer':
      await deps.defer(message, lane);
      break;
    case 'requeue': {
      const due = dueAfter(delivery?.nextAttemptAt ?? 0, now);
      const claim = await requeue(message, due, { webhook, event, attempts }, deps);
      return { task: claim === 'busy' ? 'wait' : task };
    }
    case 'notify': {
      const claim = await emailAbout(deps.disabledEmail, message, { webhook, event, attempts }, deps);
      return { task: claim === 'busy' ? 'wait' : task };
    }
  }
  return { task };
}

async function send(message: DeliveryMessage, found: Found, deps: DeliverDeps): Promise<DeliverResult> {
  const made = await makeAttempt(message, found, deps);
  if (!made) {
    await deps.defer(message, 'slow');
    return { task: 'defer' };
  }
  const result = await conclude(message, found, made.attempt, deps);
  await notePace(message, paceAfter(found.webhook, made.waitedMs, deps.clock()), deps);
  return result;
}

async function conclude(
  message: DeliveryMessage,
  { webhook, event, delivery }: Found,
  attempt: Attempt,
  deps: DeliverDeps,
): Promise<DeliverResult> {
  const verdict = verdictOn(attempt, isTest(event));
  const failing = { webhook, event, attempts: [...(delivery?.attempts ?? []), attempt] };
  if (disablesWebhook(verdict, isTest(event))) {
    const { isRecorded, isEmailPending } = await deps.exhaust(message, event, attempt, deps.clock());
    const claim = isEmailPending ? await emailAbout(deps.disabledEmail, message, failing, deps) : undefined;
    const disabled = isRecorded && isEmailPending;
    return { task: claim === 'busy' ? 'wait' : 'send', attempt, verdict, disabled, isRecorded };
  }
  const isRecorded = await deps.record(message, event, attempt, verdict);
  const claim =
    isRecorded && verdict.status === 'retrying' ? await requeue(message, verdict, failing, deps) : undefined;
  if (verdict.status === 'succeeded' && !isTest(event)) await noteSuccess(message, webhook, attempt, deps);
  // The run that recorded it may have crashed since. The remaining work follows from the stored record, not from this attempt.
  const isOpen = !isRecorded || claim === 'busy';
  return { task: isOpen ? 'wait' : 'send', attempt, verdict, disabled: false, isRecorded };
}

// The retry is queued before other steps that can fail. Failed steps are repeated with it until the flag is cleared.
async function requeue(
  message: DeliveryMessage,
  due: Due,
  failing: Failing,
  deps: DeliverDeps,
): Promise<Claim | undefined> {
  await deps.retry(nextMessage(message), due);
  const last = failing.attempts.at(-1);
  if (last) await noteFailure(message, failing.webhook, last, deps);
  const claim =
    message.attempt === WARNED_ATTEMPT ? await emailAbout(deps.warningEmail, message, failing, deps) : undefined;
  if (claim !== 'busy') await deps.markRetried(message);
  return claim;
}

const emailAbout = (
  email: OutageEmail,
  message: DeliveryMessage,
  failing: Failing,
  deps: DeliverDeps,
): Promise<Claim> =>
  sendOnce(message, { ...failing, attempts: failing.attempts.slice(-message.attempt) }, email, deps.clock);
