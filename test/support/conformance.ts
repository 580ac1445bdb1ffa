import assert from 'node:assert/strict'; // a tenth of the time of `expect`, which counts for the calls of all tests
import { METHODS } from '../../infra/local/gateway/routes.ts';
import { operationsByPath } from '../../lib/api/operations.ts';
import { PROBLEM_TYPE, PROBLEMS, type ProblemCode } from '../../lib/http/problems.ts';
import { openApi, pathOf, violationsOf } from './openapi.ts';
import type { Answer } from './service.ts';

interface Response {
  /** A reference to a problem. */
  $ref?: string;
  description: string;
  content?: Record<string, unknown>;
  headers?: Record<string, unknown>;
}

interface Operation {
  responses: Record<number, Response>;
  requestBody?: { required?: boolean };
  parameters: { name: string; in: string }[];
}

/** The base URL of a local stack, in problems. */
const LOCAL = /^http:\/\/127\.0\.0\.1:\d+$/;

/** Checks a response, and a request that was accepted, against the OpenAPI document, for every call of a test. */
export function expectConformance(
  method: string,
  path: string,
  answer: Answer,
  requestBody: unknown,
  baseUrl: string | RegExp = LOCAL,
): void {
  try {
    check(method, path, answer, requestBody);
    if (answer.status >= 400 && method !== 'HEAD') {
      const [base = '', code] = String(answer.body.type).split('/docs/errors#');
      assert.equal(code, answer.body.code);
      assert(typeof baseUrl === 'string' ? base === baseUrl : baseUrl.test(base), `the base URL ${base}`);
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) error.message = `${method} ${path} ${answer.status}: ${error.message}`;
    throw error;
  }
}

const isOfRejectedPush = (fault: string, body: Answer['body']): boolean => {
  const [, position] = /^\/push\/(\d+)\b/.exec(fault) ?? [];
  return position !== undefined && body?.results?.[Number(position)]?.code === 'invalid_request';
};

function check(method: string, path: string, { status, headers, text, body }: Answer, requestBody: unknown): void {
  assert(headers['x-request-id'], 'every answer has a request id');
  assert.equal(headers['strict-transport-security'], 'max-age=31536000');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  if (headers['content-type']?.includes('json'))
    assert.match(
      String(headers['content-security-policy'] ?? headers['x-frame-options']),
      /frame-ancestors 'none'|^DENY$/,
    );
  if (method === 'HEAD') {
    assert.equal(text, '');
    return;
  }
  const route = (path.split('?')[0] ?? '').replace(/(?<=.)\/$/, ''); // API Gateway ignores a trailing slash
  const known = pathOf(route);
  const isOperation = known !== undefined && operationsByPath.get(known)?.some((each) => each.method === method);
  if (status >= 400) {
    assert.equal(headers['content-type'], PROBLEM_TYPE);
    assert.equal(headers['cache-control'], 'no-store');
    assert.deepEqual(violationsOf(body, 'components', 'schemas', 'Problem'), []);
    const code: ProblemCode = body.code;
    assert.equal(body.status, status);
    assert.equal(body.request_id, headers['x-request-id']);
    if (status === 401) assert.equal(headers['www-authenticate'], 'Bearer');
    assert.match(body.detail, /^\S+( \S+)*$/); // a text without a gap
    assert.equal(PROBLEMS[code].status, status);
    if (body.errors) assert.equal(status, 400);
  }
  if (!isOperation) {
    const isOther = known !== undefined && METHODS.includes(method);
    // Only callers with a credential receive the methods of the path.
    const codes = isOther ? ['method_not_allowed', 'unauthorized', 'ip_not_allowed'] : ['route_not_found'];
    assert(codes.includes(body?.code), `${method} ${route} ${body?.code}`);
    assert.equal('allow' in headers, body?.code === 'method_not_allowed');
    return;
  }
  const operation = openApi.paths[known]?.[method.toLowerCase()] as Operation | undefined;
  if (!operation) return; // a web page
  if (status < 300 && operation.requestBody) {
    const value = typeof requestBody === 'string' ? JSON.parse(requestBody) : requestBody;
    const schema = ['paths', known, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema'];
    const isOmitted = value === undefined && !operation.requestBody.required;
    // Forms of times and URLs that JSON Schema has no format for are accepted too.
    const faults = isOmitted ? [] : violationsOf(value, ...schema).filter((fault) => !/ match format /.test(fault));
    // of a request that was accepted, apart from its rejected pushes
    assert.deepEqual(
      faults.filter((fault) => !isOfRejectedPush(fault, body)),
      [],
    );
  }
  const given = operation.responses[status];
  assert(given, `undocumented ${body?.code ?? ''}`);
  if (status >= 400)
    assert(given.description.includes(`\`${body.code}\``), `${method} ${route} ${status} ${body.code}`);
  const name = given?.$ref?.split('/').at(-1) ?? '';
  const place = given?.$ref
    ? ['components', 'responses', name]
    : ['paths', known, method.toLowerCase(), 'responses', status];
  const response = given?.$ref ? (openApi.components.responses[name] as Response) : given;
  const differing = Object.keys(openApi.components.headers).filter((name) => {
    const isOptional = name === 'Idempotency-Replayed'; // only in repeated responses
    const isDeclared = name in (response?.headers ?? {});
    return name.toLowerCase() in headers ? !isDeclared : isDeclared && !isOptional;
  });
  assert.deepEqual(differing, []);
  if (status < 300) {
    const documented = operation.parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    const sent = [...new URLSearchParams(path.split('?')[1]).keys()];
    assert.deepEqual(
      sent.filter((name) => !documented.includes(name)),
      [],
    );
  }
  if (route.startsWith('/v1/') && route !== '/v1/event-types') assert.equal(headers['cache-control'], 'no-store');
  const type = headers['content-type']?.split(';')[0] ?? '';
  if (!response?.content) {
    assert.deepEqual([text, type], ['', '']);
    return;
  }
  const declared = type in response.content ? type : '*/*';
  const value = type.endsWith('json') ? body : text;
  for (const { attempts = [] } of Array.isArray(body?.data) ? body.data : [])
    for (const { url, request_headers, response_headers, response_excerpt } of attempts)
      assert.deepEqual([url, request_headers, response_headers, response_excerpt], [null, null, null, null]);
  const faults = violationsOf(value, ...place, 'content', declared, 'schema');
  assert.deepEqual(faults, []);
}
