export interface Response {
  /** Method and path of the request, without its query. */
  request: string;
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the checks verify its content
  json: any;
}

interface Call {
  /** Sends objects as JSON, and texts unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Calls the API with one credential. */
export type Client = (method: string, path: string, call?: Call) => Promise<Response>;

/** API Gateway has a limit of 29 seconds. */
const TIMEOUT_MS = 35_000;

/** `baseUrl` has no trailing slash. After `signal` is aborted, requests fail with an AbortError. */
export function createClient(baseUrl: string, credential: string | null, signal?: AbortSignal): Client {
  return async (method, path, { body, headers } = {}) => {
    const request = `${method} ${path.split('?')[0]}`;
    const response = await fetch(baseUrl + path, {
      method,
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]),
      headers: {
        ...(credential !== null && { Authorization: `Bearer ${credential}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }).catch((error: Error) => {
      if (signal?.aborted) throw error;
      throw new Error(`${request}: ${(error.cause as Error | undefined)?.message ?? error.message}`);
    });
    const text = await response.text();
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
    return {
      request,
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text || 'null') : undefined,
    };
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
