import { isTest, type StoredEvent } from '../events/event.ts';
import { recipientsOf } from '../projects/recipients.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { WebhookState } from '../webhooks/webhook-emails.ts';
import type { Attempt } from './attempt.ts';
import type { Batch } from './batch.ts';
import type { Claim } from './endpoint-store.ts';
import { laneOf, type Pace, SUSPECT_FOR_MS } from './lanes.ts';
import type { DeliveryMessage } from './messages.ts';
import { type Failing, notificationOf, summaryLine } from './notification.ts';
import type { RunId } from './record.ts';

/*
 * An outage of an endpoint starts with the first failed attempt and ends with the next success. An overload of a webhook starts
 * when the first delivery is skipped because its wait for the rate limit would be too long. It ends when an attempt needs no wait,
 * or when the limit changes. The record of the webhook contains their starts, and whether the customer was notified. Test events
 * neither start nor end an outage or an overload.
 */

/**
 * The failed attempt after which the customer is warned, once per outage. The webhook is disabled two attempts and 14 hours
 * later.
 */
export const WARNED_ATTEMPT = 4;

/** Records that an endpoint is failing, unless it is already recorded. */
export async function noteFailure(webhook: WebhookRecord, attempt: Attempt, { store }: Batch): Promise<void> {
  if (webhook.failingSince === undefined) await store.beginOutage(webhook, attempt.at);
}

/** Records that an endpoint works again. If this fails, the next success ends the outage. */
export async function noteSuccess(webhook: WebhookRecord, attempt: Attempt, { store, log }: Batch): Promise<void> {
  if (webhook.undeliveredSince === undefined) return;
  await store
    .endOutage(webhook, attempt.at)
    .catch((error: unknown) => log.warn('webhook.outage_end_not_noted', { webhook_id: webhook.id, error }));
}

/** Sends the email about an overload, unless this webhook or another run already did. */
export async function noteOverload(
  run: RunId,
  webhook: WebhookRecord,
  event: StoredEvent,
  batch: Batch,
): Promise<void> {
  if (isTest(event) || webhook.overloadedAt !== undefined) return;
  await sendOnce('overloaded', run, { webhook, event, attempts: [] }, batch);
}

/** Records that an attempt did not wait. If this fails, the next such attempt ends the overload. */
export async function noteNoWait(
  { slot }: DeliveryMessage,
  webhook: WebhookRecord,
  event: StoredEvent,
  { store, log, clock }: Batch,
): Promise<void> {
  if (webhook.overloadedAt === undefined || slot || isTest(event)) return;
  await store
    .endOverload(webhook, clock())
    .catch((error: unknown) => log.warn('webhook.overload_end_not_noted', { webhook_id: webhook.id, error }));
}

/** Notes an overdue attempt, unless its endpoint has the slow lane anyway. `false`: another attempt was overdue before it. */
export async function noteOverdue(webhook: WebhookRecord, { store, log, clock }: Batch): Promise<boolean> {
  const now = clock();
  if (laneOf(webhook, now) === 'slow') return true;
  return store.suspect(webhook, now + SUSPECT_FOR_MS, now).catch((error: unknown) => {
    log.warn('webhook.pace_not_noted', { webhook_id: webhook.id, error });
    return true;
  });
}

/** Stores the pace of an endpoint, if it changed. A failure has no effect on the attempt. */
export async function notePace(webhook: WebhookRecord, pace: Pace | null, { store, log }: Batch): Promise<void> {
  if (!pace) return;
  await store
    .setPace(webhook, pace)
    .catch((error: unknown) => log.warn('webhook.pace_not_noted', { webhook_id: webhook.id, error }));
}

/**
 * Sends an email that two copies of a message must not both send. After `busy` the message must be received again, because the
 * run that holds the claim may fail.
 */
export async function sendOnce(what: WebhookState, run: RunId, failing: Failing, batch: Batch): Promise<Claim> {
  const { store, clock } = batch;
  const { webhook } = failing;
  const claimed = await store.claimEmail(what, webhook, run, clock());
  if (claimed !== 'claimed') return claimed;
  try {
    await send(what, failing, batch);
  } catch (error) {
    await store.releaseEmail(what, webhook, run).catch(() => {}); // then the claim runs out
    throw error;
  }
  await store.markEmailed(what, webhook, run, clock());
  return claimed;
}

/** Sends the email about a webhook, or leaves it to a summary. */
async function send(what: WebhookState, failing: Failing, { emails, clock }: Batch): Promise<void> {
  const project = await emails.projects.get(failing.webhook.projectId);
  if (!project) return;
  const end = await emails.reserve(project, summaryLine(failing, what), clock());
  try {
    await end(
      notificationOf({ project, dashboardUrl: emails.dashboardUrl }, recipientsOf(project, clock()), what, failing),
    );
  } catch (error) {
    // The message is received again and sends this email, so no summary must contain it. A skipped delivery is not repeated.
    if (what !== 'overloaded') await end(null).catch(() => {});
    throw error;
  }
}
