import { type Access, urlOf } from './access.ts';
import { DIRECT, direct } from './redirect.ts';

/** Why the service does not accept an event (RFC 9457). */
export interface Rejection {
  status: number;
  code: string;
  detail: string;
  errors?: readonly { field: string; detail: string }[];
}

export type Outcome =
  | { type: 'published' }
  /** The service accepted no event, because of those at `invalid`. If it is empty, any of them can be the cause. */
  | { type: 'rejected'; problem: Rejection; invalid: readonly number[] }
  /** The idempotency key belongs to other events. */
  | { type: 'reused' }
  /** The outcome is unknown, or a later attempt can succeed. */
  | { type: 'failed'; reason: string; retryAfterSeconds?: number };

const TIMEOUT_MS = 30_000;
/** A longer `Retry-After` is an error of a proxy. */
const MAX_RETRY_AFTER_SECONDS = 3600;
const REJECTIONS = ['invalid_json', 'invalid_request', 'payload_too_large'];

interface Request {
  body?: string;
  headers?: Record<string, string>;
  timeoutMs?: number;
  ended?: AbortSignal;
}

/** Sends a request, and returns its response with the text of the body. Throws if the response is a redirect. */
export async function send(access: Access, method: string, path: string, request: Request = {}) {
  const { body, headers, timeoutMs = TIMEOUT_MS, ended } = request;
  const url = urlOf(access.baseUrl, path);
  const response = await (access.fetch ?? fetch)(url, {
    ...DIRECT,
    method,
    headers: {
      Authorization: `Bearer ${access.credential}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(ended ? [ended] : [])]),
  });
  return { response: direct(response, url), text: await response.text() };
}

/** Publishes events, given as JSON, in one request. A repetition with the same idempotency key publishes nothing twice. */
export async function publishBatch(
  access: Access,
  events: readonly string[],
  idempotencyKey: string,
  ended: AbortSignal,
): Promise<Outcome> {
  try {
    const body = `{"events":[${events.join()}]}`;
    const headers = { 'Idempotency-Key': idempotencyKey };
    const { response, text } = await send(access, 'POST', '/v1/events/batch', { body, headers, ended });
    // The page of a proxy, such as its login, has another successful status.
    return response.status === 202 ? { type: 'published' } : outcomeOf(response, text);
  } catch (error) {
    const { message } = error as Error;
    const cause = causeOf(error);
    return { type: 'failed', reason: cause ? `${message}: ${cause}` : message };
  }
}

/** Why a request has no response, if its error states that. The error for a host with several addresses has only a code. */
export function causeOf(error: unknown): string | undefined {
  const { cause } = error as { cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code;
}

function outcomeOf(response: Response, text: string): Outcome {
  const problem = problemIn(text);
  if (problem && REJECTIONS.includes(problem.code)) return { type: 'rejected', problem, invalid: invalidIn(problem) };
  if (problem?.code === 'idempotency_key_reused') return { type: 'reused' };
  return { type: 'failed', reason: reasonOf(response.status, problem), retryAfterSeconds: retryAfterOf(response) };
}

/** The seconds in `Retry-After`. `undefined`: none, a date, or 0, which would repeat requests without a wait. */
export function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = /^[1-9]\d*$/.exec(headers.get('Retry-After') ?? '')?.[0];
  return seconds === undefined ? undefined : Math.min(Number(seconds), MAX_RETRY_AFTER_SECONDS);
}

/** Describes an unsuccessful response. That of a proxy contains no problem document, but it can contain other JSON. */
export const reasonOf = (status: number, problem: Rejection | null | undefined): string =>
  problem?.code ? `${status} ${problem.code}: ${problem.detail}` : `${status} without a problem document`;

/** The problem document of an unsuccessful response, or `null` for the text of a proxy. */
export function problemIn(text: string): Rejection | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the places of the events that a problem names, such as 3 for `events[3].data.revision`. */
function invalidIn({ errors = [] }: Rejection): number[] {
  const places = errors.flatMap(({ field }) => /^events\[(\d+)\]/.exec(field)?.[1] ?? []);
  return [...new Set(places.map(Number))];
}
