import type { EventOutcome } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { DeliveryRecord } from './record.ts';
import { type DeliveryStatus, isUnderWay } from './retry-schedule.ts';

/**
 * Whether a delivery counts for the outcome of its event. What a webhook misses because a person paused it never counts, also after
 * the pause. What it missed for another reason counts, also during a later pause.
 */
export function isCounted(
  { status, reason }: Pick<DeliveryRecord, 'status' | 'reason'>,
  webhook: Pick<WebhookRecord, 'status' | 'disabledReason'>,
): boolean {
  const isPaused = webhook.status === 'disabled' && webhook.disabledReason === 'paused';
  return reason !== 'paused' && !(isPaused && isUnderWay(status));
}

/** The outcome of an event, from the statuses of its deliveries that count. */
export function outcomeOf(statuses: readonly DeliveryStatus[]): EventOutcome {
  const delivered = statuses.filter((status) => status === 'succeeded').length;
  const pending = statuses.filter(isUnderWay).length;
  return { delivered, pending, undelivered: statuses.length - delivered - pending };
}
