import { is } from '../aws/conditions.ts';
import { initially, update } from '../aws/expressions.ts';
import { itemKey } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import type { StoredEvent } from '../events/event.ts';
import { derivedFrom } from '../ids.ts';
import { newAuditRecord } from '../projects/audit.ts';
import { auditLog } from '../projects/audit-store.ts';
import { toWebhook } from '../webhooks/store.ts';
import type { Attempt } from './attempt.ts';
import { isEmailOwed } from './decide.ts';
import type { Exhausted } from './deliver.ts';
import { emailClaims } from './email-claim-store.ts';
import { type DeliveryMessage, runKey } from './messages.ts';
import { recordAttempt } from './write-store.ts';

/** Disables a webhook after the last attempt of a delivery has failed. */
export function disabling(table: Table) {
  const email = emailClaims(table, { by: 'disabledBy', sentAt: 'emailedAt', until: 'emailingUntil' }, (message) =>
    is('disabledBy', runKey(message)),
  );

  return {
    /**
     * Records the attempt that exhausts the schedule and, if the webhook is still enabled, disables it in the same transaction,
     * with an audit entry. Only one of several concurrent deliveries disables it.
     */
    async exhaust(message: DeliveryMessage, event: StoredEvent, attempt: Attempt, nowMs: number): Promise<Exhausted> {
      const recorded = recordAttempt(message, event, attempt, { status: 'failed' });
      const disabled = {
        status: 'disabled',
        disabledAt: nowMs,
        updatedAt: nowMs,
        disabledReason: 'deliveries_failed',
        disabledBy: runKey(message),
        emailedAt: undefined,
        emailingUntil: undefined,
        failingSince: initially(attempt.at),
        undeliveredSince: initially(attempt.at),
      };
      const key = itemKey.webhook(message, message.webhookId);
      const entry = auditLog(table).entry(auditOf(message, nowMs));
      const rejected = await table.write([recorded, update(key, disabled, is('status', 'enabled')), entry]);
      if (rejected.length === 0) return { isRecorded: true, isEmailPending: true };
      // Another delivery disabled the webhook, or it was deleted. The attempt is then recorded alone.
      const isOpen = !rejected.some(({ index }) => index === 0);
      const isRecorded = isOpen && (await table.write([recorded])).length === 0;
      // Another run of this message can have ended before the email.
      const webhook = rejected.find(({ index }) => index === 1)?.item;
      return { isRecorded, isEmailPending: webhook !== undefined && isEmailOwed(message, toWebhook(webhook)) };
    },

    email,
  };
}

/** A repetition has the same id, so it does not add a second entry. */
function auditOf(message: DeliveryMessage, at: number) {
  const { projectId, webhookId, environment, eventId } = message;
  const detail = { environment, event_id: eventId };
  const random = derivedFrom(`${webhookId} ${runKey(message)}`);
  return newAuditRecord({ projectId, at, action: 'webhook.disabled', target: webhookId, detail }, random);
}
