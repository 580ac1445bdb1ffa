import { isTest, type StoredEvent } from '../events/event.ts';
import { previousSecretsAt } from '../webhooks/secrets.ts';
import { signatureHeaders } from '../webhooks/signature.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { DeliveryMessage } from './messages.ts';
import { derivedHeaders } from './request-headers.ts';

/** The time limit for a response, including connection, TLS and headers. */
export const ATTEMPT_TIMEOUT_MS = 5000;

/** The request of an attempt. */
export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The request of an attempt, with the stored body and signatures at the time of the attempt. */
export function postOf(message: DeliveryMessage, webhook: WebhookRecord, event: StoredEvent, at: number): Post {
  const headers = {
    ...Object.fromEntries(webhook.headers ?? []),
    ...derivedHeaders(
      { eventId: event.id, eventType: event.type, test: isTest(event) },
      { number: message.attempt, at },
    ),
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
