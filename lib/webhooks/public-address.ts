import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

// Names that never lead to a public host: special-use ones (RFC 6761, 6762, 7686, 8375, 9476; ICANN's .internal) …
const SPECIAL_USE_NAMES = ['localhost', 'local', 'home.arpa', 'internal', 'onion', 'alt'];
// … and those that private networks use without asking (RFC 6762 appendix G).
const PRIVATE_NAMES = [...SPECIAL_USE_NAMES, 'localdomain', 'intranet', 'private', 'corp', 'home', 'lan'];
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

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
