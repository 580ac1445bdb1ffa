import createFetchClient, { type Client } from 'openapi-fetch';
import { type Access, requireAccess, urlOf } from './access.ts';
import type { components, paths } from './api.js';
import { isCount, isObject, isText, requireArgument } from './arguments.ts';
import { reasonOf, retryAfterOf } from './publish-batch.ts';
import { DIRECT, direct } from './redirect.ts';
import { isRepeatable, takesKey } from './repeats.ts';

export interface ClientOptions extends Access {
  /** How often a request is repeated after a 429 or 503 response. The default is 2. */
  maxRetries?: number;
}

export type DocumentSyncClient = Client<paths>;

/** The body of an error response (RFC 9457). */
export type ProblemDocument = components['schemas']['Problem'];

/** A longer `Retry-After` is returned to the caller, who can decide better what to do. */
const MAX_WAIT_SECONDS = 60;

/**
 * Creates a typed client for every operation. A request that supports an `Idempotency-Key` gets one, unless it has one. After a 429
 * response, the client repeats a request after the seconds in `Retry-After`, at most a minute. After a 503 response, the request may
 * have taken effect, so the client repeats only what cannot act twice: reads, requests with an `Idempotency-Key`, and `POST /v1/sync`
 * with a `sync_id` or without pushes. A redirect throws.
 */
export function createClient(options: ClientOptions): DocumentSyncClient {
  requireAccess(options);
  const { baseUrl, credential, maxRetries = 2 } = options;
  requireArgument(isCount(maxRetries), 'maxRetries as a whole number from 0', maxRetries);
  const send = options.fetch ?? fetch;
  const repeatable = new WeakSet<Request>();
  const client = createFetchClient<paths>({
    baseUrl: urlOf(baseUrl, ''),
    headers: { Authorization: `Bearer ${credential}` },
    ...DIRECT,
    async fetch(request) {
      for (let retries = 0; ; retries++) {
        const response = direct(await send(request.clone()), request.url);
        const { status } = response;
        const seconds = retryAfterOf(response) ?? 1;
        const isUseful = status === 429 || (status === 503 && repeatable.has(request));
        if (!isUseful || retries >= maxRetries || seconds > MAX_WAIT_SECONDS) return response;
        await response.body?.cancel();
        await wait(seconds, request.signal);
      }
    },
  });
  client.use({
    async onRequest({ request, schemaPath, params }) {
      requirePath(schemaPath, params.path);
      const { method, headers } = request;
      if (takesKey(method, schemaPath) && !headers.has('Idempotency-Key'))
        headers.set('Idempotency-Key', crypto.randomUUID());
      const body = schemaPath === '/v1/sync' ? await request.clone().json() : undefined;
      if (isRepeatable(method, schemaPath, body)) repeatable.add(request);
    },
  });
  return client;
}

/** Throws if a parameter in a path is missing, because the URL would contain its name. */
function requirePath(path: unknown, values: Record<string, unknown> = {}): void {
  requireArgument(isText(path) && path.startsWith('/v1/'), 'a path of the API reference, such as /v1/events', path);
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g))
    requireArgument(isText(values[name]), `params.path.${name} as text, for ${path}`, values[name]);
}

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
  requireArgument(typeof client?.GET === 'function', 'the result of createClient first', client);
  requireArgument(isObject(params), 'params as an object, such as { query: { limit: 100 } }', params);
  const get = client.GET as (
    path: string,
    init: object,
  ) => Promise<{ data?: Page; error?: ProblemDocument; response: Response }>;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { ...(params.query as object | undefined), ...(cursor !== undefined && { cursor }) };
    const { data, error, response } = await get(path, { params: { ...params, query } });
    if (!data) throw new ApiError(response.status, error);
    requireArgument(Array.isArray(data.data), 'the path of a list, such as /v1/events', path);
    yield* data.data as EntryOf<Path>[];
    cursor = data.next_cursor;
  }
}
