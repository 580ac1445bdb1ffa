import { isTest } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { keptHeaders, postOf } from './attempt.ts';
import { type DeliveryContext, disablesWebhook, type Found, taskOf, verdictOn } from './decide.ts';
import { laneOf, overdueAfterMs, paceAfter, SUSPECT_AFTER_MS, SUSPECT_FOR_MS } from './lanes.ts';
import { type DeliveryMessage, nextMessage } from './messages.ts';
import { emailOnce } from './notify.ts';
import { endsOutage, endsOverload, isWarned, startsOutage, startsOverload } from './outage.ts';
import { dueAfter, MAX_QUEUE_DELAY_SECONDS } from './retry-schedule.ts';
import type { Delivering, DeliverResult, Made, Reason, Recorded } from './stages.ts';

/**
 * Handles one message, in the order that prevents losses: POST → record the attempt with its retry pending → queue the retry →
 * clear the flag. A crash in between repeats work and drops none. A recorded attempt is not made again. Only internal failures
 * throw, and then the message is received again with the same attempt number.
 */
export async function deliver(
  message: DeliveryMessage,
  context: DeliveryContext,
  use: Delivering,
): Promise<DeliverResult> {
  const nowMs = use.clock();
  const task = taskOf({ message, context, lane: use.lane, nowMs });
  switch (task.task) {
    case 'drop':
      return notAttempted('drop');
    case 'end':
      await use.deliveries.endRun(message, context.event, task.as, nowMs);
      return notAttempted(REASONS[task.as.status]);
    case 'defer':
      await use.send(task.lane, [message]);
      return notAttempted('defer');
    case 'requeue':
    case 'notify':
      return (await finish(task.found, task, use)) === 'again' ? { kind: 'again' } : notAttempted(task.task);
    case 'send':
      return makeAttempt(task.found, use);
  }
}

const REASONS = { failed: 'drop', canceled: 'cancel', skipped: 'skip' } as const;

const notAttempted = (reason: Reason): DeliverResult => ({ kind: 'notAttempted', reason });

/** Makes the attempt of a message, stage by stage. */
async function makeAttempt(found: Found, use: Delivering): Promise<DeliverResult> {
  const admission = await admit(found, use);
  if (admission !== 'admitted') return notAttempted(admission);
  const made = await post(found, use);
  if (!made) return notAttempted('defer');
  const recorded = await record(made, use);
  const end = await finish(recorded, recorded.remaining, use);
  await noteOutcome(made, use);
  return { kind: end === 'again' ? 'again' : 'attempted', recorded };
}

/**
 * Applies the rate limit of the webhook: a message without a token waits, or its delivery is skipped. After a crash, its token or
 * slot is lost, and it takes another one.
 */
async function admit(found: Found, use: Delivering): Promise<'admitted' | 'delay' | 'overload'> {
  const { message, webhook, event } = found;
  const request = { slot: message.slot, isTest: isTest(event), isRecovery: message.trigger === 'recovery' };
  const turn = webhook.maxPerSecond && (await use.takeSlot(webhook.id, webhook.maxPerSecond, request));
  if (turn === 'skip') {
    await use.deliveries.endRun(message, event, { status: 'skipped', reason: 'rate_limited' }, use.clock());
    if (startsOverload(webhook, event)) await emailOnce('overloaded', found, use);
    return 'overload';
  }
  if (turn) {
    // After the maximum delay of a queue, the message waits again.
    const { delaySeconds } = dueAfter(turn.untilMs, use.clock());
    await use.send(use.lane, [{ ...message, slot: turn.slot }], Math.min(delaySeconds, MAX_QUEUE_DELAY_SECONDS));
    return 'delay';
  }
  if (endsOverload(webhook, event, message)) await use.notes.endOverload(webhook, use.clock());
  return 'admitted';
}

/**
 * Sends the request of an attempt. Returns `null` if it was overdue and had to leave the quick lane. The slow lane then makes the
 * same attempt again, as the next function does after a crash. So the endpoint can receive it twice.
 */
