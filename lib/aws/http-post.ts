import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { ATTEMPT_TIMEOUT_MS, type Post, type TimedOutcome } from '../delivery/post.ts';
import { type AddressPolicy, isPublicHost } from '../webhooks/endpoint-url.ts';
import { exchange, type UntimedOutcome } from './exchange.ts';
import { publicLookup } from './public-lookup.ts';

/** Of an attempt's time, what a name may take to be resolved. The rest is for connection, TLS and response. */
const LOOKUP_SHARE = 0.6;
/** For one of several addresses. Node's 250 ms would give up every endpoint that is farther away than that. */
const ADDRESS_TIMEOUT_MS = 1000;
/**
 * Waiting is counted in these. A function that gets too little time to run counts fewer: then it is not the endpoint that is
 * slow.
 */
const TICK_MS = 100;
/**
 * How long a connection is kept without a request. Between two invocations a function is frozen, its timers too: what the
 * network drops meanwhile looks open, and would cost an attempt its 5 seconds.
 */
const IDLE_MS = 4000;
/** Connections kept without a request, to all endpoints together. A Lambda function has 1,024 file descriptors. */
const MAX_IDLE_CONNECTIONS = 64;

export type HttpPost = ReturnType<typeof httpPost>;

export interface HttpPostOptions {
  /** For one attempt: name, connection, TLS and response together. */
  timeoutMs?: number;
  /** When to tell the caller that an attempt is slow: a multiple of 100. Never, unless given. */
  slowAfterMs?: number | undefined;
  idleMs?: number;
  /** `address:port` of each; by default the system's. */
  nameServers?: readonly string[];
}

/**
 * POSTs to customers' endpoints: TLS 1.3, certificate verified, redirects not followed, at most 5 seconds in all.
 * Names are resolved and checked at every connection, which is made to the very addresses that were checked (§5.4).
 * Whatever the endpoint does is an outcome; only our own faults (no file descriptors, say) throw.
 */
export function httpPost(
  addressPolicy: AddressPolicy,
  { timeoutMs = ATTEMPT_TIMEOUT_MS, slowAfterMs, idleMs = IDLE_MS, nameServers }: HttpPostOptions = {},
) {
  const connection = {
    minVersion: 'TLSv1.3',
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    lookup: addressPolicy === 'public' ? publicLookup(timeoutMs * LOOKUP_SHARE, nameServers) : undefined,
  } as const;
  const kept = { ...connection, keepAlive: true, timeout: idleMs };
  const secure = limitIdle(new https.Agent(kept));
  const plain = limitIdle(new http.Agent(kept));

  /** `onSlow` is called at most once, while the attempt still runs; it must not throw. */
  return async function post({ url, headers, body }: Post, onSlow?: () => void): Promise<TimedOutcome> {
    const started = performance.now();
    const elapsedMs = () => performance.now() - started;
    let waitedMs = 0;
    const waiting = setInterval(() => {
      waitedMs += TICK_MS;
      if (waitedMs === slowAfterMs) onSlow?.();
    }, TICK_MS);
    try {
      const outcome = await outcomeOf(new URL(url));
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
      // A kept connection that died before anything was sent on it (a frozen function, say) is no fault of the endpoint.
      // Once, and on a connection of its own: other kept ones may be dead too, and an attempt is one POST.
      const second = await send(isSecure ? new https.Agent(connection) : new http.Agent(connection));
      return second.outcome;

      function send(agent: http.Agent) {
        closeIdle(agent, idleMs);
        const length = { 'Content-Length': String(Buffer.byteLength(body)) };
        const options = { method: 'POST', headers: { ...headers, ...length }, agent };
        const request = isSecure ? https.request(target, options) : http.request(target, options);
        return exchange(request, body, timeoutMs - elapsedMs());
      }
    }
  };
}

const idleSince = new WeakMap<Duplex, number>();
const idleOf = (agent: http.Agent) => Object.values(agent.freeSockets).flatMap((sockets = []) => sockets);

// Node's own limits do not fit: `maxFreeSockets` is for each host, and at `maxTotalSockets` requests wait for idle ones.
function limitIdle<A extends http.Agent>(agent: A): A {
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    idleSince.set(socket, Date.now());
    return idleOf(agent).length < MAX_IDLE_CONNECTIONS && keep(socket);
  };
  return agent;
}

/** By the clock, which a frozen function's timers are behind. */
function closeIdle(agent: http.Agent, idleMs: number): void {
  for (const socket of idleOf(agent)) if (Date.now() - (idleSince.get(socket) ?? 0) >= idleMs) socket.destroy();
}
