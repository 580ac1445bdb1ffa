import type * as v from 'valibot';
import { problemHeaders } from '../../http/headers.ts';
import type { Operation } from '../../http/operation.ts';
import { PROBLEM_TYPE, PROBLEMS, type ProblemCode, problemBody } from '../../http/problems.ts';
import { apiOperations, type OperationId } from '../operations.ts';
import { ADVICE, codesOf } from './advice.ts';
import { EXAMPLE_REQUEST_ID, EXAMPLES } from './examples.ts';
import { jsonSchemaOf, refTo } from './schemas.ts';

/** Returns every response of an operation by status, including its problems. */
export function responsesOf(id: OperationId, operation: Operation) {
  return {
    ...Object.fromEntries(
      Object.entries(operation.responses).map(([status, schema]) => [
        status,
        success(id, operation, Number(status), schema),
      ]),
    ),
    ...problemsOf(operation),
  };
}

const text = { type: 'string' };
/** `components.headers`. */
export const HEADERS = {
  'X-Request-Id': { description: 'Identifies the request in the logs.', schema: text },
  'X-Service-Version': { description: 'The release of the service.', schema: text },
  Location: { description: 'The URL of the new resource.', schema: text },
  ETag: { description: 'Identifies the content. The ETag of a document is its revision, in quotes.', schema: text },
  'Idempotency-Replayed': { description: '`true`: the response to the first request, without secrets.', schema: text },
  'Retry-After': { description: 'Seconds to wait before the next request.', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'The authentication scheme.', schema: text },
};
const headersOf = (names: readonly string[]) =>
  Object.fromEntries(
    ['X-Request-Id', 'X-Service-Version', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

function success(id: OperationId, operation: Operation, status: number, schema: v.GenericSchema | null) {
  const isUsual = status === Number(Object.keys(operation.responses)[0]);
  const { response } = EXAMPLES[id];
  const headers = [
    ...operation.responseHeaders,
    ...(status === 201 && operation.location ? ['Location'] : []),
    ...(operation.idempotencyKey ? ['Idempotency-Replayed'] : []),
  ];
  return {
    description: STATUSES[status] ?? '',
    headers: headersOf(headers),
    ...(schema && {
      content: {
        'application/json': {
          schema: jsonSchemaOf(schema),
          ...(isUsual && response !== undefined && { example: response }),
        },
      },
    }),
  };
}

const STATUSES: Record<number, string> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted. The work continues after this response.',
  204: 'Success, without a body.',
  302: 'Found elsewhere: at the URL in Location.',
  304: 'Not modified since the ETag in If-None-Match.',
};

// The description lists the codes of an operation. A separate schema per operation would be a separate type in every client.
function problemsOf(operation: Operation) {
  return Object.fromEntries(
    [...byStatus(codesOf(operation))].map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/Problem${status}`, description: meaningsOf(codes) },
    ]),
  );
}

/** `components.responses`: one for each status of a problem. */
export function problemResponses() {
  return Object.fromEntries(
    [...byStatus([...new Set(apiOperations.flatMap(codesOf))])].map(([status, codes]) => [
      `Problem${status}`,
      {
        description: meaningsOf(codes),
        headers: headersOf(Object.keys(problemHeaders(status))),
        content: { [PROBLEM_TYPE]: { schema: { $ref: refTo('Problem') }, examples: problemExamples(codes) } },
      },
    ]),
  );
}

const byStatus = (codes: readonly ProblemCode[]): Map<number, ProblemCode[]> => {
  const statusOf = (code: ProblemCode) => PROBLEMS[code].status;
  return new Map(codes.map(statusOf).map((status) => [status, codes.filter((code) => statusOf(code) === status)]));
};

const meaningsOf = (codes: readonly ProblemCode[]): string =>
  codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' ');

const problemExamples = (codes: readonly string[]) =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));

/** `components.examples` contains one for every code that an operation can return. */
export function allProblemExamples(baseUrl: string) {
  const codes = [...new Set(apiOperations.flatMap(codesOf))];
  const violations = [{ field: 'limit', detail: 'must be an integer from 1 to 100' }];
  return Object.fromEntries(
    codes.map((code) => {
      const problem = {
        code,
        detail: ADVICE[code].replaceAll('`', ''),
        errors: code === 'invalid_request' ? violations : undefined,
      };
      return [code, { summary: PROBLEMS[code].title, value: problemBody(problem, EXAMPLE_REQUEST_ID, baseUrl) }];
    }),
  );
}
