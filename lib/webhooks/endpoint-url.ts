import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { MAX_URL_LENGTH } from './webhook.ts';

/** The addresses that a webhook can use. `any` allows `http:` and private addresses. Only the local stack sets it. */
export type AddressPolicy = 'public' | 'any';

/** The policy of a function with these environment variables. The CDK stack never sets `ALLOW_PRIVATE_ENDPOINTS`. */
export const addressPolicy = ({
  ALLOW_PRIVATE_ENDPOINTS,
}: Readonly<Record<string, string | undefined>>): AddressPolicy =>
  ALLOW_PRIVATE_ENDPOINTS === 'true' ? 'any' : 'public';

// Names that never lead to a public host: special-use ones (RFC 6761, 6762, 7686, 8375, 9476; ICANN's .internal) …
const SPECIAL_USE_NAMES = ['localhost', 'local', 'home.arpa', 'internal', 'onion', 'alt'];
// … and those that private networks use without asking (RFC 6762 appendix G).
const PRIVATE_NAMES = [...SPECIAL_USE_NAMES, 'localdomain', 'intranet', 'private', 'corp', 'home', 'lan'];
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

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

/**
 * Whether a text is a global unicast address, IPv4 in four decimal parts or IPv6. Rejects every block of the IANA special-purpose
 * registries (RFC 6890), including globally reachable ones, because anycast services and sinks are not endpoints. Also rejects
 * every IPv6 form with an embedded IPv4 address (mapped, NAT64, 6to4, Teredo), because it can lead to a private address.
 */
export function isPublicAddress(text: string): boolean {
  // Parsers read 010.0.0.1 as two different addresses. A zone id belongs to a local address.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST));
}

/** Whether the host of a URL can be public, which is a public address or a name that is not known to be private. */
export function isPublicHost(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, ''); // IPv6 addresses have brackets
  return isIP(address) !== 0 ? isPublicAddress(address) : isPublicName(hostname.replace(/\.$/, ''));
}

// The URL standard accepts invalid host names, such as quotes, empty labels and any length. These are the characters of RFC 1123
// §2.1 with the underscore that some have, and the lengths of RFC 1035 §2.3.4.
const LABEL = /^[a-z0-9_-]{1,63}$/;
const MAX_NAME_LENGTH = 253;

function isPublicName(name: string): boolean {
  const labels = name.split('.');
  if (labels.length < 2 || name.length > MAX_NAME_LENGTH || !labels.every((label) => LABEL.test(label))) return false;
  return !PRIVATE_NAMES.some((suffix) => `.${name}`.endsWith(`.${suffix}`));
}
