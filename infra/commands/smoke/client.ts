import http from 'node:http';
import https from 'node:https';

export interface Response {
  /** Method and path of the request, without its query. */
  request: string;
  status: number;
  headers: http.IncomingHttpHeaders;
  /** As it was sent: still compressed, if it was. */
  bytes: Buffer;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what is in it is what the checks are about
  json: any;
}

interface Call {
  /** Sent as JSON; a text or bytes as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Calls one API with one credential. */
export type Client = (method: string, path: string, call?: Call) => Promise<Response>;

export interface ClientOptions {
  /** With the stage or base path, without a slash at the end. */
  baseUrl: string;
  /** An authority to trust beside the usual ones. */
  ca?: string | undefined;
  /** Once it is aborted, no request begins. */
  signal?: AbortSignal;
}

/** API Gateway responds within 29 seconds. */
const TIMEOUT_MS = 35_000;

export function createClient({ baseUrl, ca, signal }: ClientOptions, credential: string | null): Client {
  const { request } = baseUrl.startsWith('https:') ? https : http;
  return async (method, path, { body, headers } = {}) => {
    signal?.throwIfAborted();
    const payload = payloadOf(body);
    const options = {
      method,
      ...(ca !== undefined && { ca }),
      timeout: TIMEOUT_MS,
      headers: {
        ...(credential !== null && { Authorization: `Bearer ${credential}` }),
        ...(payload && { 'Content-Type': 'application/json', 'Content-Length': payload.length }),
        ...headers,
      },
    };
    const name = `${method} ${path.split('?')[0]}`;
    return new Promise((resolve, reject) => {
      const sent = request(baseUrl + path, options, (response) => {
        readResponse(name, response).then(resolve, reject);
      });
      sent.on('timeout', () => sent.destroy(new Error(`no response within ${TIMEOUT_MS / 1000} s`)));
      sent.on('error', (error) => reject(new Error(`${name}: ${error.message}`)));
      sent.end(payload);
    });
  };
}

/** Every page of a list. */
export async function* pagesOf(client: Client, path: string): AsyncGenerator<Response> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Response = await client('GET', cursor ? `${path}&cursor=${encodeURIComponent(cursor)}` : path);
    yield page;
    cursor = page.json?.next_cursor ?? null;
  }
}

function payloadOf(body: unknown): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

async function readResponse(request: string, message: http.IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const { statusCode: status = 0, headers } = message;
  const text = bytes.toString();
  const isJson = /\bjson\b/.test(headers['content-type'] ?? '') && headers['content-encoding'] === undefined;
  return { request, status, headers, bytes, text, json: isJson && text ? JSON.parse(text) : undefined };
}
