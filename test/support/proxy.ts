import http from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import { listen } from './endpoints.ts';

interface Message {
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}
interface ProxiedRequest extends Message {
  method: string;
  path: string;
}
interface ProxiedResponse extends Message {
  status: number;
}

/** Changes requests or responses in place. */
export interface Breakage {
  request?(request: ProxiedRequest): void;
  response?(response: ProxiedResponse, request: ProxiedRequest): void;
}

/** Forwards requests to `target` with deliberate changes until the tests of the file have ended. With `tls`, it uses https. Returns its URL. */
export async function startProxy(
  target: string,
  { request, response }: Breakage = {},
  tls?: https.ServerOptions,
): Promise<string> {
  const handle: http.RequestListener = async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const asked: ProxiedRequest = { method, path: url, headers, body: await buffer(incoming) };
    request?.(asked);
    const answered = await forward(target, asked).catch(() => undefined);
    if (!answered) return outgoing.destroy(); // the target has stopped
    response?.(answered, asked);
    const { 'content-length': _, 'transfer-encoding': __, ...rest } = answered.headers;
    outgoing.writeHead(answered.status, rest).end(answered.body);
  };
  const server = tls ? https.createServer(tls, handle) : http.createServer(handle);
  return `${tls ? 'https' : 'http'}://127.0.0.1:${await listen(server)}`;
}

function forward(target: string, { method, path, headers, body }: ProxiedRequest): Promise<ProxiedResponse> {
  const { 'transfer-encoding': _, host, ...rest } = headers;
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...rest, Host: host, 'content-length': String(body.length) } };
    const sent = http.request(target + path, options, async (response) => {
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) });
    });
    sent.on('error', reject).end(body);
  });
}
