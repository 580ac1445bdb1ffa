import { isFor, type Operation } from './operation.ts';

/**
 * Whether pages of other origins may call an operation: all that scoped tokens may, which are handed to frontends. Any origin
 * may, for no browser sends a credential by itself (Fetch Standard, "CORS protocol and credentials").
 */
export const allowsCrossOrigin = (operation: Operation): boolean => isFor(operation, 'token');

/** Headers of responses that such pages may read. */
export const CORS_EXPOSED = ['ETag', 'Location', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'];

/** Headers that such pages may send. */
export const CORS_ALLOWED = ['Authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'X-Node-Id'];

/** Seconds for which a browser need not ask again; none keeps it longer than 2 hours. */
export const PREFLIGHT_SECONDS = 7200;

export const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': CORS_EXPOSED.join(', '),
} as const;
