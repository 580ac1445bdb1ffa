import { isTest, type StoredEvent } from '../events/event.ts';
import type { EventType } from '../events/types.ts';
import { printable } from '../printable.ts';
import { type HeaderList, masked } from '../webhooks/custom-headers.ts';
import { previousSecretsAt, signatureHeaders } from '../webhooks/signing.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { Trigger } from './retry-schedule.ts';

/** How one POST ended. */
export interface Outcome {
  /** `null` if there was no response. */
  statusCode: number | null;
  /** A stable code of a failure (see failure-codes.ts), or `null`. */
  error: string | null;
  /** The cause of a failure as the network library names it, if it has a name. */
  reason?: string | null | undefined;
  durationMs: number;
  /** At most 1 KiB of the response's text. */
  excerpt: string | null;
  /** At most 1 KiB of the response's headers. Absent without a response. */
  headers?: HeaderList | undefined;
}

/** The time for which the function waited for the endpoint (wait-meter.ts). */
export interface TimedOutcome extends Outcome {
  waitedMs: number;
}

export const isSuccess = ({ statusCode }: Pick<Outcome, 'statusCode'>): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

export interface Attempt extends Outcome {
  number: number;
  trigger: Trigger;
  at: number;
  /** The URL of the attempt. The webhook can have a different URL now. */
  url: string;
  /** The sent headers that other members do not determine (`keptHeaders`). */
  sent: HeaderList;
  /** The POSTs of the attempt. Absent in attempts of earlier versions. */
  requests?: number | undefined;
}

/** The time limit for a response, including connection, TLS and headers. */
export const ATTEMPT_TIMEOUT_MS = 5000;

/** The request of an attempt. */
export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Observes an attempt. */
export interface Watch {
  /** Called after every 100 ms of waiting with their sum (wait-meter.ts). It must not throw. */
  tick(waitedMs: number): void;
  /** Ends the attempt. Its outcome is unknown then. */
  signal: AbortSignal;
}

/** The request of an attempt, with the stored body and signatures at the time of the attempt. */
export function postOf(number: number, webhook: WebhookRecord, event: StoredEvent, at: number): Post {
  const headers = {
    ...Object.fromEntries(webhook.headers ?? []),
    ...derivedHeaders({ eventId: event.id, eventType: event.type, test: isTest(event) }, { number, at }),
    ...signatureHeaders({
      secret: webhook.secret,
      previousSecrets: previousSecretsAt(webhook, at).map(({ secret }) => secret),
      id: event.id,
      timestampSeconds: Math.floor(at / 1000),
      body: event.body,
    }),
  };
  return { url: webhook.url, headers: withOrdinary(headers), body: event.body };
}

/**
 * Headers that custom headers can replace. Firewalls reject a request without `Accept`, and a response to a request without
 * `Accept-Encoding` can have any coding (RFC 9110 §12.5.3).
 */
const ORDINARY = { Accept: '*/*', 'Accept-Encoding': 'identity' };

/** Adds the headers that a webhook does not replace, whose names have any case. */
export function withOrdinary(headers: Record<string, string>): Record<string, string> {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  return {
    ...Object.fromEntries(Object.entries(ORDINARY).filter(([name]) => !names.has(name.toLowerCase()))),
    ...headers,
  };
}

/** The headers of an attempt that other members determine, so they are not stored. */
export function derivedHeaders(
  { eventId, eventType, test }: { eventId: string; eventType: EventType; test?: boolean | undefined },
  { number, at }: { number: number; at: number },
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'DocumentSyncService/1',
    'X-Service-Event-Id': eventId,
    'X-Service-Event-Type': eventType,
    'X-Service-Attempt': String(number),
    ...(test && { 'X-Service-Test': 'true' }),
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(at / 1000)),
  };
}

/** The other headers in their stored form: the signatures, and the names of custom headers. */
export function keptHeaders(
  post: { headers: Record<string, string> },
  { headers }: Pick<WebhookRecord, 'headers'>,
): HeaderList {
  const signatures = ['X-Service-Signature', 'X-Service-Signature-Previous', 'webhook-signature'];
  const signed = Object.entries(post.headers).filter(([name]) => signatures.includes(name));
  return bounded([...signed, ...masked(headers)]);
}

/** The maximum stored bytes of the headers of a request or response. */
export const KEPT_HEADER_BYTES = 1024;

/** The first headers that fit. Values of one name are joined (RFC 9110 §5.3). */
export function bounded(headers: HeaderList): HeaderList {
  const values = new Map<string, string>();
  let bytes = 0;
  for (const [name, text] of headers) {
    const value = printable(text);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 4; // `: ` and the end of the line
    if (bytes > KEPT_HEADER_BYTES) break;
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return [...values];
}
