import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import { eventually } from './service.ts';

export interface Received {
  headers: Record<string, string>;
  body: string;
}

/** Answers a request: with a status, or in any other way. */
export type Behaviour =
  | number
  | ((response: http.ServerResponse, count: number, request: http.IncomingMessage) => void);

export interface TestReceiver {
  url: string;
  received: Received[];
  behave(behaviour: Behaviour): void;
  /** Resolves once that many requests have come. */
  until(count: number): Promise<Received[]>;
}

const servers: http.Server[] = [];
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

/** A real HTTP server, until the tests of the file are over. */
export async function startReceiver(behaviour: Behaviour = 200): Promise<TestReceiver> {
  let current = behaviour;
  const received: Received[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() });
    if (typeof current === 'number') response.writeHead(current).end();
    else current(response, received.length, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    behave(next) {
      current = next;
    },
    async until(count) {
      await eventually(() => received.length >= count);
      return received;
    },
  };
}
