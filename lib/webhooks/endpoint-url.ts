import { isPublicHost } from './public-address.ts';
import { MAX_URL_LENGTH } from './webhook.ts';

/** The addresses that a webhook can use. `any` allows `http:` and private addresses. Only the local stack sets it. */
export type AddressPolicy = 'public' | 'any';

/** The policy of a function with these environment variables. The CDK stack never sets `ALLOW_PRIVATE_ENDPOINTS`. */
export const addressPolicy = ({
  ALLOW_PRIVATE_ENDPOINTS,
}: Readonly<Record<string, string | undefined>>): AddressPolicy =>
  ALLOW_PRIVATE_ENDPOINTS === 'true' ? 'any' : 'public';

// The URL standard silently removes or rewrites all of these, so the stored URL would differ from the input.
const REWRITTEN: readonly (readonly [(text: string) => boolean, string])[] = [
  [(text) => /\p{Cc}/u.test(text), 'must not contain control characters'],
  [(text) => /\p{Z}/u.test(text), 'must not contain white space'],
  [(text) => text.includes('\\'), 'must not contain backslashes'],
  [(text) => !text.isWellFormed(), 'must not contain lone surrogates'],
];

/** The violations of a webhook URL. */
export function urlViolations(text: string, addressPolicy: AddressPolicy): string[] {
  const tooLong = `must have at most ${MAX_URL_LENGTH} characters`;
  if (text.length > MAX_URL_LENGTH) return [tooLong];
  const violations = REWRITTEN.filter(([isIn]) => isIn(text)).map(([, violation]) => violation);
  if (!URL.canParse(text)) return [...violations, 'must be an absolute https: URL'];
  const url = new URL(text);
  if (url.href.length > MAX_URL_LENGTH) violations.push(`${tooLong} when percent-encoded`);
  if (url.protocol !== 'https:' && !(addressPolicy === 'any' && url.protocol === 'http:'))
    violations.push('must be an https: URL');
  else if (!/^https?:\/\/[^/]/i.test(text)) violations.push(`must begin with ${url.protocol}// and a host`);
  // The parsed URL no longer contains empty ones: https://@example.com/, https://example.com/#
  if (url.username || url.password || /^https?:\/\/[^/?#\\]*@/i.test(text))
    violations.push('must not contain credentials');
  if (text.includes('#')) violations.push('must not contain a fragment');
  if (url.port === '0') violations.push('must not have the port 0');
  if (addressPolicy === 'public' && !isPublicHost(url.hostname)) violations.push('must point to a public host');
  return violations;
}

/**
 * The stored form of a webhook URL: ASCII, as the URL standard serializes it (a lower-case host in punycode, no default port, no
 * dot segments), without a trailing dot of the host (RFC 6066 §3 forbids it in TLS) and without an empty query, which HTTP clients
 * do not send. So the service calls exactly what it shows. Throws a `TypeError` for an invalid URL, so check `urlViolations` first.
 */
export function normalizeUrl(text: string): string {
  const url = new URL(text);
  url.hostname = url.hostname.replace(/\.$/, '');
  if (url.search === '') url.search = ''; // removes the question mark
  return url.href;
}
