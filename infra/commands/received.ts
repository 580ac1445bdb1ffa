import type { IncomingHttpHeaders } from 'node:http';
import { sameText } from '../../lib/keys/key-secret.ts';
import { visible } from '../../lib/printable.ts';
import { serviceSignature } from '../../lib/webhooks/signing.ts';

/**
 * Verifies the bytes of a request to a webhook endpoint and formats it for a terminal. Decoded text would hide bytes that its decoder
 * replaced. Any web page can post to a local port, so an unverified request shows only its size.
 */
export function readDelivery(secret: string, headers: IncomingHttpHeaders, body: Buffer) {
  const { 'x-service-event-type': type, 'x-service-attempt': attempt, 'x-service-signature': signature } = headers;
  const verified = sameText(String(signature ?? ''), serviceSignature(secret, body));
  const line = verified
    ? visible(`✓ verified  ${type}  attempt ${attempt}\n  ${signature}\n  ${body}`)
    : `✗ NOT VERIFIED  ${body.length} bytes`;
  return { verified, line };
}
