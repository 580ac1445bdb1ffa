import ipaddr from 'ipaddr.js';
import { MAX_URL_LENGTH } from './webhooks.ts';

/** What a webhook may point at. `any` lifts the rules of §5.4 and admits `http:`; only the local stack sets it. */
export type Targets = 'public' | 'any';

// Special-use names (RFC 6761, RFC 6762, RFC 8375, ICANN's .internal) that never lead to a public host.
const PRIVATE_NAMES = ['localhost', 'local', 'internal', 'intranet', 'home.arpa', 'onion'];
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const DOCUMENTATION = ipaddr.IPv6.parseCIDR('3fff::/20');

/** What is wrong with a webhook URL, in words; an empty list if nothing is. */
export function targetFaults(text: string, targets: Targets): string[] {
  const faults: string[] = [];
  if (text.length > MAX_URL_LENGTH) faults.push(`must have at most ${MAX_URL_LENGTH} characters`);
  if (!URL.canParse(text)) return [...faults, 'must be an absolute https: URL'];
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(targets === 'any' && url.protocol === 'http:'))
    faults.push('must be an https: URL');
  if (url.username || url.password) faults.push('must not contain credentials');
  if (url.hash || text.includes('#')) faults.push('must not contain a fragment');
  if (targets === 'public' && !isPublicHost(url.hostname)) faults.push('must point to a public host');
  return faults;
}

/**
 * Whether an address is global unicast (IANA special-purpose registries, RFC 6890). Every IPv6 form that embeds an
 * IPv4 address (mapped, NAT64, 6to4, Teredo) is refused whole: it may lead to a private one.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return true;
  return address.match(GLOBAL_UNICAST) && !address.match(DOCUMENTATION);
}

/** The address that a URL's host is, without brackets; `null` if it is a name. */
export function literalAddress(hostname: string): string | null {
  const host = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(host) ? host : null;
}

function isPublicHost(hostname: string): boolean {
  const address = literalAddress(hostname);
  if (address) return isPublicAddress(address);
  const name = hostname.toLowerCase().replace(/\.$/, '');
  return name.includes('.') && !PRIVATE_NAMES.some((suffix) => name.endsWith(`.${suffix}`));
}
