import type { StoredEvent } from '../events/events.ts';
import { signatureHeaders } from '../webhooks/signature.ts';
import { previousSecretsAt, type WebhookRecord } from '../webhooks/webhooks.ts';
import type { DeliveryMessage } from './messages.ts';

/** For the response: connection, TLS and headers included. */
export const ATTEMPT_TIMEOUT_MS = 5000;

/** What is being sent. */
export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** How one POST ended. */
export interface Outcome {
  /** `null` if there was no response. */
  statusCode: number | null;
  /** A stable code if anything went wrong (failures.ts lists them), else `null`. */
  error: string | null;
  durationMs: number;
  /** At most 1 KiB of the response's text. */
  excerpt: string | null;
}

/** With the time that the endpoint kept us waiting: less than the duration if we were kept from running. */
export interface TimedOutcome extends Outcome {
  waitedMs: number;
}

export const isSuccess = ({ statusCode }: Pick<Outcome, 'statusCode'>): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

/** The request of an attempt: the stored body, signed at the time of the attempt. */
export function postOf(message: DeliveryMessage, webhook: WebhookRecord, event: StoredEvent, at: number): Post {
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'document-sync-webhooks/1',
    'X-Service-Event-Id': event.id,
    'X-Service-Event-Type': event.type,
    'X-Service-Attempt': String(message.attempt),
    ...(event.webhookId !== undefined && { 'X-Service-Test': 'true' }),
    ...signatureHeaders({
      secret: webhook.secret,
      previousSecrets: previousSecretsAt(webhook, at).map(({ secret }) => secret),
      id: event.id,
      timestampSeconds: Math.floor(at / 1000),
      body: event.body,
    }),
  };
  return { url: webhook.url, headers, body: event.body };
}
