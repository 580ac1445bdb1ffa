import { timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { serviceSignature } from '../../lib/webhooks/signature.ts';
import { readText } from './services/bodies.ts';

export interface DemoReceiver {
  url: string;
  close(): void;
}

/** An endpoint as a customer would run it: verifies the signature of each request, prints the request, and responds with 204. */
export async function startDemoReceiver(secret: string, print: (line: string) => void): Promise<DemoReceiver> {
  const receive = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const body = await readText(request);
    const verified = isSame(String(request.headers['x-service-signature'] ?? ''), serviceSignature(secret, body));
    const { 'x-service-event-type': type, 'x-service-attempt': attempt } = request.headers;
    print(
      `${verified ? '✓ verified' : '✗ NOT VERIFIED'}  ${type}  attempt ${attempt}\n  ${request.headers['x-service-signature']}\n  ${body}`,
    );
    response.writeHead(verified ? 204 : 401).end();
  };
  const server = http.createServer((request, response) => {
    receive(request, response).catch(() => response.destroy()); // the client has disconnected
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    close: () => server.close().closeAllConnections(),
  };
}

function isSame(given: string, expected: string): boolean {
  return (
    Buffer.byteLength(given) === Buffer.byteLength(expected) &&
    timingSafeEqual(Buffer.from(given), Buffer.from(expected))
  );
}
