import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { listen } from './ports.ts';

/** A server on loopback that receives the requests of webhooks. */
export interface LocalReceiver {
  port: number;
  close(): void;
}

/** Responds to each request with the status that `receive` returns. Port 0 selects any free port. Throws `UserError`. */
export async function startLocalReceiver(
  port: number,
  option: string,
  receive: (request: http.IncomingMessage, body: Buffer) => number,
): Promise<LocalReceiver> {
  const server = http.createServer((request, response) => {
    buffer(request)
      .then((body) => response.writeHead(receive(request, body)).end())
      .catch(() => response.destroy()); // the client disconnected
  });
  await listen(server, port, option);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => server.close().closeAllConnections(),
  };
}
