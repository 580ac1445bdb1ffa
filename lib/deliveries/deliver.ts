import { isTest, type StoredEvent } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { WebhookState } from '../webhooks/webhook-emails.ts';
import { type Attempt, keptHeaders, postOf } from './attempt.ts';
import type { Batch } from './batch.ts';
import { disablesWebhook, type Task, taskOf, type Verdict, verdictOn } from './decide.ts';
import type { Claim } from './endpoint-store.ts';
import { isSlower, laneOf, overdueAfterMs, paceAfter, SUSPECT_AFTER_MS } from './lanes.ts';
import { type DeliveryMessage, nextMessage } from './messages.ts';
import type { Failing } from './notification.ts';
import {
  noteFailure,
  noteNoWait,
  noteOverdue,
  noteOverload,
  notePace,
  noteSuccess,
  sendOnce,
  WARNED_ATTEMPT,
} from './outage.ts';
import { type Due, dueAfter, MAX_QUEUE_DELAY_SECONDS } from './retry-schedule.ts';
import type { DeliveryContext } from './store.ts';

/** The stored data of a message whose webhook and event exist. */
type Found = DeliveryContext & { webhook: WebhookRecord; event: StoredEvent };

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
  batch: Batch,
): Promise<DeliverResult> {
  const { webhook, event, delivery } = context;
  const { store } = batch;
  if (!webhook) return { task: 'drop' };
  const now = batch.clock();
  if (!event) {
    if (delivery) await store.end(message, undefined, 'failed', now); // it expired during the run
    return { task: 'drop' };
  }
  const lane = laneOf(webhook, now);
  const isDeferred = isSlower(lane, batch.lane);
  const task = taskOf(message, webhook, delivery, isTest(event), isDeferred, context.isSuspended);
  switch (task) {
    case 'send': {
      const turn = webhook.maxPerSecond && (await batch.takeSlot(message, webhook.maxPerSecond, isTest(event)));
      if (turn === 'skip') {
        await store.end(message, event, 'skipped', batch.clock());
        await noteOverload(message, webhook, event, batch);
        return { task: 'overload' };
      }
      if (turn) {
        // After the maximum delay of a queue, the message waits again.
        const { delaySeconds } = dueAfter(turn.untilMs, batch.clock());
        await batch.send(
          batch.lane,
          [{ ...message, slot: turn.slot }],
          Math.min(delaySeconds, MAX_QUEUE_DELAY_SECONDS),
        );
        return { task: 'delay' };
      }
      await noteNoWait(message, webhook, event, batch);
      return send(message, { ...context, webhook, event }, batch);
    }
    case 'cancel':
      await store.end(message, event, 'canceled', now);
      break;
    case 'skip':
      await store.end(message, event, 'skipped', now);
      break;
    case 'defer':
      await batch.send(lane, [message]);
      break;
    case 'requeue':
    case 'notify': {
      const failing = { webhook, event, attempts: delivery?.attempts ?? [] };
      const due = dueAfter(delivery?.nextAttemptAt ?? 0, now);
      const finish =
        task === 'notify' ? emailAbout('disabled', message, failing, batch) : requeue(message, due, failing, batch);
      return { task: (await finish) === 'busy' ? 'wait' : task };
    }
  }
  return { task };
}

async function send(message: DeliveryMessage, found: Found, batch: Batch): Promise<DeliverResult> {
  const made = await makeAttempt(message, found, batch);
  if (!made) {
    await batch.send('slow', [{ ...message, requests: requestsOf(message) }]);
    return { task: 'defer' };
  }
  const result = await conclude(message, found, made.attempt, batch);
  await notePace(found.webhook, paceAfter(found.webhook, made.waitedMs, batch.clock()), batch);
  return result;
}

/** The requests of the attempt of a message, with the next one. */
const requestsOf = ({ requests = 0 }: DeliveryMessage): number => requests + 1;

/**
 * Makes the attempt of a message. Returns `null` if it was overdue and must leave the quick lane. The slow lane then makes the
 * same attempt again, so the endpoint can receive it twice.
 */
async function makeAttempt(
  message: DeliveryMessage,
  { webhook, event }: Found,
  batch: Batch,
): Promise<{ attempt: Attempt; waitedMs: number } | null> {
  const { attempt: number, trigger } = message;
  const at = batch.clock();
  const request = postOf(number, webhook, event, at);
  const leaving = new AbortController();
  const { signal } = leaving;
  const leave = () => batch.lane === 'quick' && leaving.abort();
  let noted: Promise<unknown> | undefined;
  const tick = (waitedMs: number) => {
    if (waitedMs === overdueAfterMs(batch.lane))
      noted = noteOverdue(webhook, batch).then((isFirst) => isFirst || leave());
    else if (waitedMs === SUSPECT_AFTER_MS) leave();
  };
  const timed = await batch.post(request, { tick, signal }).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  await noted;
  if (!timed) return null;
  const { waitedMs, ...outcome } = timed;
  const sent = keptHeaders(request, webhook);
  const requests = requestsOf(message);
  return { waitedMs, attempt: { number, trigger, at, requests, ...outcome, url: request.url, sent } };
}

async function conclude(
  message: DeliveryMessage,
  { webhook, event, delivery }: Found,
  attempt: Attempt,
  batch: Batch,
): Promise<DeliverResult> {
  const verdict = verdictOn(attempt, isTest(event));
  const failing = { webhook, event, attempts: [...(delivery?.attempts ?? []), attempt] };
  if (disablesWebhook(verdict, isTest(event))) {
    const { isRecorded, isEmailPending } = await batch.store.exhaust(webhook, message, event, attempt, batch.clock());
    const claim = isEmailPending ? await emailAbout('disabled', message, failing, batch) : undefined;
    const disabled = isRecorded && isEmailPending;
    return { task: claim === 'busy' ? 'wait' : 'send', attempt, verdict, disabled, isRecorded };
  }
  const isRecorded = await batch.store.record(message, event, attempt, verdict);
  const claim =
    isRecorded && verdict.status === 'retrying' ? await requeue(message, verdict, failing, batch) : undefined;
  if (verdict.status === 'succeeded' && !isTest(event)) await noteSuccess(webhook, attempt, batch);
  // The run that recorded it may have crashed since. The remaining work follows from the stored record, not from this attempt.
  const isOpen = !isRecorded || claim === 'busy';
  return { task: isOpen ? 'wait' : 'send', attempt, verdict, disabled: false, isRecorded };
}

// The retry is queued before other steps that can fail. Failed steps are repeated with it until the flag is cleared.
async function requeue(message: DeliveryMessage, due: Due, failing: Failing, batch: Batch): Promise<Claim | undefined> {
  await batch.retry(nextMessage(message), due);
  const last = failing.attempts.at(-1);
  if (last) await noteFailure(failing.webhook, last, batch);
  const claim = message.attempt === WARNED_ATTEMPT ? await emailAbout('failing', message, failing, batch) : undefined;
  if (claim !== 'busy') await batch.store.markRetried(message);
  return claim;
}

const emailAbout = (what: WebhookState, message: DeliveryMessage, failing: Failing, batch: Batch): Promise<Claim> =>
  sendOnce(what, message, { ...failing, attempts: failing.attempts.slice(-message.attempt) }, batch);
