import type http from 'node:http';
import { TLSSocket } from 'node:tls';
import type { HeaderList } from '../webhooks/custom-headers.ts';
import { bounded, isSuccess, type Outcome } from './attempt.ts';
import { EXCERPT_BYTES, excerptOf } from './excerpt.ts';
import { type Failure, failureCode, isInternalFailure, reasonOf } from './failure-codes.ts';
import { readResponses } from './response-head.ts';

/** The maximum bytes received for one request: interim responses, headers, framing, body and trailers. */
export const MAX_RECEIVED_BYTES = 64 * 1024;
/** The maximum 1xx responses before the response (RFC 9110 §15.2 sets no limit). */
const MAX_INTERIM_RESPONSES = 8;
/** The status codes that lead to another URL (RFC 9110 §15.4). 300 and 304 do not. */
const REDIRECTS = [301, 302, 303, 307, 308];

export type UntimedOutcome = Omit<Outcome, 'durationMs'>;

export interface Exchange {
  outcome: UntimedOutcome;
  /** A reused connection was closed, and nothing was received for this request. */
  wasStale: boolean;
}

/**
 * Sends one request and returns the outcome within `limitMs`, with bounded memory. The timer does not depend on events of the
 * connection. Closes the connection unless the response was read completely. Rejects only for internal failures.
 *
 * @param giveUp Ends a connection attempt, with the error of a timeout.
 */
export function exchange(
  request: http.ClientRequest,
  body: string,
  limitMs: number,
  giveUp: () => void,
): Promise<Exchange> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
  let response: http.IncomingMessage | undefined;
  let statusCode: number | null = null;
  let excerpt = Buffer.alloc(0);
  let receivedBytes = 0;
  let interimResponses = 0;
  let cutShort: [Failure, string | null] = ['response_truncated', null];
  let stopReading = () => {};
  const timer = setTimeout(() => {
    const { socket } = request;
    if (!socket) giveUp();
    else if (socket instanceof TLSSocket && !socket.authorized) settle('timeout', 'ERR_TLS_HANDSHAKE_TIMEOUT');
    else settle('timeout');
  }, limitMs);

  function settle(failure: Failure | null, reason: string | null = null): void {
    close();
    const error = failure ?? statusFailure(statusCode);
    const wasStale = request.reusedSocket && error === 'connection_reset' && receivedBytes === 0;
    const headers: HeaderList | undefined = response && bounded(pairsOf(response.rawHeaders));
    const outcome = { statusCode, error, reason, excerpt: excerptOf(excerpt, response?.headers), headers };
    resolve({ outcome, wasStale });
  }

  function close(): void {
    clearTimeout(timer);
    stopReading();
    request.destroy(); // has no effect on a reusable connection
  }

  request.on('socket', (socket) => {
    stopReading = readResponses(socket, (count) => {
      receivedBytes += count;
      if (receivedBytes > MAX_RECEIVED_BYTES) settle('response_too_large');
    });
  });
  request.on('information', () => {
    if (++interimResponses > MAX_INTERIM_RESPONSES) settle('response_invalid');
  });
  // Without a listener, Node closes the connection without an event.
  request.on('upgrade', (upgraded, socket) => {
    // Node removes its own listener, so an error of this socket would end the process.
    socket.on('error', () => {});
    statusCode = upgraded.statusCode ?? null;
    settle('response_invalid');
  });
  request.on('response', (received) => {
    response = received;
    statusCode = received.statusCode ?? null;
    received.on('data', (chunk: Buffer) => {
      // One byte more than is stored, to detect a longer body.
      excerpt = Buffer.concat([excerpt, chunk.subarray(0, EXCERPT_BYTES + 1 - excerpt.length)]);
    });
    received.on('end', () => (received.complete ? settle(null) : settle(...cutShort)));
    received.on('error', () => settle(...cutShort));
  });
  // This listener stays, because a settled and closed request can still report an error.
  request.on('error', (error) => {
    const failure = failureCode(error);
    if (statusCode !== null) {
      // The rest of the body is still unread. `end` or `error` of the response settles.
      if (failure !== 'connection_reset') cutShort = [failure, reasonOf(error)];
    } else if (isInternalFailure(error)) {
      close();
      reject(error);
    } else settle(failure, reasonOf(error));
  });
  request.end(body);
  return promise;
}

/** Node alternates names and values in their original order. */
const pairsOf = (raw: readonly string[]): HeaderList =>
  Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] ?? '', raw[2 * i + 1] ?? ''] as const);

function statusFailure(statusCode: number | null): Failure | null {
  if (isSuccess({ statusCode })) return null;
  if (statusCode === null || statusCode < 200) return 'response_invalid'; // the last response is never a 1xx
  return REDIRECTS.includes(statusCode) ? 'redirect_not_followed' : 'status_not_2xx';
}
