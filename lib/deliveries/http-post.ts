import http from 'node:http';
import https from 'node:https';
import type net from 'node:net';
import type { Duplex } from 'node:stream';
import type { AddressPolicy } from '../webhooks/endpoint-url.ts';
import { isPublicHost } from '../webhooks/public-address.ts';
import { type Lookup, lookupFor } from './addresses.ts';
import { ATTEMPT_TIMEOUT_MS, type Post, type TimedOutcome, type Watch } from './attempt.ts';
import { connect } from './connect.ts';
import { exchange, MAX_RECEIVED_BYTES, type UntimedOutcome } from './exchange.ts';
import { wasRewritten } from './response-head.ts';
import { waitMeter } from './wait-meter.ts';

/**
 * How long an idle connection is kept. Between invocations, a function and its timers are frozen. A connection that the network
 * drops in this time looks open and would cost an attempt its 5 seconds.
 */
const IDLE_MS = 4000;
/** Connections kept without a request, to all endpoints together. A Lambda function has 1,024 file descriptors. */
const MAX_IDLE_CONNECTIONS = 64;

/** An endpoint that supports HTTP/2 only then rejects the connection with this cause (RFC 7301). */
const TLS = { minVersion: 'TLSv1.3', ALPNProtocols: ['http/1.1'] } as const;

export type HttpPost = ReturnType<typeof httpPost>;

export interface HttpPostOptions {
  /** The time limit of an attempt, including name resolution, connection, TLS and response. */
  timeoutMs?: number;
  idleMs?: number;
  /** The `address:port` of each name server. The default is the system's. */
  nameServers?: readonly string[];
  /** The milliseconds for which the event loop was idle so far. The default is the event loop of this thread. */
  idleTime?: () => number;
}

/**
 * POSTs to customers' endpoints with TLS 1.3 and a verified certificate, without redirects, in at most 5 seconds. Each connection
 * resolves and checks the name again, and connects to the checked address. Everything that an endpoint does is an outcome. Only
 * internal failures throw, such as a lack of file descriptors.
 */
export function httpPost(
  addressPolicy: AddressPolicy,
  { timeoutMs = ATTEMPT_TIMEOUT_MS, idleMs = IDLE_MS, nameServers, idleTime }: HttpPostOptions = {},
) {
  const lookup = lookupFor(addressPolicy, nameServers);
  const newAgents = (options: http.AgentOptions) => ({
    secure: connecting(new https.Agent({ ...TLS, ...options }), lookup),
    plain: connecting(new http.Agent(options), lookup),
  });
  const kept = newAgents({ keepAlive: true, timeout: idleMs });
  for (const agent of Object.values(kept)) limitIdle(agent);
  const startWait = waitMeter(idleTime);

  /** Rejects if the signal of `watch` ends the attempt. Its connection is closed then. */
  return async function post({ url, headers, body }: Post, watch?: Watch): Promise<TimedOutcome> {
    const started = performance.now();
    const elapsedMs = () => performance.now() - started;
    const ended = new AbortController();
    const endWait = startWait(watch?.tick);
    try {
      const outcome = await Promise.race([outcomeOf(new URL(url)), aborted(watch?.signal)]);
      return { ...outcome, durationMs: Math.round(elapsedMs()), waitedMs: endWait() };
    } finally {
      endWait();
      ended.abort();
    }

    async function outcomeOf(target: URL): Promise<UntimedOutcome> {
      const isSecure = target.protocol === 'https:';
      if (addressPolicy === 'public' && !(isSecure && isPublicHost(target.hostname)))
        return { statusCode: null, error: 'address_not_public', excerpt: null };
      const first = await send(kept);
      if (!first.wasStale) return first.outcome;
      // A kept connection that closed before the request was sent is not a failure of the endpoint, for example after a freeze.
      // The second try uses a new connection, because other kept connections may be closed too.
      return (await send(newAgents({}))).outcome;

      function send({ secure, plain }: typeof kept) {
        const agent = isSecure ? secure : plain;
        closeIdle(agent, idleMs);
        const length = { 'Content-Length': String(Buffer.byteLength(body)) };
        const options: Options = {
          ...{ method: 'POST', headers: { ...headers, ...length }, agent, maxHeaderSize: MAX_RECEIVED_BYTES },
          ...(watch && { signal: watch.signal }),
          ended: ended.signal,
        };
        const request = isSecure ? https.request(target, options) : http.request(target, options);
        return exchange(request, body, timeoutMs - elapsedMs(), () => ended.abort());
      }
    }
  };
}

/** The options of a request, which its agent receives for a new connection. */
interface Options extends http.RequestOptions {
  /** Ends a connection attempt with the attempt of the delivery. */
  ended: AbortSignal;
}

/** Makes an agent connect to one of the addresses that `lookup` allows. */
function connecting<A extends http.Agent>(agent: A, lookup: Lookup): A {
  const secure = agent instanceof https.Agent ? agent.createConnection.bind(agent) : undefined;
  agent.createConnection = (options, callback) => {
    const { host, port, timeout, ended } = options as Options & net.TcpSocketConnectOpts;
    connect(lookup(host ?? ''), { port, ...(timeout !== undefined && { timeout }) }, ended).then(
      (socket) => callback?.(null, secure ? (secure({ ...options, socket } as never) as Duplex) : socket),
      (error) => callback?.(error, undefined as never),
    );
    return undefined as never;
  };
  return agent;
}

const aborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

const idleSince = new WeakMap<Duplex, number>();
const idleOf = (agent: http.Agent) => Object.values(agent.freeSockets).flatMap((sockets = []) => sockets);

// Node's own limits do not fit: `maxFreeSockets` is for each host, and at `maxTotalSockets` requests wait for idle ones.
function limitIdle(agent: http.Agent): void {
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    idleSince.set(socket, Date.now());
    return !wasRewritten(socket) && idleOf(agent).length < MAX_IDLE_CONNECTIONS && keep(socket);
  };
}

/** Compares wall-clock times, because the timers and the monotonic clock of a frozen function stand still. */
function closeIdle(agent: http.Agent, idleMs: number): void {
  for (const socket of idleOf(agent)) if (Date.now() - (idleSince.get(socket) ?? 0) >= idleMs) socket.destroy();
}
