import { isIP, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';
import { uniqueList } from '../lists.ts';
import { clipped, described, request, resource } from '../schema.ts';
import type { KeyRecord } from './key.ts';

/** Entries a key's allowlist may have. */
const MAX_CIDRS = 100;

export type Entry = { cidr: string } | { violation: string };

const PREFIX = /^(0|[1-9]\d{0,2})$/;

/**
 * The canonical form of an allowlist entry: `203.0.113.7` is `203.0.113.7/32`, IPv6 as in RFC 5952.
 * Anything that two programs could read differently is a violation: leading zeros, short forms, host bits, zone ids,
 * IPv4-mapped and IPv4-compatible IPv6.
 */
export function parseEntry(entry: string): Entry {
  const [address = '', prefix, ...more] = entry.split('/');
  const network = parseAddress(address);
  if ('violation' in network) return network;
  const bits = network.kind() === 'ipv4' ? 32 : 128;
  if (more.length > 0 || (prefix !== undefined && !PREFIX.test(prefix))) {
    return { violation: `the part after "/" must be a number from 0 to ${bits}` };
  }
  const length = prefix === undefined ? bits : Number(prefix);
  if (length > bits) return { violation: `the prefix must be from 0 to ${bits}` };
  const masked = maskedTo(network, length);
  const cidr = `${masked}/${length}`;
  if (`${masked}` !== `${network}`) return { violation: `host bits are set; the network is ${cidr}` };
  return { cidr };
}

/**
 * Whether an address can use a key with these canonical entries. An empty list allows every address. An address that `parseEntry` rejects
 * matches no entry, except that an IPv4-mapped IPv6 address counts as its IPv4 address.
 */
export function isAllowed(cidrs: readonly string[], caller: string): boolean {
  if (cidrs.length === 0) return true;
  const address = callerAddress(caller);
  if (address === null) return false;
  return cidrs.some((cidr) => {
    const [network, length] = ipaddr.parseCIDR(cidr);
    return network.kind() === address.kind() && address.match(network, length);
  });
}

/** Whether an allowlist excludes the caller who gives it to an admin key. Another admin key must then allow the caller's address. */
export const isExcluding = ({ type }: Pick<KeyRecord, 'type'>, cidrs: readonly string[], caller: string): boolean =>
  type === 'admin' && !isAllowed(cidrs, caller);

type Address = ipaddr.IPv4 | ipaddr.IPv6;

function parseAddress(text: string): Address | { violation: string } {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  if (text.includes('%')) return { violation: 'zone ids are not allowed' };
  if (!isIPv6(text))
    return { violation: 'not an IPv4 or IPv6 address or CIDR range in full decimal or colon notation' };
  const address = ipaddr.IPv6.parse(text);
  if (text.includes('.') || address.isIPv4MappedAddress() || isIPv4Compatible(address))
    return { violation: 'write IPv4 addresses in IPv4 notation' };
  return address;
}

/** The deprecated form of RFC 4291 §2.5.5.1, such as `::a00:1`. The addresses `::` and `::1` have another meaning. */
const isIPv4Compatible = ({ parts }: ipaddr.IPv6) => parts.slice(0, 6).every((part) => part === 0) && parts[6] !== 0;

const MAPPED = /^[0:]*:ffff:[0-9a-f.:]+$/i;

function callerAddress(text: string): Address | null {
  if (MAPPED.test(text) && isIPv6(text)) {
    const address = ipaddr.IPv6.parse(text);
    if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  }
  const address = parseAddress(text);
  return 'violation' in address ? null : address;
}

function maskedTo(address: Address, length: number): Address {
  const bytes = address.toByteArray().map((byte, i) => byte & (0xff << (8 - Math.min(8, Math.max(0, length - i * 8)))));
  return ipaddr.fromByteArray(bytes);
}

const cidr = v.pipe(
  v.string('must be a string'),
  v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
    const entry = parseEntry(value);
    if ('cidr' in entry) return entry.cidr;
    addIssue({ message: `"${clipped(value)}": ${entry.violation}` });
    return NEVER;
  }),
  v.metadata({
    jsonSchema: {
      type: 'string',
      description: 'IPv4 or IPv6 address or CIDR range',
      pattern: '^[0-9A-Fa-f.:]{2,45}(/[0-9]{1,3})?$',
    },
  }),
);

/** The address of a client in a request, also in the forms of Node's sockets, which write IPv4 addresses as IPv6. */
export const Address = v.pipe(
  v.string('must be a string'),
  v.check((text) => isIP(text) !== 0 && !text.includes('%'), 'must be an IPv4 or IPv6 address'),
  v.metadata({ jsonSchema: { type: 'string', pattern: '^[0-9A-Fa-f.:]{2,45}$' } }),
);

/** At most 100 entries, canonical and without duplicates in the output. */
export const Allowlist = request('Allowlist', {
  cidrs: described(
    uniqueList(cidr, 0, MAX_CIDRS),
    'IPv4 and IPv6 addresses and CIDR ranges. An empty list lifts the restriction.',
  ),
});

export const KeyAllowlist = resource('KeyAllowlist', {
  id: described(v.string(), 'The key.'),
  cidrs: described(v.array(v.string()), 'The allowlist in canonical form. An empty list means no restriction.'),
});
