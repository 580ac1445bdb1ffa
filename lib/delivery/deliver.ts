import type { StoredEvent } from '../events/events.ts';
import type { WebhookRecord } from '../webhooks/webhooks.ts';
import { type Due, dueAfter, type Task, taskOf, type Verdict, verdictOn } from './decide.ts';
import { isSlower, type Lane, laneOf, type Pace, paceAfter, paceOfSuspect } from './lanes.ts';
import type { DeliveryMessage } from './messages.ts';
import { type Post, postOf, type TimedOutcome } from './post.ts';
import type { Attempt, DeliveryRecord } from './record.ts';

export interface DeliverDeps {
  lane: Lane;
  clock(): number;
  /** Tells in the middle of an attempt, once, that it is getting long (`SUSPECT_AFTER_MS`). */
  post(request: Post, onSlow: () => void): Promise<TimedOutcome>;
  /** Hands the next attempt to the queue or a schedule. At least once. */
  retry(message: DeliveryMessage, due: Due): Promise<void>;
  /** Hands the message to a slower lane. At least once. */
  defer(message: DeliveryMessage, lane: Lane): Promise<void>;
  /** Notes how quick an endpoint is. Nothing depends on it. */
  setPace(message: DeliveryMessage, pace: Pace): Promise<void>;
  warn(event: string, fields: Record<string, unknown>): void;
  /** `obsolete`: another run has recorded this attempt and queued its retry, or a newer run has begun. */
  record(
    message: DeliveryMessage,
    event: StoredEvent,
    attempt: Attempt,
    verdict: Verdict,
  ): Promise<'recorded' | 'retry pending' | 'obsolete'>;
  /** Notes that the retry of the last recorded attempt is queued. */
  markRetried(message: DeliveryMessage): Promise<void>;
  /** `disabled`: by this delivery, and its email may not be sent yet. */
  exhaust(
    message: DeliveryMessage,
    event: StoredEvent,
    attempt: Attempt,
    nowMs: number,
  ): Promise<'disabled' | 'recorded'>;
  end(message: DeliveryMessage, event: StoredEvent, status: 'canceled', nowMs: number): Promise<void>;
  /** Whether the email is this run's to send. `busy`: another run is sending it, and may yet fail. */
  claimEmail(message: DeliveryMessage, nowMs: number): Promise<'claimed' | 'busy' | 'sent'>;
  releaseEmail(message: DeliveryMessage): Promise<void>;
  notify(webhook: WebhookRecord, event: StoredEvent, attempts: readonly Attempt[]): Promise<void>;
  markEmailed(message: DeliveryMessage, nowMs: number): Promise<void>;
}

/** What a message refers to. */
export interface DeliveryContext {
  webhook: WebhookRecord | undefined;
  event: StoredEvent | undefined;
  delivery: DeliveryRecord | undefined;
}
type Found = DeliveryContext & { webhook: WebhookRecord; event: StoredEvent };

/** What became of a message: a task that needed no attempt, or the attempt and its verdict. `wait`: it must come again. */
export type DeliverResult =
  | { task: Exclude<Task, 'send'> | 'wait' }
  | { task: 'send' | 'wait'; attempt: Attempt; verdict: Verdict; disabled: boolean };

/**
 * Deals with one message. The order of effects makes it lossless: POST, record the attempt with its retry pending, queue
 * the retry, clear the flag. A crash in between repeats work and drops none; what is recorded is not sent again, and of two
 * copies of a message only one goes on. It throws for our own failures only, and then the message comes again with the same
 * attempt number.
 */
export async function deliver(
  message: DeliveryMessage,
  context: DeliveryContext,
  deps: DeliverDeps,
): Promise<DeliverResult> {
  const { webhook, event, delivery } = context;
  if (!webhook || !event) return { task: 'drop' }; // deleted, or older than we keep events
  const now = deps.clock();
  const lane = laneOf(webhook, now);
  const isDeferred = isSlower(lane, deps.lane);
  const task = taskOf(message, webhook, delivery, event.webhookId !== undefined, isDeferred);
  switch (task) {
    case 'send':
      return send(message, { webhook, event, delivery }, deps);
    case 'cancel':
      await deps.end(message, event, 'canceled', now);
      break;
    case 'defer':
      await deps.defer(message, lane);
      break;
    case 'requeue':
      await requeue(message, dueAfter(delivery?.nextAttemptAt ?? 0, now), deps);
      break;
    case 'notify':
      if ((await notify(message, webhook, event, delivery?.attempts ?? [], deps)) === 'busy') return { task: 'wait' };
  }
  return { task };
}

async function send(message: DeliveryMessage, found: Found, deps: DeliverDeps): Promise<DeliverResult> {
  const { attempt, waitedMs } = await post(message, found, deps);
  const result = await conclude(message, found, attempt, deps);
  await updatePace(message, paceAfter(found.webhook, waitedMs, deps.clock()), deps);
  return result;
}

async function conclude(
  message: DeliveryMessage,
  { webhook, event, delivery }: Found,
  attempt: Attempt,
  deps: DeliverDeps,
): Promise<DeliverResult> {
  const isTest = event.webhookId !== undefined;
  const verdict = verdictOn(attempt, isTest);
  if (verdict.status !== 'failed' || isTest) {
    const recorded = await deps.record(message, event, attempt, verdict);
    if (recorded !== 'obsolete' && verdict.status === 'retrying') await requeue(message, verdict, deps);
    return { task: 'send', attempt, verdict, disabled: false };
  }
  const disabled = (await deps.exhaust(message, event, attempt, deps.clock())) === 'disabled';
  const attempts = [...(delivery?.attempts ?? []), attempt];
  const isBusy = disabled && (await notify(message, webhook, event, attempts, deps)) === 'busy';
  return { task: isBusy ? 'wait' : 'send', attempt, verdict, disabled };
}

async function requeue(message: DeliveryMessage, due: Due, { retry, markRetried }: DeliverDeps): Promise<void> {
  await retry({ ...message, attempt: message.attempt + 1 }, due);
  await markRetried(message);
}

async function post(message: DeliveryMessage, { webhook, event }: Found, deps: DeliverDeps) {
  const at = deps.clock();
  let suspected: Promise<void> | undefined;
  const { waitedMs, ...outcome } = await deps.post(postOf(message, webhook, event, at), () => {
    suspected = updatePace(message, paceOfSuspect(webhook, deps.clock()), deps);
  });
  await suspected;
  const attempt: Attempt = { number: message.attempt, trigger: message.trigger, at, ...outcome };
  return { attempt, waitedMs };
}

async function updatePace(message: DeliveryMessage, pace: Pace | null, { setPace, warn }: DeliverDeps): Promise<void> {
  if (!pace) return;
  await setPace(message, pace).catch((error: unknown) =>
    warn('webhook.pace_not_noted', { webhook_id: message.webhookId, error }),
  );
}

// Claimed before it is sent: of two copies of the last message, one sends it. The other must come again, for the claim says
// nothing about what becomes of the run that has it.
async function notify(
  message: DeliveryMessage,
  webhook: WebhookRecord,
  event: StoredEvent,
  attempts: readonly Attempt[],
  { claimEmail, releaseEmail, notify, markEmailed, clock }: DeliverDeps,
): Promise<'claimed' | 'busy' | 'sent'> {
  const claim = await claimEmail(message, clock());
  if (claim !== 'claimed') return claim;
  try {
    await notify(webhook, event, attempts.slice(-message.attempt));
  } catch (error) {
    await releaseEmail(message).catch(() => {}); // then the claim runs out
    throw error;
  }
  await markEmailed(message, clock());
  return claim;
}
