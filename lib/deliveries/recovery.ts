import { allDone } from '../concurrency.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { Batch } from './batch-consumers.ts';
import { firstMessage, type RecoverMessage } from './messages.ts';
import { stuckBefore, type Window } from './recovery-window.ts';

/** The default pace of a recovery in deliveries per second. */
export const DEFAULT_PER_SECOND = 50;

/** The index by status follows the table within a second. A recovery starts after a safe margin. */
export const RECOVERY_DELAY_SECONDS = 10;

/** The message that starts a recovery. `maxPerSecond` of the webhook limits its pace. */
export function recoveryOf(webhook: WebhookRecord, window: Window, perSecond = DEFAULT_PER_SECOND): RecoverMessage {
  const { id: webhookId, projectId, environment } = webhook;
  const paced = Math.min(perSecond, webhook.maxPerSecond ?? perSecond);
  return { recover: { webhookId, projectId, environment, ...window, perSecond: paced } };
}

/**
 * Handles one second of a recovery and queues the message for the next one. Sends the messages of the runs before it records
 * them, so that they record themselves if a later step is lost. A repetition is harmless, because redelivered deliveries are no
 * longer recoverable. The recovery ends if the webhook is disabled or deleted.
 */
export async function recoverPage({ recover }: RecoverMessage, { store, queues, clock }: Batch): Promise<void> {
  const { webhookId, projectId, environment, since, until, endedSince, perSecond, from } = recover;
  const webhook = await store.webhook(recover, webhookId);
  if (webhook?.status !== 'enabled')
    return store.extendOutage({ projectId, environment, id: webhookId }, endedSince ?? since);
  const window = { since, until, endedSince, stuckBefore: stuckBefore(clock()) };
  const { deliveries, next } = await store.recoverable(webhookId, { ...window, limit: perSecond, from });
  const again = (run: number) => ({ run: run + 1, trigger: 'recovery' }) as const;
  await queues.sendAll(deliveries.map(({ eventId, run }) => firstMessage(recover, webhookId, eventId, again(run))));
  await allDone(deliveries.map((delivery) => store.startRun(delivery, delivery.run + 1, clock())));
  if (next !== undefined) await queues.sendAll([{ recover: { ...recover, from: next } }], 1);
}
