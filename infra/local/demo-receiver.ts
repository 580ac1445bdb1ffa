import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { readDelivery } from '../commands/received.ts';
import { listen } from './ports.ts';
import { readText } from './services/bodies.ts';

export interface DemoReceiver {
  url: string;
  port: number;
  close(): void;
}

export interface DemoReceiverOptions {
  secret: string;
  /** The port, or 0 for any free port. */
  port: number;
  print(line: string): void;
}

/** Starts an endpoint like that of a customer. It verifies the signature of each request, prints the request, and returns 204. */
export async function startDemoReceiver({ secret, port, print }: DemoReceiverOptions): Promise<DemoReceiver> {
  const receive = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const { verified, line } = readDelivery(secret, request.headers, await readText(request));
    print(line);
    response.writeHead(verified ? 204 : 401).end();
  };
  const server = http.createServer((request, response) => {
    receive(request, response).catch(() => response.destroy()); // the client has disconnected
  });
  await listen(server, port, '--receiver-port');
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/webhooks`,
    port: address.port,
    close: () => server.close().closeAllConnections(),
  };
}
