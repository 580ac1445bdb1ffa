import type { APIGatewayProxyResult } from 'aws-lambda';
import { MAX_VIOLATIONS, type Violation } from '../schema.ts';
import { problemHeaders } from './headers.ts';

/** Every error code of the interface, with its HTTP status and title. The status is decided here and nowhere else. */
export const PROBLEMS = {
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_request: { status: 400, title: 'The request is not valid' },
  invalid_cursor: { status: 400, title: 'The cursor is not valid' },
  unauthorized: { status: 401, title: 'The credential is missing or not valid' },
  insufficient_permissions: { status: 403, title: 'The credential is not allowed to do this' },
  ip_not_allowed: { status: 403, title: 'The address is not on the allowlist of the key' },
  project_suspended: { status: 403, title: 'The project is suspended' },
  document_not_allowed: { status: 403, title: 'The token does not cover this document' },
  not_found: { status: 404, title: 'Resource not found' },
  route_not_found: { status: 404, title: 'Operation not found' },
  method_not_allowed: { status: 405, title: 'The method is not supported here' },
  conflict: { status: 409, title: 'The state of the resource does not allow this' },
  resync_required: { status: 409, title: 'The checkpoint is older than a restore' },
  idempotency_in_progress: { status: 409, title: 'The first request with this key is still in progress' },
  limit_reached: { status: 409, title: 'Limit reached' },
  precondition_failed: { status: 412, title: 'The resource has changed' },
  payload_too_large: { status: 413, title: 'The payload is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key was used for another request' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  internal_error: { status: 500, title: 'The service failed' },
  unavailable: { status: 503, title: 'The service is temporarily unavailable' },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** An expected outcome that is not a success. Functions return it and never throw it. */
export class Problem {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly errors: readonly Violation[] | undefined;
  /** Headers in addition to those of its status. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, detail: string, errors?: readonly Violation[], headers: Record<string, string> = {}) {
    this.code = code;
    this.detail = detail;
    this.errors = errors;
    this.headers = headers;
  }
}

/** The 400 that lists every violation, up to a limit. The last entry then states how many more were found. */
export function invalid(violations: readonly Violation[]): Problem {
  const more = violations.length - MAX_VIOLATIONS + 1;
  const rest = { field: 'body', detail: `at least ${more} more violations are not listed` };
  const errors = more > 1 ? [...violations.slice(0, MAX_VIOLATIONS - 1), rest] : violations;
  return new Problem('invalid_request', 'Correct the fields listed in errors and send the request again.', errors);
}

/** The 413 for a body over the limit of its operation. */
export const bodyTooLarge = (maxBytes: number): Problem =>
  new Problem('payload_too_large', `Send a body of at most ${maxBytes} bytes.`);

export const routeNotFound = (): Problem => new Problem('route_not_found', 'See the API reference for all operations.');

/** 405 with the methods that the path has (RFC 9110 §15.5.6). */
export function methodNotAllowed(methods: readonly string[]): Problem {
  const allowed = methods.join(', ');
  return new Problem('method_not_allowed', `Use one of the methods of this path: ${allowed}.`, undefined, {
    Allow: allowed,
  });
}

/** 429 for a request that publishes events, while the project is over its budget of deliveries. */
export const tooManyDeliveries = (seconds: number): Problem =>
  new Problem(
    'too_many_requests',
    `Send the request again in ${seconds} s. It changed nothing. The events of this project caused more deliveries than its limit: each event counts once for every webhook that is subscribed to it.`,
    undefined,
    { 'Retry-After': String(seconds) },
  );

export const notFound = (what: string): Problem =>
  new Problem('not_found', `No such ${what} exists in this project and environment.`);

export const documentNotAllowed = (): Problem =>
  new Problem('document_not_allowed', 'Use a token whose patterns match this document.');

export const PROBLEM_TYPE = 'application/problem+json';

/**
 * The detail of a 500 or 503 response with an unknown outcome. It applies to every method, because API Gateway only replaces
 * variables in its responses and has no conditions.
 */
export const OUTCOME_UNKNOWN =
  'Send a GET again. Send any other request again with the same Idempotency-Key, or check first whether it took effect. If it fails again, send the request id to the operator.';

/** The `type` of a problem, which is the absolute URI of its documentation (RFC 9457 §3.1.1). */
export const problemType = (baseUrl: string, code: string): string => `${baseUrl}/docs/errors#${code}`;

/** The body of an error response (RFC 9457). */
export function problemBody(
  { code, detail, errors }: Pick<Problem, 'code' | 'detail' | 'errors'>,
  requestId: string,
  baseUrl: string,
) {
  const { status, title } = PROBLEMS[code];
  return {
    type: problemType(baseUrl, code),
    title,
    status,
    detail,
    code,
    request_id: requestId,
    ...(errors && { errors: errors.map(({ field, detail }) => ({ field, detail })) }),
  };
}

/** A problem as a function returns it. */
export function problemResult(problem: Problem, requestId: string, baseUrl: string): APIGatewayProxyResult {
  const { status } = PROBLEMS[problem.code];
  return {
    statusCode: status,
    headers: {
      'Content-Type': PROBLEM_TYPE,
      'Cache-Control': 'no-store',
      ...problemHeaders(status),
      ...problem.headers,
    },
    body: JSON.stringify(problemBody(problem, requestId, baseUrl)),
  };
}
