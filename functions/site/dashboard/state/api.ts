import type * as v from 'valibot';
import type { OperationId, Operations } from '../../../../lib/api/operations.ts';
import { takesKey } from '../../../../lib/client/repeats.ts';
import { createLimiter } from '../../../../lib/concurrency.ts';
import type { Environment } from '../../../../lib/space.ts';
import { parseJson } from './parse-json.ts';

/** `METHOD /path` of every operation. A call of an unknown operation is a type error. */
type RouteOf<Id extends OperationId> = `${Operations[Id]['method']} ${Operations[Id]['path']}`;
export type Route = { [Id in OperationId]: RouteOf<Id> }[OperationId];
type OperationAt<R extends Route> = { [Id in OperationId]: R extends RouteOf<Id> ? Id : never }[OperationId];

type Input<Schema> = Schema extends v.GenericSchema ? v.InferInput<Schema> : never;
type Output<Schema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : true;
type Parameters<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Parameters<Rest> : never;
type PathOf<R extends Route> = Parameters<Operations[OperationAt<R>]['path']>;
/** An empty parameter is left out. */
export type QueryOf<R extends Route> = {
  [Name in keyof Operations[OperationAt<R>]['query']]?:
    | Input<Operations[OperationAt<R>]['query'][Name]>
    | ''
    | undefined;
};
type BodyOf<R extends Route> = Operations[OperationAt<R>] extends { body: infer Schema } ? Input<Schema> : never;

type HeadersOf<R extends Route> = {
  [Name in keyof Operations[OperationAt<R>]['headers']]?:
    | Input<Operations[OperationAt<R>]['headers'][Name]>
    | undefined;
};

/** The body of a successful response, or `true` without a body. No request here is conditional, so 304 cannot occur. */
export type ResponseOf<R extends Route> = Output<
  Operations[OperationAt<R>]['responses'][Exclude<keyof Operations[OperationAt<R>]['responses'], 304>]
>;
/** An entry of a list. */
export type EntryOf<R extends Route> = ResponseOf<R> extends { data: readonly (infer Entry)[] } ? Entry : never;

export type Key = ResponseOf<'GET /v1/keys/{key}'>;
export type Webhook = ResponseOf<'GET /v1/webhooks/{id}'>;
export type Delivery = ResponseOf<'GET /v1/webhooks/{id}/deliveries/{event_id}'>;
export type Recovery = NonNullable<ResponseOf<'GET /v1/webhooks/{id}/recover'>['recovery']>;
export type Document = EntryOf<'GET /v1/documents'>;

/** A problem document (RFC 9457) from the API, `unreadable` for another response, or `unreachable` if there was none. */
export interface Problem {
  code: string;
  status: number;
  detail: string;
  request_id?: string;
  errors?: { field: string; detail: string }[];
}
export type Result<Value> = { value: Value; problem?: undefined } | { problem: Problem; value?: undefined };

export type CallOptions<R extends Route> = ([PathOf<R>] extends [never]
  ? object
  : { path: Record<PathOf<R>, string> }) & {
  query?: QueryOf<R>;
  headers?: HeadersOf<R>;
  body?: BodyOf<R>;
};
export type Call = <R extends Route>(route: R, options: CallOptions<R>) => Promise<Result<ResponseOf<R>>>;

type AnyOptions = {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  headers?: Record<string, string>;
  body?: unknown;
};

// A page can send many reads, and a new AWS account runs only 10 functions concurrently. Writes skip the queue.
const limited = createLimiter(4);

/** The last change with an unknown outcome, by its URL, precondition and body. A repeat of the request takes effect once. */
const unsettled = new Map<string, { idempotencyKey: string; sentAt: number }>();
/** After this time, the same request is a new one, such as a second redelivery. */
const REPEAT_MS = 10 * 60 * 1000;

