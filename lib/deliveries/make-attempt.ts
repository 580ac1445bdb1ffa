import type { StoredEvent } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { type Attempt, keptHeaders, type Post, postOf, type TimedOutcome } from './attempt.ts';
import { type Lane, laneOf, overdueAfterMs, type Pace, SUSPECT_AFTER_MS, SUSPECT_FOR_MS } from './lanes.ts';
import type { DeliveryMessage } from './messages.ts';
import type { OutageDeps } from './outage.ts';

/** Observes an attempt. */
export interface Watch {
  /** Called every 100 ms with the milliseconds that the attempt has taken. It must not throw. */
  tick(waitedMs: number): void;
  /** Ends the attempt. Its outcome is unknown then. */
  signal: AbortSignal;
}

export interface AttemptDeps extends Pick<OutageDeps, 'clock' | 'log' | 'store'> {
  lane: Lane;
  /** Rejects if the signal ends the attempt. */
  post(request: Post, watch: Watch): Promise<TimedOutcome>;
}

/** A webhook and an event for it. */
export interface Sendable {
  webhook: WebhookRecord;
  event: StoredEvent;
}

/**
 * Makes the attempt of a message. Returns `null` if it was overdue and must leave the quick lane. The slow lane then makes the
 * same attempt again, so the endpoint can receive it twice.
 */
export async function makeAttempt(
  message: DeliveryMessage,
  { webhook, event }: Sendable,
  deps: AttemptDeps,
): Promise<{ attempt: Attempt; waitedMs: number } | null> {
  const at = deps.clock();
  const request = postOf(message.attempt, webhook, event, at);
  const leaving = new AbortController();
  const leave = () => deps.lane === 'quick' && leaving.abort();
  let suspected: Promise<unknown> | undefined;
  const tick = (waitedMs: number) => {
    if (waitedMs === overdueAfterMs(deps.lane))
      suspected = suspect(webhook, deps).then((isFirst) => isFirst || leave());
    else if (waitedMs === SUSPECT_AFTER_MS) leave();
  };
  const { signal } = leaving;
  const timed = await deps.post(request, { tick, signal }).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  await suspected;
  if (!timed) return null;
  const { waitedMs, ...outcome } = timed;
  const sent = keptHeaders(request, webhook);
  return {
    waitedMs,
    attempt: { number: message.attempt, trigger: message.trigger, at, ...outcome, url: request.url, sent },
  };
}

/** Whether the attempt is the first overdue one, or its endpoint has the slow lane anyway. */
async function suspect(webhook: WebhookRecord, { store, clock, log }: AttemptDeps): Promise<boolean> {
  const now = clock();
  if (laneOf(webhook, now) === 'slow') return true;
  return store.suspect(webhook, now + SUSPECT_FOR_MS, now).catch((error: unknown) => {
    warnOf(webhook, error, log);
    return true;
  });
}

/** Stores the pace of an endpoint, if it changed. A failure has no effect on the attempt. */
export async function notePace(webhook: WebhookRecord, pace: Pace | null, { store, log }: AttemptDeps): Promise<void> {
  if (pace) await store.setPace(webhook, pace).catch((error: unknown) => warnOf(webhook, error, log));
}

const warnOf = ({ id }: WebhookRecord, error: unknown, log: AttemptDeps['log']): void =>
  log.warn('webhook.pace_not_noted', { webhook_id: id, error });
