import dns from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { ATTEMPT_TIMEOUT_MS, isSuccess, type Outcome } from '../delivery.ts';
import { excerptOf, type Failure, failureCode, isOwnFault } from '../outcome.ts';
import { isPublicAddress, literalAddress, type Targets } from '../targets.ts';

/** Bytes of an answer that are read. */
const MAX_RESPONSE_BYTES = 64 * 1024;

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export type Receiver = ReturnType<typeof receiver>;

/**
 * POSTs to customers' servers: TLS 1.3, certificate verified, redirects not followed, at most 5 seconds in all.
 * Names are resolved and checked at every connection, which is made to the very addresses that were checked (§5.4).
 * Whatever the receiver does is an outcome; only our own faults (no file descriptors, say) throw.
 */
export function receiver(targets: Targets) {
  const secure = new https.Agent({ keepAlive: true, minVersion: 'TLSv1.3' });
  const plain = new http.Agent({ keepAlive: true });
  const lookup = targets === 'public' ? publicLookup : undefined;

  return async function post({ url, headers, body }: Post): Promise<Outcome> {
    const started = performance.now();
    const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    const outcome = await attempt(new URL(url));
    return { ...outcome, durationMs: Math.round(performance.now() - started) };

    async function attempt(target: URL): Promise<Omit<Outcome, 'durationMs'>> {
      const isSecure = target.protocol === 'https:';
      const address = literalAddress(target.hostname);
      if (targets === 'public' && (!isSecure || (address && !isPublicAddress(address))))
        return failed(new AddressNotPublic());
      const length = { 'Content-Length': String(Buffer.byteLength(body)) };
      const options = {
        method: 'POST',
        headers: { ...headers, ...length },
        signal,
        agent: isSecure ? secure : plain,
        lookup,
      };
      const request = isSecure ? https.request(target, options) : http.request(target, options);
      try {
        request.end(body);
        return await answerTo(request, signal);
      } catch (error) {
        // A kept connection that died while nothing was sent on it (a frozen function, say) is no answer of the receiver.
        if (request.reusedSocket && failureCode(error) === 'connection_reset' && !signal.aborted)
          return attempt(target);
        return failed(error);
      }
    }
  };
}

function failed(error: unknown): Omit<Outcome, 'durationMs'> {
  if (isOwnFault(error)) throw error;
  return { statusCode: null, error: failureCode(error), excerpt: null };
}

function answerTo(request: http.ClientRequest, signal: AbortSignal): Promise<Omit<Outcome, 'durationMs'>> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      request.off('error', reject);
      const statusCode = response.statusCode ?? 0;
      const chunks: Buffer[] = [];
      let bytes = 0;
      const settle = (bodyError: Failure | null) => {
        resolve({ statusCode, error: bodyError ?? statusError(statusCode), excerpt: excerptOf(Buffer.concat(chunks)) });
        response.destroy(); // a connection is reused only after an answer read to its end: then this does nothing
      };
      // Headers have come: what happens to the body does not change the verdict.
      const breakOff = () => settle(signal.aborted ? 'timeout' : 'response_truncated');
      request.on('error', breakOff);
      response.on('error', breakOff);
      response.on('end', () => settle(response.complete ? null : 'response_truncated'));
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk.subarray(0, MAX_RESPONSE_BYTES - bytes));
        bytes += chunk.length;
        if (bytes > MAX_RESPONSE_BYTES) settle('response_too_large');
      });
    });
  });
}

function statusError(statusCode: number): Failure | null {
  if (isSuccess({ statusCode })) return null;
  return statusCode >= 300 && statusCode < 400 ? 'redirect_not_followed' : 'status_not_2xx';
}

/** The name resolves to an address that is not public, or the URL is one. */
class AddressNotPublic extends Error {
  readonly code = 'ADDRESS_NOT_PUBLIC';
}

// Refuses if any answer is not public: a name with both kinds is an attack (DNS rebinding) or a mistake.
const publicLookup: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address))) {
      return callback(new AddressNotPublic(), []);
    }
    if (options.all) return callback(null, addresses);
    const [first] = addresses;
    callback(null, first?.address ?? '', first?.family);
  });
};
