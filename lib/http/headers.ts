import { VERSION } from '../version.ts';

/** The headers of a request by lower-case name, because API Gateway keeps the case of HTTP/1.1 clients. */
export function lowerCased(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value ?? '']));
}

/** The lines of a header in `multiValueHeaders`, in which its name can occur in several cases. */
export const linesOf = (headers: Record<string, string[] | undefined> | null, name: string): string[] =>
  Object.entries(headers ?? {}).flatMap(([each, lines = []]) =>
    each.toLowerCase() === name.toLowerCase() ? lines : [],
  );

/** Headers with one line each, as `multiValueHeaders` has them. */
export const multiValued = (headers: Record<string, string | undefined> | null): Record<string, string[]> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, line]) => [name, line === undefined ? [] : [line]]));

/** Headers of responses that pages of other origins may read. */
export const CORS_EXPOSED = [
  'ETag',
  'Location',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Service-Version',
];

/**
 * Headers that such pages may send: any, because tracing libraries add their own. The wildcard does not cover `Authorization` (Fetch
 * Standard, "CORS-unsafe request-header names").
 */
export const CORS_ALLOWED = ['Authorization', '*'];

/** Seconds that a browser caches a preflight response. Browsers use at most 2 hours. */
export const PREFLIGHT_SECONDS = 7200;

export const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': CORS_EXPOSED.join(', '),
} as const;

/**
 * Headers of every response. The HSTS policy omits `includeSubDomains`, because the API does not own the subdomains of the
 * operator's domain and sets no cookies that they could overwrite.
 */
export const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Service-Version': VERSION,
} as const;

/** Headers of every response that is not a page (OWASP REST Security Cheat Sheet, "Security Headers"). */
export const API_HEADERS = {
  ...COMMON_HEADERS,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** The seconds after which clients should retry a 429 or 503. */
const RETRY_AFTER_SECONDS = 1;

/** Headers that go with a status: RFC 9110 §11.6.1 (401) and §10.2.3 (429, 503). */
export function problemHeaders(status: number): Record<string, string> {
  if (status === 401) return { 'WWW-Authenticate': 'Bearer' };
  if (status === 429 || status === 503) return { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  return {};
}
