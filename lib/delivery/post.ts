import { isTest, type StoredEvent } from '../events/events.ts';
import type { EventType } from '../events/types.ts';
import { printable } from '../printable.ts';
import { type HeaderList, masked } from '../webhooks/custom-headers.ts';
import { signatureHeaders } from '../webhooks/signature.ts';
import { previousSecretsAt, type WebhookRecord } from '../webhooks/webhooks.ts';
import type { DeliveryMessage } from './messages.ts';

/** The time limit for a response, including connection, TLS and headers. */
export const ATTEMPT_TIMEOUT_MS = 5000;

/** The request of an attempt. */
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
  /** At most 1 KiB of the response's headers. Absent without a response. */
  headers?: HeaderList | undefined;
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
    ...Object.fromEntries(webhook.headers ?? []),
    ...derivedHeaders(
      { eventId: event.id, eventType: event.type, test: isTest(event) },
      { number: message.attempt, at },
    ),
    ...signatureHeaders({
      secret: webhook.secret,
      previousSecrets: previousSecretsAt(webhook, at).map(({ secret }) => secret),
      id: event.id,
      timestampSeconds: secondsOf(at),
      body: event.body,
    }),
  };
  return { url: webhook.url, headers, body: event.body };
}

const secondsOf = (ms: number): number => Math.floor(ms / 1000);

/** The headers of an attempt that follow from what else is recorded of it: they are not kept. */
export function derivedHeaders(
  { eventId, eventType, test }: { eventId: string; eventType: EventType; test?: boolean | undefined },
  { number, at }: { number: number; at: number },
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'document-sync-webhooks/1',
    'X-Service-Event-Id': eventId,
    'X-Service-Event-Type': eventType,
    'X-Service-Attempt': String(number),
    ...(test && { 'X-Service-Test': 'true' }),
    'webhook-id': eventId,
    'webhook-timestamp': String(secondsOf(at)),
  };
}

/** The others, as they are kept: the signatures, and the names of the webhook's own headers. */
export function keptHeaders(post: Post, { headers }: WebhookRecord): HeaderList {
  const signatures = ['X-Service-Signature', 'X-Service-Signature-Previous', 'webhook-signature'];
  const signed = Object.entries(post.headers).filter(([name]) => signatures.includes(name));
  return bounded([...signed, ...masked(headers)]);
}

/** Bytes of the headers of a request or response that are kept. */
export const KEPT_HEADER_BYTES = 1024;

/** The first headers that fit. Values of one name are joined (RFC 9110 §5.3). */
export function bounded(headers: HeaderList): HeaderList {
  const kept = new Map<string, string>();
  let bytes = 0;
  for (const [name, text] of headers) {
    const value = printable(text);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 4; // `: ` and the end of the line
    if (bytes > KEPT_HEADER_BYTES) break;
    const before = kept.get(name);
    kept.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return [...kept];
}
