import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../webhooks/endpoint-url.ts';

/** Milliseconds. c-ares doubles the first wait for a name server up to the longest. */
const QUERIES = { timeout: 500, maxTimeout: 1500, tries: 4 };

/** `ETIMEOUT`, as in c-ares, means that no name server responded in time. */
class LookupError extends Error {
  readonly code: 'ADDRESS_NOT_PUBLIC' | 'ENOTFOUND' | 'ETIMEOUT';
  constructor(code: LookupError['code']) {
    super(code);
    this.code = code;
  }
}

/**
 * Looks up A and AAAA records for connections to public addresses. One address that is not public rejects the whole name, because
 * a mixture is an attack (DNS rebinding) or a mistake. Fails after `limitMs` at the latest.
 *
 * `dns.lookup` waits in libuv's pool of four threads and cannot be canceled, so four names with silent name servers would delay
 * every other name (Node.js DNS documentation, "Implementation considerations").
 *
 * @param nameServers The `address:port` of each name server. The default is the system's.
 */
export function publicLookup(limitMs: number, nameServers?: readonly string[]): LookupFunction {
  const resolver = new Resolver(QUERIES);
  if (nameServers) resolver.setServers(nameServers);

  // Sockets that select a family themselves request all addresses.
  return (hostname, _options, callback) => {
    publicAddresses(hostname).then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    );
  };

  async function publicAddresses(hostname: string): Promise<LookupAddress[]> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new LookupError('ETIMEOUT')), limitMs);
    const [v4, v6] = await Promise.allSettled([
      Promise.race([resolver.resolve4(hostname), late.promise]),
      Promise.race([resolver.resolve6(hostname), late.promise]),
    ]);
    clearTimeout(timer);
    // IPv4 first: a Lambda function has no route to IPv6 unless its VPC gives it one.
    const addresses = [...addressesIn(v4, 4), ...addressesIn(v6, 6)];
    if (addresses.length === 0) throw failureOf([v4, v6]);
    if (!addresses.every(({ address }) => isPublicAddress(address))) throw new LookupError('ADDRESS_NOT_PUBLIC');
    return addresses;
  }
}

const addressesIn = (result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] =>
  result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];

// A name is missing only if both queries report it. Otherwise the failure of the other query counts.
function failureOf(results: readonly PromiseSettledResult<string[]>[]): unknown {
  const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  // c-ares returns an empty list without a reason for a CNAME without addresses.
  return reasons.find(({ code }) => code !== 'ENOTFOUND' && code !== 'ENODATA') ?? new LookupError('ENOTFOUND');
}
