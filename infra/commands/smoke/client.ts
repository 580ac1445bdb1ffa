import http from 'node:http';
import https from 'node:https';

export interface Response {
  /** Method and path of the request, without its query. */
  request: string;
  status: number;
  headers: http.IncomingHttpHeaders;
  /** The bytes of the response, still compressed. */
  bytes: Buffer;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the checks verify its content
  json: any;
}

interface Call {
  /** Sends objects as JSON, and texts and bytes unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Calls the API with one credential. */
export type Client = (method: string, path: string, call?: Call) => Promise<Response>;

export interface ClientOptions {
  /** The base URL with the stage or base path, without a trailing slash. */
  baseUrl: string;
  /** An additional certificate authority to trust. */
  ca?: string | undefined;
  /** Prevents new requests after it is aborted. */
  signal?: AbortSignal;
}

/** API Gateway has a limit of 29 seconds. */
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

/** Reads every page of a list. */
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
