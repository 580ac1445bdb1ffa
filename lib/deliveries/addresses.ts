import dns from 'node:dns/promises';
import { isIP } from 'node:net';
import type { AddressPolicy } from '../webhooks/endpoint-url.ts';
import { isPublicAddress } from '../webhooks/public-address.ts';

/** The addresses of a host that connections may use, one promise for each address family. */
export type Lookup = (hostname: string) => readonly Promise<readonly string[]>[];

/** The host has an address that is not public. Then no connection to it is made. */
export class NotPublicError extends Error {
  readonly code = 'ADDRESS_NOT_PUBLIC';
}

/** An error in the format of c-ares. `ENODATA` means that the name has no addresses, and `ETIMEOUT` that no server responded. */
export const lookupError = (code: 'ENODATA' | 'ETIMEOUT') => Object.assign(new Error(code), { code, syscall: 'query' });

/**
 * Milliseconds. c-ares doubles the first wait for a name server up to the longest. All tries together take longer than an
 * attempt, so that only the time limit of the attempt ends a lookup.
 */
export const QUERIES = { timeout: 500, maxTimeout: 1500, tries: 5 };

/** @param nameServers The `address:port` of each name server. The default is the system's. */
export function lookupFor(policy: AddressPolicy, nameServers?: readonly string[]): Lookup {
  return policy === 'public' ? publicLookup(nameServers) : anyLookup;
}

const anyLookup: Lookup = (hostname) => [
  dns.lookup(hostname, { all: true }).then((found) => found.map(({ address }) => address)),
];

/**
 * Looks up A and AAAA records for connections to public addresses. One address that is not public rejects the whole name, because
 * a mixture is an attack (DNS rebinding) or a mistake.
 *
 * `dns.lookup` waits in libuv's pool of four threads and cannot be canceled, so four names with silent name servers would delay
 * every other name (Node.js DNS documentation, "Implementation considerations").
 */
function publicLookup(nameServers?: readonly string[]): Lookup {
  const resolver = new dns.Resolver(QUERIES);
  if (nameServers) resolver.setServers(nameServers);
  return (hostname) => {
    const found =
      isIP(hostname) === 0 ? [resolver.resolve4(hostname), resolver.resolve6(hostname)] : [Promise.resolve([hostname])];
    return found.map((addresses) => addresses.then(checked));
  };
}

function checked(addresses: string[]): string[] {
  if (!addresses.every(isPublicAddress)) throw new NotPublicError('The host has an address that is not public');
  // c-ares returns an empty list without a reason for a CNAME without addresses.
  if (addresses.length === 0) throw lookupError('ENODATA');
  return addresses;
}
