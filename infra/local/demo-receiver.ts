import { timingSafeEqual } from 'node:crypto';
import http, { type IncomingHttpHeaders } from 'node:http';
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
    const { verified, line } = readDelivery(secret, request.headers, await readText(request));
    print(line);
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

/** Whether a request is a genuine delivery, and what to show of it. */
export function readDelivery(secret: string, headers: IncomingHttpHeaders, body: string) {
  const { 'x-service-event-type': type, 'x-service-attempt': attempt, 'x-service-signature': signature } = headers;
  const verified = isSame(String(signature ?? ''), serviceSignature(secret, body));
  const line = `${verified ? '✓ verified' : '✗ NOT VERIFIED'}  ${type}  attempt ${attempt}\n  ${signature}\n  ${body}`;
  return { verified, line };
}

function isSame(given: string, expected: string): boolean {
  return (
    Buffer.byteLength(given) === Buffer.byteLength(expected) &&
    timingSafeEqual(Buffer.from(given), Buffer.from(expected))
  );
}
