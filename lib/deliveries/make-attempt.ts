import type { StoredEvent } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { type Attempt, keptHeaders, type Post, postOf, type TimedOutcome } from './attempt.ts';
import { type Lane, laneOf, overdueAfterMs, type Pace, SUSPECT_AFTER_MS, SUSPECT_FOR_MS } from './lanes.ts';
import type { DeliveryMessage } from './messages.ts';

/** Observes an attempt. */
export interface Watch {
  /** Called every 100 ms with the milliseconds that the attempt has taken. It must not throw. */
  tick(waitedMs: number): void;
  /** Ends the attempt. Its outcome is unknown then. */
  signal: AbortSignal;
}

export interface AttemptDeps {
  lane: Lane;
  clock(): number;
  /** Rejects if the signal ends the attempt. */
  post(request: Post, watch: Watch): Promise<TimedOutcome>;
  /** Sends the next messages of an endpoint to the slow lane until a time. `false`: another attempt did so before. */
  suspect(message: DeliveryMessage, slowUntil: number, nowMs: number): Promise<boolean>;
  /** Stores the pace of an endpoint. A failure has no effect on the attempt. */
  setPace(message: DeliveryMessage, pace: Pace): Promise<void>;
  warn(event: string, fields: Record<string, unknown>): void;
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
  const request = postOf(message, webhook, event, at);
  const leaving = new AbortController();
  const leave = () => deps.lane === 'quick' && leaving.abort();
  let suspected: Promise<unknown> | undefined;
  const tick = (waitedMs: number) => {
    if (waitedMs === overdueAfterMs(deps.lane))
      suspected = suspect(message, webhook, deps).then((isFirst) => isFirst || leave());
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
async function suspect(message: DeliveryMessage, webhook: WebhookRecord, deps: AttemptDeps): Promise<boolean> {
  const now = deps.clock();
  if (laneOf(webhook, now) === 'slow') return true;
  return deps.suspect(message, now + SUSPECT_FOR_MS, now).catch((error: unknown) => {
    warnOf(message, error, deps);
    return true;
  });
}

/** Stores the pace of an endpoint, if it changed. */
export async function notePace(message: DeliveryMessage, pace: Pace | null, deps: AttemptDeps): Promise<void> {
  if (pace) await deps.setPace(message, pace).catch((error: unknown) => warnOf(message, error, deps));
}

const warnOf = ({ webhookId }: DeliveryMessage, error: unknown, { warn }: AttemptDeps): void =>
  warn('webhook.pace_not_noted', { webhook_id: webhookId, error });
