import net, { isIPv6 } from 'node:net';
import { type Lookup, lookupError, NotPublicError } from './addresses.ts';
import { failureCode, isInternalFailure } from './failure-codes.ts';

/** How long a connection attempt, or the first of two lookups, waits for the other (RFC 8305 §5 and §3). */
export const NEXT_ADDRESS_MS = 250;

/**
 * Connects to a host with the first of its addresses that accepts (RFC 8305). A further address starts while the former continues,
 * or immediately after it failed. No step has a time limit of its own, so each address has all the time until `ended`.
 *
 * @param lookups The addresses by family. A late family is added, unless the connection is made. If one of its addresses is not
 * public, no connection is made.
 * @param ended Gives up with the error of a timeout.
 */
export function connect(
  lookups: ReturnType<Lookup>,
  options: { port: number; timeout?: number },
  ended: AbortSignal,
): Promise<net.Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>();
  const open = new Set<net.Socket>();
  const addresses: string[] = [];
  const failures: unknown[] = [];
  let pendingLookups = lookups.length;
  let last: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isSettled = false;

  for (const lookup of lookups)
    lookup.then(
      (found) => {
        pendingLookups--;
        addresses.push(...found);
        proceed();
      },
      (error) => {
        pendingLookups--;
        if (error instanceof NotPublicError) return fail(error);
        failures.push(error);
        proceed();
      },
    );
  if (ended.aborted) giveUp();
  else ended.addEventListener('abort', giveUp);
  return promise;

  /** Starts with the next address, if nothing else can succeed first or the wait is over. */
  function proceed(isDue = false): void {
    if (isSettled) return;
    const isIdle = open.size === 0 && (last !== undefined || pendingLookups === 0);
    const address = isDue || isIdle ? nextAddress() : undefined;
    if (address !== undefined) start(address);
    else if (isIdle && pendingLookups === 0) fail(mostTelling(failures));
    if (addresses.length > 0)
      timer ??= setTimeout(() => {
        timer = undefined;
        proceed(true);
      }, NEXT_ADDRESS_MS);
  }

  /** Alternates between families (RFC 8305 §4). IPv4 is first: Lambda has no route to IPv6 unless its VPC gives it one. */
  function nextAddress(): string | undefined {
    const isNextIPv6 = last !== undefined && !isIPv6(last);
    const index = addresses.findIndex((address) => isIPv6(address) === isNextIPv6);
    return addresses.splice(Math.max(index, 0), 1)[0];
  }

  function start(address: string): void {
    clearTimeout(timer);
    timer = undefined;
    last = address;
    const socket = net.connect({ ...options, host: address, noDelay: true });
    open.add(socket);
    socket.once('connect', () => {
      open.delete(socket);
      settle();
      resolve(socket);
    });
    // This listener stays, because a socket that was closed can still report an error.
    socket.on('error', (error) => {
      if (!open.delete(socket)) return;
      failures.push(error);
      proceed(true);
    });
  }

  function giveUp(): void {
    const timeout = Object.assign(new Error('ETIMEDOUT'), { code: 'ETIMEDOUT', syscall: 'connect' });
    fail(last === undefined ? lookupError('ETIMEOUT') : timeout);
  }

  function fail(error: unknown): void {
    settle();
    reject(error);
  }

  function settle(): void {
    isSettled = true;
    clearTimeout(timer);
    ended.removeEventListener('abort', giveUp);
    for (const socket of open) socket.destroy();
    open.clear();
  }
}

/**
 * Of the failures of all addresses and lookups, the one that names the cause. An IPv6 address without a route, or a family
 * without addresses, does not explain why the others failed.
 */
function mostTelling(failures: readonly unknown[]): unknown {
  const rank = (error: unknown): number => {
    if (isInternalFailure(error)) return 0;
    const code = failureCode(error);
    return code === 'dns_not_found' ? 3 : code === 'host_unreachable' ? 2 : 1;
  };
  return failures.toSorted((a, b) => rank(a) - rank(b))[0];
}
