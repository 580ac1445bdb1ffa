import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { serviceSignature } from '../lib/webhooks/signature.ts';

/**
 * What an endpoint makes of a request: whether it is a genuine delivery, and lines to print of it. `npm start`, `npm run
 * listen` and `npm run sam:services` all show deliveries so.
 */
export function readDelivery(secret: string, headers: IncomingHttpHeaders, body: string) {
  const { 'x-service-event-type': type, 'x-service-attempt': attempt, 'x-service-signature': signature } = headers;
  const verified = isSame(String(signature ?? ''), serviceSignature(secret, body));
  const line = `${verified ? '✓ verified' : '✗ NOT VERIFIED'}  ${type}  attempt ${attempt}\n  ${signature}\n  ${body}`;
  return { verified, line };
}

function isSame(given: string, expected: string): boolean {
  return (
    Buffer.byteLength(given) === Buffer.byteLength(expected) &&
    timingSafeEqual(Buffer.from(given), Buffer.from(expected))
  );
}
