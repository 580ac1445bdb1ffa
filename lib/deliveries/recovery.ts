import { allDone } from '../concurrency.ts';
import { EVENT_RETENTION_MS } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { Endpoints } from './endpoint-store.ts';
import type { DeliveryLog } from './log-store.ts';
import { firstMessage, type RecoverMessage } from './messages.ts';
import type { DeliveryQueue } from './queue-store.ts';
import type { RecoveryWindow } from './record.ts';
import type { Deliveries } from './store.ts';

/** A delivery is stuck if its attempt is overdue by this time, because no schedule, queue or outage lasts a day. */
export const STUCK_AFTER_MS = 24 * 60 * 60 * 1000;

/** The default pace of a recovery in deliveries per second. */
export const DEFAULT_PER_SECOND = 50;

/** The index by status follows the table within a second. A recovery starts after a safe margin. */
export const RECOVERY_DELAY_SECONDS = 10;

interface RecoveryDeps {
  store: Pick<Deliveries, 'webhook'> & Pick<DeliveryLog, 'recoverable' | 'startRun'> & Pick<Endpoints, 'extendOutage'>;
  sendAll: DeliveryQueue['sendAll'];
  clock(): number;
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
 * Handles one second of a recovery and queues the message for the next one. Sends the messages of the runs before it records
 * them, so that they record themselves if a later step is lost. A repetition is harmless, because redelivered deliveries are no
 * longer recoverable. The recovery ends if the webhook is disabled or deleted.
 */
export async function recoverPage({ recover }: RecoverMessage, { store, sendAll, clock }: RecoveryDeps): Promise<void> {
  const { webhookId, projectId, environment, since, until, endedSince, perSecond, from } = recover;
  const webhook = await store.webhook(recover, webhookId);
  if (webhook?.status !== 'enabled')
    return store.extendOutage({ projectId, environment, id: webhookId }, endedSince ?? since);
  const window = { since, until, endedSince, stuckBefore: stuckBefore(clock()) };
  const { deliveries, next } = await store.recoverable(webhookId, { ...window, limit: perSecond, from });
  const again = (run: number) => ({ run: run + 1, trigger: 'recovery' }) as const;
  await sendAll(deliveries.map(({ eventId, run }) => firstMessage(recover, webhookId, eventId, again(run))));
  await allDone(deliveries.map((delivery) => store.startRun(delivery, delivery.run + 1, clock())));
  if (next !== undefined) await sendAll([{ recover: { ...recover, from: next } }], 1);
}
