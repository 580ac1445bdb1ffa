import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { ATTEMPT_TIMEOUT_MS, type Post, type TimedOutcome, type Watch } from '../deliveries/attempt.ts';
import { type AddressPolicy, isPublicAddress, isPublicHost } from '../webhooks/endpoint-url.ts';
import { exchange, MAX_RECEIVED_BYTES, type UntimedOutcome } from './exchange.ts';
import { wasRewritten } from './response-head.ts';

/** The share of an attempt's time for resolving the name. The rest is for connection, TLS and response. */
const LOOKUP_SHARE = 0.6;
/** The time limit for one of several addresses. Node's default of 250 ms would exclude distant endpoints. */
const ADDRESS_TIMEOUT_MS = 1000;
/** The unit for counting the wait. A function without enough CPU counts fewer units, because then the endpoint is not slow. */
const TICK_MS = 100;
/**
 * How long an idle connection is kept. Between invocations, a function and its timers are frozen. A connection that the network
 * drops in this time looks open and would cost an attempt its 5 seconds.
 */
const IDLE_MS = 4000;
/** Connections kept without a request, to all endpoints together. A Lambda function has 1,024 file descriptors. */
const MAX_IDLE_CONNECTIONS = 64;

export type HttpPost = ReturnType<typeof httpPost>;

export interface HttpPostOptions {
  /** The time limit of an attempt, including name resolution, connection, TLS and response. */
  timeoutMs?: number;
  idleMs?: number;
  /** The `address:port` of each name server. The default is the system's. */
  nameServers?: readonly string[];
}

/**
 * POSTs to customers' endpoints with TLS 1.3 and a verified certificate, without redirects, in at most 5 seconds. Each connection
 * resolves and checks the name again, and connects to the checked address. Everything that an endpoint does is an outcome. Only
 * internal failures throw, such as a lack of file descriptors.
 */
export function httpPost(
  addressPolicy: AddressPolicy,
  { timeoutMs = ATTEMPT_TIMEOUT_MS, idleMs = IDLE_MS, nameServers }: HttpPostOptions = {},
) {
  const connection = {
    minVersion: 'TLSv1.3',
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    lookup: addressPolicy === 'public' ? publicLookup(timeoutMs * LOOKUP_SHARE, nameServers) : undefined,
  } as const;
  const options = { ...connection, keepAlive: true, timeout: idleMs };
  const secure = limitIdle(new https.Agent(options));
  const plain = limitIdle(new http.Agent(options));

  /** Rejects if the signal of `watch` ends the attempt. Its connection is closed then. */
  return async function post({ url, headers, body }: Post, watch?: Watch): Promise<TimedOutcome> {
    const started = performance.now();
    const elapsedMs = () => performance.now() - started;
    let waitedMs = 0;
    const waiting = setInterval(() => {
      waitedMs += TICK_MS;
      watch?.tick(waitedMs);
    }, TICK_MS);
    try {
      const outcome = await Promise.race([outcomeOf(new URL(url)), aborted(watch?.signal)]);
      return { ...outcome, durationMs: Math.round(elapsedMs()), waitedMs };
    } finally {
      clearInterval(waiting);
    }

    async function outcomeOf(target: URL): Promise<UntimedOutcome> {
      const isSecure = target.protocol === 'https:';
      if (addressPolicy === 'public' && !(isSecure && isPublicHost(target.hostname)))
        return { statusCode: null, error: 'address_not_public', excerpt: null };
      const first = await send(isSecure ? secure : plain);
      if (!first.wasStale) return first.outcome;
      // A kept connection that closed before the request was sent is not a failure of the endpoint, for example after a freeze.
      // The second try uses a new connection, because other kept connections may be closed too.
      const second = await send(isSecure ? new https.Agent(connection) : new http.Agent(connection));
      return second.outcome;

      function send(agent: http.Agent) {
        closeIdle(agent, idleMs);
        const length = { 'Content-Length': String(Buffer.byteLength(body)) };
        const signal = { maxHeaderSize: MAX_RECEIVED_BYTES, ...(watch && { signal: watch.signal }) };
        const options = { method: 'POST', headers: { ...headers, ...length }, agent, ...signal };
        const request = isSecure ? https.request(target, options) : http.request(target, options);
        return exchange(request, body, timeoutMs - elapsedMs());
      }
    }
  };
}

const aborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

const idleSince = new WeakMap<Duplex, number>();
const idleOf = (agent: http.Agent) => Object.values(agent.freeSockets).flatMap((sockets = []) => sockets);

// Node's own limits do not fit: `maxFreeSockets` is for each host, and at `maxTotalSockets` requests wait for idle ones.
function limitIdle<A extends http.Agent>(agent: A): A {
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    idleSince.set(socket, Date.now());
    return !wasRewritten(socket) && idleOf(agent).length < MAX_IDLE_CONNECTIONS && keep(socket);
  };
  return agent;
}

/** Uses the clock, because the timers of a frozen function are late. */
function closeIdle(agent: http.Agent, idleMs: number): void {
  for (const socket of idleOf(agent)) if (Date.now() - (idleSince.get(socket) ?? 0) >= idleMs) socket.destroy();
}

/** Milliseconds. c-ares doubles the first wait for a name server up to the longest. */
const QUERIES = { timeout: 500, maxTimeout: 1500, tries: 4 };

/** `ETIMEOUT`, as in c-ares, means that no name server responded in time. */
const lookupError = (code: 'ADDRESS_NOT_PUBLIC' | 'ENOTFOUND' | 'ETIMEOUT') => Object.assign(new Error(code), { code });

/**
 * Looks up A and AAAA records for connections to public addresses. One address that is not public rejects the whole name, because
 * a mixture is an attack (DNS rebinding) or a mistake. Fails after `limitMs` at the latest.
 *
 * `dns.lookup` waits in libuv's pool of four threads and cannot be canceled, so four names with silent name servers would delay
 * every other name (Node.js DNS documentation, "Implementation considerations").
 *
 * @param nameServers The `address:port` of each name server. The default is the system's.
 */
function publicLookup(limitMs: number, nameServers?: readonly string[]): LookupFunction {
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
    const timer = setTimeout(() => late.reject(lookupError('ETIMEOUT')), limitMs);
    const [v4, v6] = await Promise.allSettled([
      Promise.race([resolver.resolve4(hostname), late.promise]),
      Promise.race([resolver.resolve6(hostname), late.promise]),
    ]);
    clearTimeout(timer);
    // IPv4 first: a Lambda function has no route to IPv6 unless its VPC gives it one.
    const addresses = [...addressesIn(v4, 4), ...addressesIn(v6, 6)];
    if (addresses.length === 0) throw failureOf([v4, v6]);
    if (!addresses.every(({ address }) => isPublicAddress(address))) throw lookupError('ADDRESS_NOT_PUBLIC');
    return addresses;
  }
}

const addressesIn = (result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] =>
  result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];

// A name is missing only if both queries report it. Otherwise the failure of the other query counts.
function failureOf(results: readonly PromiseSettledResult<string[]>[]): unknown {
  const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  // c-ares returns an empty list without a reason for a CNAME without addresses.
  return reasons.find(({ code }) => code !== 'ENOTFOUND' && code !== 'ENODATA') ?? lookupError('ENOTFOUND');
}
