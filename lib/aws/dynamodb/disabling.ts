import { isEmailOwed } from '../../delivery/decide.ts';
import { type DeliveryMessage, runKey } from '../../delivery/messages.ts';
import type { Attempt } from '../../delivery/record.ts';
import type { StoredEvent } from '../../events/events.ts';
import { all, any, is, isAbsent, isAtMost } from './conditions.ts';
import { recordAttempt } from './delivery-writes.ts';
import { update } from './expressions.ts';
import { type Item, itemKey } from './items.ts';
import type { Table } from './table.ts';
import { toWebhook } from './webhooks.ts';

/** For which an email is one run's to send: longer than a function may run, shorter than a message stays hidden. */
const EMAIL_CLAIM_MS = 60_000;

/*
 * A webhook that is disabled by a failed delivery, in time:
 *
 *   enabled ── exhaust ──► disabledBy ── claimEmail ──► emailingUntil ── markEmailed ──► emailedAt
 *                             ▲                              │
 *                             └───── releaseEmail, or time ──┘
 */
const isDisabledBy = (message: DeliveryMessage) => is('disabledBy', runKey(message));
const isUnclaimed = (nowMs: number) => any(isAbsent('emailingUntil'), isAtMost('emailingUntil', nowMs));

/** What becomes of a webhook when the last attempt of a delivery has failed. */
export function disabling(table: Table) {
  return {
    /**
     * Records the attempt that exhausts the schedule and, if the webhook is still enabled, disables it in the same
     * transaction: of all deliveries that get here, one disables.
     */
    async exhaust(
      message: DeliveryMessage,
      event: StoredEvent,
      attempt: Attempt,
      nowMs: number,
    ): Promise<'disabled' | 'recorded'> {
      const recorded = recordAttempt(message, event, attempt, { status: 'failed' });
      const disabled = {
        status: 'disabled',
        disabledAt: nowMs,
        updatedAt: nowMs,
        disabledReason: 'deliveries_failed',
        disabledBy: runKey(message),
        emailedAt: undefined,
        emailingUntil: undefined,
      };
      const rejected = await table.write([recorded, update(keyOf(message), disabled, is('status', 'enabled'))]);
      if (rejected.length === 0) return 'disabled';
      if (!rejected.some(({ index }) => index === 0)) await table.write([recorded]); // disabled by another one, or deleted
      // Recorded by another run of this message, which may have died before the email.
      const webhook = rejected.find(({ index }) => index === 1)?.item;
      return webhook && isEmailOwed(message, toWebhook(webhook)) ? 'disabled' : 'recorded';
    },

    /** Lets one run at a time send the email about the disabling. */
    async claimEmail(message: DeliveryMessage, nowMs: number): Promise<'claimed' | 'busy' | 'sent'> {
      const isFree = all(isDisabledBy(message), isAbsent('emailedAt'), isUnclaimed(nowMs));
      const [rejected] = await table.write([update(keyOf(message), { emailingUntil: nowMs + EMAIL_CLAIM_MS }, isFree)]);
      if (!rejected) return 'claimed';
      return rejected.item && isEmailOwed(message, toWebhook(rejected.item)) ? 'busy' : 'sent';
    },

    releaseEmail: (message: DeliveryMessage) => change(message, { emailingUntil: undefined }),

    /** Notes that the email about the disabling is sent. */
    markEmailed: (message: DeliveryMessage, emailedAt: number) =>
      change(message, { emailedAt, emailingUntil: undefined }),
  };

  async function change(message: DeliveryMessage, values: Item): Promise<void> {
    await table.write([update(keyOf(message), values, isDisabledBy(message))]);
  }
}

const keyOf = (message: DeliveryMessage) => itemKey.webhook(message, message.webhookId);
