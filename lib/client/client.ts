import createFetchClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './api.js';
import { type Access, reasonOf, retryAfterOf } from './publish-batch.ts';

export interface ClientOptions extends Access {
  /** How often a request is repeated after a 429 or 503 response. The default is 2. */
  maxRetries?: number;
}

export type DocumentSyncClient = Client<paths>;

/** The body of an error response (RFC 9457). */
export type ProblemDocument = components['schemas']['Problem'];

/**
 * Creates a typed client for every operation. Each `POST` gets an `Idempotency-Key`, unless it has one, so a repeated request takes effect
 * once. Requests are repeated after 429 and 503 responses, after the seconds in `Retry-After`. A `DELETE` or a change with a precondition is
 * not repeated after 503, because the repetition fails with 404 or 412 if the first request took effect.
 */
export function createClient({ baseUrl, credential, maxRetries = 2, ...options }: ClientOptions): DocumentSyncClient {
  const send = options.fetch ?? fetch;
  const client = createFetchClient<paths>({
    baseUrl: baseUrl.replace(/\/+$/, ''),
    headers: { Authorization: `Bearer ${credential}` },
    async fetch(request) {
      for (let retries = 0; ; retries++) {
        const response = await send(request.clone());
        const { status } = response;
        if (retries >= maxRetries || !(status === 429 || (status === 503 && isRepeatable(request)))) return response;
        await response.body?.cancel();
        await wait(retryAfterOf(response) ?? 1, request.signal);
      }
    },
  });
  client.use({
    onRequest({ request }) {
      if (request.method === 'POST' && !request.headers.has('Idempotency-Key'))
        request.headers.set('Idempotency-Key', crypto.randomUUID());
    },
  });
  return client;
}

const isRepeatable = ({ method, headers }: Request): boolean =>
  method === 'GET' || (method !== 'DELETE' && !headers.has('If-Match') && !headers.has('If-None-Match'));

/** Rejects when the caller aborts the request. */
const wait = (seconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/** The paths of the operations that return a page of a list. */
type ListPath = {
  [Path in keyof paths]: paths[Path] extends { get: { responses: { 200: { content: { 'application/json': Page } } } } }
    ? Path
    : never;
}[keyof paths];
interface Page {
  data: readonly unknown[];
  next_cursor: string | null;
}
type OperationOf<Path extends ListPath> = paths[Path]['get'];
type EntryOf<Path extends ListPath> =
  OperationOf<Path>['responses'][200]['content']['application/json']['data'][number];

/** An unsuccessful response. `problem.code` states the reason. The response of a proxy has only a status. */
export class ApiError extends Error {
  readonly problem: Pick<ProblemDocument, 'status'> & Partial<ProblemDocument>;

  constructor(status: number, problem?: ProblemDocument) {
    super(reasonOf(status, problem));
    this.problem = problem?.code ? problem : { status };
  }
}

/** Iterates over every entry of a list, page by page. Throws `ApiError`. */
export async function* entriesOf<Path extends ListPath>(
  client: DocumentSyncClient,
  path: Path,
  params: Omit<OperationOf<Path>['parameters'], 'header' | 'cookie'> = {} as never,
): AsyncGenerator<EntryOf<Path>> {
  const get = client.GET as (
    path: string,
    init: object,
  ) => Promise<{ data?: Page; error?: ProblemDocument; response: Response }>;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { ...(params.query as object | undefined), ...(cursor !== undefined && { cursor }) };
    const { data, error, response } = await get(path, { params: { ...params, query } });
    if (!data) throw new ApiError(response.status, error);
    yield* data.data as EntryOf<Path>[];
    cursor = data.next_cursor;
  }
}
