import { isTest } from '../events/event.ts';
import { type Attempt, keptHeaders, type Post, postOf, type TimedOutcome, type Watch } from './attempt.ts';
import { type Task, taskOf, type Verdict, verdictOn } from './decide.ts';
import { disablesWebhook } from './disabling.ts';
import type { Claim } from './endpoint-store.ts';
import { isSlower, type Lane, laneOf, overdueAfterMs, paceAfter, SUSPECT_AFTER_MS } from './lanes.ts';
import { type DeliveryMessage, nextMessage } from './messages.ts';
import type { Failing, WebhookState } from './notification.ts';
import {
  noteFailure,
  noteNoWait,
  noteOverdue,
  noteOverload,
  notePace,
  noteSuccess,
  type OutageDeps,
  sendOnce,
  WARNED_ATTEMPT,
} from './outage.ts';
import type { Forwarding } from './queue-store.ts';
import type { Turn } from './rate-limit.ts';
import { deliveredEvent } from './record.ts';
import { type Due, dueAfter } from './retry-schedule.ts';
import type { Deliveries, DeliveryContext } from './store.ts';

export interface DeliverDeps extends OutageDeps {
  store: OutageDeps['store'] & Omit<Deliveries, 'loadContexts'>;
  lane: Lane;
  /** Rejects if the signal ends the attempt. */
  post(request: Post, watch: Watch): Promise<TimedOutcome>;
  queues: Forwarding;
  /** Takes a token of the webhook's rate limit for an attempt, or books a slot for it. */
  takeSlot(message: DeliveryMessage, maxPerSecond: number, isTest: boolean): Promise<Turn>;
}

/** The stored data of a message whose webhook and event exist. */
type Found = DeliveryContext & Pick<Failing, 'webhook' | 'event'>;

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
  const { store, queues } = deps;
  if (!webhook) return { task: 'drop' };
  const now = deps.clock();
  if (!event) {
    if (delivery) await store.end(message, deliveredEvent(delivery), 'failed', now); // it expired during the run
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
        await store.end(message, event, 'skipped', deps.clock());
        await noteOverload(message, webhook, event, deps);
        return { task: 'overload' };
      }
      if (turn) {
        await queues.delay({ ...message, slot: turn.slot }, dueAfter(turn.untilMs, deps.clock()));
        return { task: 'delay' };
      }
      await noteNoWait(message, webhook, event, deps);
      return send(message, { ...context, webhook, event }, deps);
    }
    case 'cancel':
      await store.end(message, event, 'canceled', now);
      break;
    case 'skip':
      await store.end(message, event, 'skipped', now);
      break;
    case 'defer':
      await queues.defer(message, lane);
      break;
    case 'requeue': {
      const due = dueAfter(delivery?.nextAttemptAt ?? 0, now);
      const claim = await requeue(message, due, { webhook, event, attempts }, deps);
      return { task: claim === 'busy' ? 'wait' : task };
    }
    case 'notify': {
      const claim = await emailAbout('disabled', message, { webhook, event, attempts }, deps);
      return { task: claim === 'busy' ? 'wait' : task };
    }
  }
  return { task };
}

async function send(message: DeliveryMessage, found: Found, deps: DeliverDeps): Promise<DeliverResult> {
  const made = await makeAttempt(message, found, deps);
  if (!made) {
    await deps.queues.defer(message, 'slow');
    return { task: 'defer' };
  }
  const result = await conclude(message, found, made.attempt, deps);
  await notePace(found.webhook, paceAfter(found.webhook, made.waitedMs, deps.clock()), deps);
  return result;
}

/**
 * Makes the attempt of a message. Returns `null` if it was overdue and must leave the quick lane. The slow lane then makes the
 * same attempt again, so the endpoint can receive it twice.
 */
async function makeAttempt(
  { attempt: number, trigger }: DeliveryMessage,
  { webhook, event }: Found,
  deps: DeliverDeps,
): Promise<{ attempt: Attempt; waitedMs: number } | null> {
  const at = deps.clock();
  const request = postOf(number, webhook, event, at);
  const leaving = new AbortController();
  const { signal } = leaving;
  const leave = () => deps.lane === 'quick' && leaving.abort();
  let noted: Promise<unknown> | undefined;
  const tick = (waitedMs: number) => {
    if (waitedMs === overdueAfterMs(deps.lane))
      noted = noteOverdue(webhook, deps).then((isFirst) => isFirst || leave());
    else if (waitedMs === SUSPECT_AFTER_MS) leave();
  };
  const timed = await deps.post(request, { tick, signal }).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  await noted;
  if (!timed) return null;
  const { waitedMs, ...outcome } = timed;
  const sent = keptHeaders(request, webhook);
  return { waitedMs, attempt: { number, trigger, at, ...outcome, url: request.url, sent } };
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
    const { isRecorded, isEmailPending } = await deps.store.exhaust(webhook, message, event, attempt, deps.clock());
    const claim = isEmailPending ? await emailAbout('disabled', message, failing, deps) : undefined;
    const disabled = isRecorded && isEmailPending;
    return { task: claim === 'busy' ? 'wait' : 'send', attempt, verdict, disabled, isRecorded };
  }
  const isRecorded = await deps.store.record(message, event, attempt, verdict);
  const claim =
    isRecorded && verdict.status === 'retrying' ? await requeue(message, verdict, failing, deps) : undefined;
  if (verdict.status === 'succeeded' && !isTest(event)) await noteSuccess(webhook, attempt, deps);
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
  await deps.queues.retry(nextMessage(message), due);
  const last = failing.attempts.at(-1);
  if (last) await noteFailure(failing.webhook, last, deps);
  const claim = message.attempt === WARNED_ATTEMPT ? await emailAbout('failing', message, failing, deps) : undefined;
  if (claim !== 'busy') await deps.store.markRetried(message);
  return claim;
}

const emailAbout = (
  what: WebhookState,
  message: DeliveryMessage,
  failing: Failing,
  deps: DeliverDeps,
): Promise<Claim> => sendOnce(what, message, { ...failing, attempts: failing.attempts.slice(-message.attempt) }, deps);
