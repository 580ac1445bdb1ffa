import { allDone } from '../all-done.ts';
import { EVENT_RETENTION_MS } from '../events/event.ts';
import type { Space } from '../space.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { firstMessage, type QueueMessage, type RecoverMessage } from './messages.ts';
import type { DeliveryRecord } from './record.ts';
import type { Trigger } from './retry-schedule.ts';

/** A delivery is stuck if its attempt is overdue by this time, because no schedule, queue or outage lasts a day. */
export const STUCK_AFTER_MS = 24 * 60 * 60 * 1000;

/** The default pace of a recovery in deliveries per second. */
export const DEFAULT_PER_SECOND = 50;

/** The index by status follows the table within a second. A recovery starts after a safe margin. */
export const RECOVERY_DELAY_SECONDS = 10;

/** The deliveries of a recovery: those of events since `since` and before `until`. */
export interface RecoveryWindow {
  since: number;
  until: number;
  /** Only deliveries that ended without success at this time or later. */
  endedSince?: number | undefined;
  /** Deliveries in progress whose next attempt was due before this time are stuck, and redelivered too. */
  stuckBefore: number;
}

/** The position of a recovery, which processes one status after the other. */
export type RecoveryPosition = NonNullable<RecoverMessage['recover']['from']>;

export interface Redelivery {
  enqueue(messages: readonly QueueMessage[]): Promise<void>;
  startRun(record: DeliveryRecord, run: number, nowMs: number): Promise<void>;
  clock(): number;
}

export interface Recovery extends Omit<Redelivery, 'enqueue'> {
  /** Reads a webhook. */
  webhook(space: Space, webhookId: string): Promise<WebhookRecord | undefined>;
  /** Makes the default window of the next recovery start at `sinceMs` or earlier, if the webhook exists. */
  extendOutage(space: Space, webhookId: string, sinceMs: number): Promise<void>;
  enqueue(messages: readonly QueueMessage[], delaySeconds?: number): Promise<void>;
  /** Returns up to `limit` deliveries. `next` is the position of the next page, if there is one. */
  recoverable(
    webhookId: string,
    options: RecoveryWindow & { limit: number; from?: RecoveryPosition | undefined },
  ): Promise<{ deliveries: DeliveryRecord[]; next: RecoveryPosition | undefined }>;
}

export type Window = Omit<RecoveryWindow, 'stuckBefore'>;

/** A margin above the maximum difference between the clocks of functions. */
const SKEW_MS = 60_000;

/**
 * The window of a recovery. By default it contains the deliveries that ended without success since the first failed attempt or
 * pause after the last success. The times of the events do not count, because some of them had been retried for hours by then.
 */
export function windowOf(
  { undeliveredSince }: WebhookRecord,
  { since, until }: { since?: number | undefined; until?: number | undefined },
  now: number,
): Window {
  const isDefault = since === undefined && undeliveredSince !== undefined;
  return {
    since: Math.max(since ?? 0, now - EVENT_RETENTION_MS),
    until: until ?? now + SKEW_MS,
    ...(isDefault && { endedSince: undeliveredSince - SKEW_MS }),
  };
}

/** The message that starts a recovery. `maxPerSecond` of the webhook limits its pace. */
export function recoveryOf(webhook: WebhookRecord, window: Window, perSecond = DEFAULT_PER_SECOND): RecoverMessage {
  const { id: webhookId, projectId, environment } = webhook;
  const paced = Math.min(perSecond, webhook.maxPerSecond ?? perSecond);
  return { recover: { webhookId, projectId, environment, ...window, perSecond: paced } };
}

/** The due time before which a delivery is stuck. */
export const stuckBefore = (nowMs: number): number => nowMs - STUCK_AFTER_MS;

/**
 * Redelivers deliveries with the full schedule. Sends the messages first, so that they record themselves if a later step is lost.
 */
export async function sendAgain(
  space: Space,
  records: readonly DeliveryRecord[],
  trigger: Trigger,
  { enqueue, startRun, clock }: Redelivery,
): Promise<void> {
  await enqueue(
    records.map(({ webhookId, eventId, run }) => firstMessage(space, webhookId, eventId, { run: run + 1, trigger })),
  );
  await allDone(records.map((record) => startRun(record, record.run + 1, clock())));
}

/**
 * Handles one second of a recovery and queues the message for the next one. A repetition is harmless, because redelivered
 * deliveries are no longer recoverable. The recovery ends if the webhook is disabled or deleted.
 */
export async function recoverPage({ recover }: RecoverMessage, recovery: Recovery): Promise<void> {
  const { webhookId, since, until, endedSince, perSecond, from } = recover;
  const webhook = await recovery.webhook(recover, webhookId);
  if (webhook?.status !== 'enabled') return recovery.extendOutage(recover, webhookId, endedSince ?? since);
  const window = { since, until, endedSince, stuckBefore: stuckBefore(recovery.clock()) };
  const { deliveries, next } = await recovery.recoverable(webhookId, { ...window, limit: perSecond, from });
  await sendAgain(recover, deliveries, 'recovery', recovery);
  if (next !== undefined) await recovery.enqueue([{ recover: { ...recover, from: next } }], 1);
}