/** Calls the API that served this page, with a key, in one environment. Operations for anyone need neither. */
export function createCall(key: string | null, environment: Environment | null, onUnauthorized: () => void): Call {
  const call = async (route: string, options: AnyOptions): Promise<Result<unknown>> => {
    const { path = {}, query = {}, body } = options;
    const [method = '', template = ''] = route.split(' ');
    const url = new URL(`.${template.replace(/\{(\w+)\}/g, (_, name) => segmentOf(path[name] ?? ''))}`, location.href);
    for (const [name, value] of Object.entries<unknown>({ ...query, environment })) {
      for (const each of [value].flat()) if (each) url.searchParams.append(name, String(each));
    }
    const credential: Record<string, string> = key === null ? {} : { Authorization: `Bearer ${key}` };
    const headers: Record<string, string> = { ...options.headers, ...credential };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const request = `${url} ${JSON.stringify([options.headers, body])}`;
    if (takesKey(method, template)) {
      const last = unsettled.get(request);
      const isRepeat = last !== undefined && Date.now() - last.sentAt < REPEAT_MS;
      const idempotencyKey = isRepeat ? last.idempotencyKey : crypto.randomUUID();
      unsettled.set(request, { idempotencyKey, sentAt: Date.now() });
      headers['Idempotency-Key'] = idempotencyKey;
    }
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const init: RequestInit = { method, headers, credentials: 'omit', cache: 'no-store', signal };
      if (body !== undefined) init.body = JSON.stringify(body);
      const response = await (method === 'GET' ? limited(() => fetch(url, init)) : fetch(url, init));
      noteServerTime(response.headers.get('Date'));
      const text = await response.text();
      const value = text === '' || jsonIn(text);
      const unreadable = { problem: { ...UNREADABLE, status: response.status } };
      if (value === undefined) return unreadable;
      if (isSettled(response.status, value)) unsettled.delete(request);
      if (response.ok) return { value };
      if (response.status === 401) onUnauthorized();
      return isProblem(value) ? { problem: value } : unreadable;
    } catch {
      return { problem: UNREACHABLE };
    }
  };
  return call as Call;
}

export const callWithoutKey = createCall(null, null, () => {});

/** The value of a response, or `undefined` if it is not JSON, such as a page of a proxy. */
function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Browsers remove `.` and `..` from a URL, even if they are encoded once. No resource has these ids, and the API rejects `%2E`. */
const segmentOf = (id: string): string => (/^\.\.?$/.test(id) ? id.replaceAll('.', '%252E') : encodeURIComponent(id));

/** Whether a response states the outcome of its request. After other responses, the request may still take effect. */
const isSettled = (status: number, value: unknown): boolean =>
  status < 500 && !(isProblem(value) && value.code === 'idempotency_in_progress');

/** A lost connection must not keep a dialog open. API Gateway responds within 30 s. */
const TIMEOUT_MS = 60_000;

let clockOffsetMs = 0;

/** The time of the service, which determines when keys expire. The clock of the user can be wrong. */
export const serverNow = (): number => Date.now() + clockOffsetMs;

function noteServerTime(date: string | null): void {
  if (date === null) return;
  const offsetMs = Date.parse(date) - Date.now();
  clockOffsetMs = Math.abs(offsetMs) > 5000 ? offsetMs : 0; // the header is rounded to seconds and took time to arrive
}

const UNREACHABLE = {
  code: 'unreachable',
  status: 0,
  detail: 'Could not reach the service. Check your connection and try again.',
};
const UNREADABLE = { code: 'unreadable', detail: 'The service returned an unexpected response. Try again.' };

const isProblem = (value: unknown): value is Problem =>
  typeof value === 'object' && value !== null && 'code' in value && 'detail' in value;

/** Reads all keys or webhooks, up to 1000. */
export async function all<R extends 'GET /v1/keys' | 'GET /v1/webhooks'>(
  call: Call,
  route: R,
): Promise<Result<EntryOf<R>[]>> {
  const read = (cursor: string | undefined) => call(route as 'GET /v1/keys', { query: { limit: '100', cursor } });
  return readPages(read, 1000) as Promise<Result<EntryOf<R>[]>>;
}

/** Reads the entries of a list page by page, up to `max`. */
export async function readPages<Entry>(
  read: (cursor: string | undefined) => Promise<Result<{ data: Entry[]; next_cursor: string | null }>>,
  max = Number.POSITIVE_INFINITY,
): Promise<Result<Entry[]>> {
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const { value, problem } = await read(cursor);
    if (problem) return { problem };
    entries.push(...value.data);
    cursor = value.next_cursor ?? undefined;
  } while (cursor !== undefined && entries.length < max);
  return { value: entries };
}
