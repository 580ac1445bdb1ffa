import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { readBody } from '../../infra/local/services/bodies.ts';

interface Message {
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}
interface ProxiedRequest extends Message {
  method: string;
  path: string;
}
export interface ProxiedResponse extends Message {
  status: number;
}

/** Changes requests or responses in place. */
export interface Breakage {
  request?(request: ProxiedRequest): void;
  response?(response: ProxiedResponse, request: ProxiedRequest): void;
}

/** Forwards requests to `target` with deliberate changes. With `tls`, it uses https. */
export async function startProxy(target: string, { request, response }: Breakage = {}, tls?: https.ServerOptions) {
  const handle: http.RequestListener = async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const asked: ProxiedRequest = { method, path: url, headers, body: (await readBody(incoming)) ?? Buffer.alloc(0) };
    request?.(asked);
    const answered = await forward(target, asked);
    response?.(answered, asked);
    const { 'content-length': _, 'transfer-encoding': __, ...rest } = answered.headers;
    outgoing.writeHead(answered.status, rest).end(answered.body);
  };
  const server = tls ? https.createServer(tls, handle) : http.createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close().closeAllConnections(),
  };
}

function forward(target: string, { method, path, headers, body }: ProxiedRequest): Promise<ProxiedResponse> {
  const { 'transfer-encoding': _, host, ...rest } = headers;
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...rest, Host: host, 'content-length': String(body.length) } };
    const sent = http.request(target + path, options, async (response) => {
      const received = (await readBody(response)) ?? Buffer.alloc(0);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received });
    });
    sent.on('error', reject).end(body);
  });
}
