import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { visible } from '../../lib/printable.ts';
import { serviceSignature } from '../../lib/webhooks/signature.ts';

/**
 * Verifies a request to a webhook endpoint and formats it for a terminal. Any web page can post to a local port, so an unverified
 * request shows only its size.
 */
export function readDelivery(secret: string, headers: IncomingHttpHeaders, body: string) {
  const { 'x-service-event-type': type, 'x-service-attempt': attempt, 'x-service-signature': signature } = headers;
  const verified = isSame(String(signature ?? ''), serviceSignature(secret, body));
  const line = verified
    ? visible(`✓ verified  ${type}  attempt ${attempt}\n  ${signature}\n  ${body}`)
    : `✗ NOT VERIFIED  ${Buffer.byteLength(body)} bytes`;
  return { verified, line };
}

function isSame(actual: string, expected: string): boolean {
  return (
    Buffer.byteLength(actual) === Buffer.byteLength(expected) &&
    timingSafeEqual(Buffer.from(actual), Buffer.from(expected))
  );
}
