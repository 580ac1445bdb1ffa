import { isTest, type StoredEvent } from '../events/event.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { Verdict } from './decide.ts';
import type { DeliveryMessage } from './messages.ts';

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
const WARNED_ATTEMPT = 4;

/** Whether the customer is warned after a failed attempt. */
export const isWarned = (attempt: number): boolean => attempt === WARNED_ATTEMPT;

/** Whether a failed attempt starts an outage. Test events have no retry, and only a retry asks. */
export const startsOutage = ({ failingSince }: WebhookRecord): boolean => failingSince === undefined;

export const endsOutage = ({ undeliveredSince }: WebhookRecord, event: StoredEvent, { status }: Verdict): boolean =>
  status === 'succeeded' && !isTest(event) && undeliveredSince !== undefined;

/** Whether a delivery that is skipped because of the rate limit starts an overload. */
export const startsOverload = ({ overloadedAt }: WebhookRecord, event: StoredEvent): boolean =>
  overloadedAt === undefined && !isTest(event);

/** Whether an attempt that the rate limit allows ends an overload. With a slot, it waited. */
export const endsOverload = ({ overloadedAt }: WebhookRecord, event: StoredEvent, { slot }: DeliveryMessage): boolean =>
  overloadedAt !== undefined && !isTest(event) && !slot;
