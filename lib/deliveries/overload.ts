import { isTest, type StoredEvent } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { DeliveryMessage } from './messages.ts';
import { type OutageEmail, sendOnce } from './outage.ts';

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