async function post(found: Found, use: Delivering): Promise<Made | null> {
  const { message, webhook, event } = found;
  const { attempt: number, trigger, requests: earlier = 0 } = message;
  const requests = earlier + 1;
  const at = use.clock();
  const request = postOf(number, webhook, event, at);
  const leaving = new AbortController();
  const { signal } = leaving;
  const leave = () => use.lane === 'quick' && leaving.abort();
  let suspected: Promise<unknown> | undefined;
  const tick = (waitedMs: number) => {
    if (waitedMs === overdueAfterMs(use.lane)) suspected = suspect(webhook, use).then((isFirst) => isFirst || leave());
    else if (waitedMs === SUSPECT_AFTER_MS) leave();
  };
  const timed = await use.post(request, { tick, signal }).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  await suspected;
  if (!timed) {
    await use.send('slow', [{ ...message, requests }]);
    return null;
  }
  const { waitedMs, ...outcome } = timed;
  const sent = keptHeaders(request, webhook);
  const attempt = { number, trigger, at, requests, ...outcome, url: request.url, sent };
  const verdict = verdictOn(attempt, event);
  return { ...found, attempts: [...found.attempts, attempt], attempt, verdict, waitedMs };
}

/** Notes an overdue attempt, unless its endpoint has the slow lane anyway. `false`: another attempt was overdue before it. */
async function suspect(webhook: WebhookRecord, { notes, clock }: Delivering): Promise<boolean> {
  const now = clock();
  return laneOf(webhook, now) === 'slow' || notes.suspect(webhook, now + SUSPECT_FOR_MS, now);
}

/**
 * Records an attempt with what remains, or finds that another function recorded it. The last failure disables the webhook in the
 * same transaction.
 */
async function record(made: Made, use: Delivering): Promise<Recorded> {
  const { message, webhook, event, attempt, verdict } = made;
  if (disablesWebhook(verdict, event)) {
    const { isRecorded, isEmailPending } = await use.endpoints.recordLastFailure(
      webhook,
      message,
      event,
      attempt,
      use.clock(),
    );
    const remaining = { task: isEmailPending ? 'notify' : 'drop' } as const;
    return { ...made, by: isRecorded ? 'us' : 'another', disabled: isRecorded && isEmailPending, remaining };
  }
  const recorded = { ...made, disabled: false };
  if (!(await use.deliveries.record(message, event, attempt, verdict)))
    return { ...recorded, by: 'another', remaining: { task: 'wait' } };
  const isRetried = verdict.status === 'retrying';
  return { ...recorded, by: 'us', remaining: isRetried ? { task: 'requeue', due: verdict } : { task: 'drop' } };
}

/**
 * Does what remains of a recorded attempt. The retry is queued before the other steps that can fail, and its flag is cleared after
 * them, so the function that receives the message after a crash repeats all of them. Copies of the retry are harmless, because a
 * recorded attempt is not made again.
 */
async function finish(found: Found, remaining: Recorded['remaining'], use: Delivering): Promise<'done' | 'again'> {
  const { message, webhook, attempts } = found;
  switch (remaining.task) {
    case 'drop':
      return 'done';
    case 'wait':
      return 'again';
    case 'notify':
      return (await emailOnce('disabled', found, use)) === 'busy' ? 'again' : 'done';
    case 'requeue': {
      await use.retry(nextMessage(message), remaining.due);
      const last = attempts.at(-1);
      if (last && startsOutage(webhook)) await use.endpoints.beginOutage(webhook, last.at);
      if (isWarned(message.attempt) && (await emailOnce('failing', found, use)) === 'busy') return 'again';
      await use.deliveries.markRetried(message);
      return 'done';
    }
  }
}

/** Notes the success and the pace of an endpoint. */
async function noteOutcome({ webhook, event, attempt, verdict, waitedMs }: Made, use: Delivering): Promise<void> {
  if (endsOutage(webhook, event, verdict)) await use.notes.endOutage(webhook, attempt.at);
  const pace = paceAfter(webhook, waitedMs, use.clock());
  if (pace) await use.notes.setPace(webhook, pace);
}
