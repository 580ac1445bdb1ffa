import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readText } from '../../local/services/bodies.ts';

export interface Received {
  /** Path and query. */
  url: string;
  headers: Record<string, string>;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: what is in it is what the checks are about
  json: any;
}

/** Where deliveries arrive, on this machine. */
export interface Receiver {
  port: number;
  /** The first delivery that matches, or `undefined` if none comes in time. */
  next(matches: (delivery: Received) => boolean, timeoutMs: number, signal: AbortSignal): Promise<Received | undefined>;
  close(): void;
}

const LOOK_MS = 50;

/** Listens on loopback: it is a tunnel that the service reaches. `port` 0: any free one. */
export async function startReceiver(port: number): Promise<Receiver> {
  const received: Received[] = [];
  const server = http.createServer((request, response) => {
    readText(request)
      .then((body) => {
        const { url = '', headers } = request;
        received.push({ url, headers: headers as Record<string, string>, body, json: jsonOf(body) });
        response.writeHead(204).end();
      })
      .catch(() => response.destroy()); // the tunnel has gone
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async next(matches, timeoutMs, signal) {
      const endsAt = performance.now() + timeoutMs;
      for (;;) {
        const found = received.find(matches);
        if (found || performance.now() > endsAt) return found;
        await sleep(LOOK_MS, undefined, { signal });
      }
    },
    close: () => server.close().closeAllConnections(),
  };
}

// Anybody may post to a tunnel.
function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
