import http from 'node:http';
import { brotliCompressSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { ATTEMPT_TIMEOUT_MS, postOf } from '../../../lib/deliveries/attempt.ts';
import { httpPost } from '../../../lib/deliveries/http-post.ts';
import { listen, stopTime } from '../../support/endpoints.ts';
import { event, now, webhook } from '../../unit/deliveries/builders.ts';

stopTime();
const post = httpPost('any');
/** Makes an attempt with the headers of a delivery. */
const attempt = (url: string) => post(postOf(1, webhook({ url }), event(), now));
const json = Buffer.from('{"error":"Prüfsumme"}');

describe('an endpoint', () => {
  /** Starts a server, which counts its requests. */
  async function serve(respond: http.RequestListener, options: http.ServerOptions = {}) {
    const received: http.IncomingMessage[] = [];
    const server = http.createServer(options, (request, response) => {
      received.push(request);
      request.resume().on('end', () => respond(request, response));
    });
    return { url: `http://127.0.0.1:${await listen(server)}/`, received };
  }

  it('behind a firewall that rejects requests without Accept and User-Agent accepts an attempt', async () => {
    const { url, received } = await serve(({ headers }, response) => {
      const isOrdinary =
        headers.accept && headers['user-agent'] && headers['content-type'] && headers['content-length'];
      response.writeHead(isOrdinary ? 200 : 403).end();
    });
    expect(await attempt(url)).toMatchObject({ statusCode: 200 });
    expect(received).toHaveLength(1);
  });

  it('that compresses if the client accepts it sends plain text', async () => {
    const { url } = await serve(({ headers }, response) => {
      const isAccepted = (headers['accept-encoding'] ?? '*') !== 'identity';
      response.writeHead(400, isAccepted ? { 'Content-Encoding': 'br' } : {});
      response.end(isAccepted ? brotliCompressSync(json) : json);
    });
    expect(await attempt(url)).toMatchObject({ statusCode: 400, excerpt: String(json) });
  });

  it('that limits headers to 2 KiB accepts an attempt', async () => {
    const { url } = await serve((_, response) => response.end('ok'), { maxHeaderSize: 2048 });
    expect(await attempt(url)).toMatchObject({ statusCode: 200 });
  });

  it('that closes idle connections receives every attempt once', async () => {
    const { url, received } = await serve((_, response) => response.end('ok'), { keepAliveTimeout: 1 });
    for (let count = 1; count <= 5; count++) {
      expect(await attempt(url)).toMatchObject({ statusCode: 200, error: null });
      expect(received).toHaveLength(count);
      received.at(-1)?.socket.destroy();
    }
  });

  it('that becomes slow has the 5 seconds', async () => {
    let delayMs = 0;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const { url, received } = await serve((_, response) => {
      setTimeout(() => response.end('ok'), delayMs);
      if (delayMs > ATTEMPT_TIMEOUT_MS) resolve();
      vi.advanceTimersByTime(Math.min(delayMs, ATTEMPT_TIMEOUT_MS));
    });
    for (delayMs of [0, 400, 4900])
      expect(await attempt(url)).toMatchObject({ statusCode: 200, durationMs: delayMs, error: null });
    delayMs = ATTEMPT_TIMEOUT_MS + 1;
    expect(await attempt(url)).toMatchObject({ statusCode: null, error: 'timeout', reason: null });
    await late;
    expect(received).toHaveLength(4);
  });
});
