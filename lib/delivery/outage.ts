import type { Attempt } from '../deliveries/attempt.ts';
import type { StoredEvent } from '../events/events.ts';
import type { WebhookRecord } from '../webhooks/webhooks.ts';
import type { DeliveryMessage } from './messages.ts';

/*
 * An outage of an endpoint begins with the first failed attempt and ends with the next success. Its record knows since when
 * it is failing, and whether the customer was warned. Test events neither begin nor end one.
 */

/** The failed attempt after which the customer is warned, once in an outage: two more, 14 hours, and the webhook is disabled. */
export const WARNED_ATTEMPT = 4;

export interface OutageNotes {
  /** Notes the first failed attempt of an outage, unless it is noted. */
  beginOutage(message: DeliveryMessage, atMs: number): Promise<void>;
  /** Notes that an attempt succeeded: an outage that began before it is over. */
  endOutage(message: DeliveryMessage, atMs: number): Promise<void>;
  warn(event: string, fields: Record<string, unknown>): void;
}

/** Notes that an endpoint is failing, unless that is known. */
export async function noteFailure(
  message: DeliveryMessage,
  webhook: WebhookRecord,
  attempt: Attempt,
  { beginOutage }: Pick<OutageNotes, 'beginOutage'>,
): Promise<void> {
  if (webhook.failingSince === undefined) await beginOutage(message, attempt.at);
}

/** Notes that an endpoint works again. If the note fails, the next success ends the outage. */
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

/** Whether an email is this run's to send. `busy`: another run of the message is sending it, and may yet fail. */
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
