import { isFor, type Operation } from './operation.ts';

/**
 * Whether pages of other origins can call an operation. They can call the operations of scoped tokens, which frontends use. Every
 * origin can, because browsers do not send the credential automatically (Fetch Standard, "CORS protocol and credentials").
 */
export const allowsCrossOrigin = (operation: Operation): boolean => isFor(operation, 'token');

/** Headers of responses that such pages may read. */
export const CORS_EXPOSED = [
  'ETag',
  'Location',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Service-Version',
];

/** Headers that such pages may send. */
export const CORS_ALLOWED = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'X-Node-Id',
];

/** Seconds that a browser caches a preflight response. Browsers use at most 2 hours. */
export const PREFLIGHT_SECONDS = 7200;

export const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': CORS_EXPOSED.join(', '),
} as const;
