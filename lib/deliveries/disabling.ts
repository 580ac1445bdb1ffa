import type { WebhookRecord } from '../webhooks/webhook.ts';
import { type RunId, runKey } from './record.ts';
import type { DeliveryStatus } from './retry-schedule.ts';

/*
 * The failure of the sixth attempt disables the webhook. Of several deliveries that fail, only the first one changes the webhook
 * (`exhaust` in endpoint-store.ts), and only its run sends the email.
 */

/** Whether the outcome of an attempt disables the webhook. A failed test event does not. */
export const disablesWebhook = ({ status }: { status: DeliveryStatus }, isTest: boolean): boolean =>
  status === 'failed' && !isTest;

/** This run disabled the webhook, and the email about it may not be sent. */
export const isEmailOwed = (run: RunId, { disabledBy, emailedAt }: WebhookRecord): boolean =>
  disabledBy === runKey(run) && emailedAt === undefined;
