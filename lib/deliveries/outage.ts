import { isTest, type StoredEvent } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { Attempt } from './attempt.ts';
import type { DeliveryMessage } from './messages.ts';

/*
 * An outage of an endpoint starts with the first failed attempt and ends with the next success. The record of the webhook
 * contains its start, and whether the customer was warned. Test events neither start nor end an outage.
 */

/**
 * The failed attempt after which the customer is warned, once per outage. The webhook is disabled two attempts and 14 hours
 * later.
 */
export const WARNED_ATTEMPT = 4;

export interface OutageNotes {
  /** Stores the first failed attempt of an outage, unless it is already stored. */
  beginOutage(message: DeliveryMessage, atMs: number): Promise<void>;
  /** Stores a successful attempt, which ends an outage that started earlier. */
  endOutage(message: DeliveryMessage, atMs: number): Promise<void>;
  warn(event: string, fields: Record<string, unknown>): void;
}

/** Records that an endpoint is failing, unless it is already recorded. */
export async function noteFailure(
  message: DeliveryMessage,
  webhook: WebhookRecord,
  attempt: Attempt,
  { beginOutage }: Pick<OutageNotes, 'beginOutage'>,
): Promise<void> {
  if (webhook.failingSince === undefined) await beginOutage(message, attempt.at);
}

/** Records that an endpoint works again. If this fails, the next success ends the outage. */
export async function noteSuccess(
  message: DeliveryMessage,
  { undeliveredSince }: WebhookRecord,
  attempt: Attempt,
  { endOutage, warn }: Pick<OutageNotes, 'endOutage' | 'warn'>,
): Promise<void> {
  if (undeliveredSince === undefined) return;
  await endOutage(message, attempt.at).catch((error: unknown) =>
    warn('webhook.outage_end_not_noted', { webhook_id: message.webhookId, error }),
  );
}

/** Whether this run must send an email. `busy` means that another run of the message is sending it and can still fail. */
export type Claim = 'claimed' | 'busy' | 'sent';

export interface EmailClaims {
  claim(message: DeliveryMessage, nowMs: number): Promise<Claim>;
  release(message: DeliveryMessage): Promise<void>;
  markSent(message: DeliveryMessage, nowMs: number): Promise<void>;
}

/** A delivery whose last attempt failed, with the attempts of its run. */
export interface Failing {
  webhook: WebhookRecord;
  event: StoredEvent;
  attempts: readonly Attempt[];
}

/** An email about an outage. Of several copies of a message, one sends it. */
export interface OutageEmail extends EmailClaims {
  send(failing: Failing): Promise<void>;
}

/**
 * Sends an email that two copies of a message must not both send. After `busy` the message must be received again, because the
 * run that holds the claim may fail.
 */
export async function sendOnce(
  message: DeliveryMessage,
  failing: Failing,
  { claim, release, markSent, send }: OutageEmail,
  clock: () => number,
): Promise<Claim> {
  const claimed = await claim(message, clock());
  if (claimed !== 'claimed') return claimed;
  try {
    await send(failing);
  } catch (error) {
    await release(message).catch(() => {}); // then the claim runs out
    throw error;
  }
  await markSent(message, clock());
  return claimed;
}

/*
 * An overload of a webhook starts when the first delivery is skipped because its wait for the rate limit would be too long. It ends
 * when an attempt needs no wait, or when the limit changes. The record of the webhook contains whether the customer was notified.
 */

export interface OverloadNotes {
  /** Stores that an attempt did not wait at a time, which ends an overload of which the customer was notified earlier. */
  endOverload(message: DeliveryMessage, atMs: number): Promise<void>;
  /** The email about an overload. */
  overloadEmail: OutageEmail;
  warn(event: string, fields: Record<string, unknown>): void;
}

/** Sends the email about an overload, unless this webhook or another run already did. */
export async function noteOverload(
  message: DeliveryMessage,
  webhook: WebhookRecord,
  event: StoredEvent,
  { overloadEmail, clock }: Pick<OverloadNotes, 'overloadEmail'> & { clock(): number },
): Promise<void> {
  if (isTest(event) || webhook.overloadedAt !== undefined) return;
  await sendOnce(message, { webhook, event, attempts: [] }, overloadEmail, clock);
}

/** Records that an attempt did not wait. If this fails, the next such attempt ends the overload. */
export async function noteNoWait(
  message: DeliveryMessage,
  { overloadedAt }: WebhookRecord,
  event: StoredEvent,
  { endOverload, warn, clock }: Omit<OverloadNotes, 'overloadEmail'> & { clock(): number },
): Promise<void> {
  if (overloadedAt === undefined || message.slot || isTest(event)) return;
  await endOverload(message, clock()).catch((error: unknown) =>
    warn('webhook.overload_end_not_noted', { webhook_id: message.webhookId, error }),
  );
}
