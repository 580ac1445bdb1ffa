import type { EventType } from '../events/types.ts';
import { printable } from '../printable.ts';
import { type HeaderList, masked } from '../webhooks/custom-headers.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';

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
