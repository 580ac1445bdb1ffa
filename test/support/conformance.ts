import { expect } from 'vitest';
import { METHODS } from '../../infra/local/gateway/routes.ts';
import { operationsByPath } from '../../lib/http/operations.ts';
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

/** Checks a response, and a request that was accepted, against the OpenAPI document, for every call of a test. */
export function expectConformance(
  method: string,
  path: string,
  { status, headers, text, body }: Answer,
  requestBody: unknown,
): void {
  expect(headers['x-request-id'], 'every answer has a request id').toBeTruthy();
  expect(headers['strict-transport-security'], 'every answer has an HSTS policy').toBe('max-age=31536000');
  expect(headers, 'no browser guesses a type').toMatchObject({ 'x-content-type-options': 'nosniff' });
  if (headers['content-type']?.includes('json'))
    expect(headers['content-security-policy'] ?? headers['x-frame-options']).toMatch(/frame-ancestors 'none'|^DENY$/);
  if (method === 'HEAD') {
    expect(text).toBe('');
    return;
  }
  const route = (path.split('?')[0] ?? '').replace(/(?<=.)\/$/, ''); // API Gateway ignores a trailing slash
  const known = pathOf(route);
  const isOperation = known !== undefined && operationsByPath.get(known)?.some((each) => each.method === method);
  if (status >= 400) {
    expect(headers['content-type']).toBe(PROBLEM_TYPE);
    expect(headers['cache-control'], 'no cache stores a problem').toBe('no-store');
    expect(violationsOf(body, 'components', 'schemas', 'Problem')).toEqual([]);
    const code: ProblemCode = body.code;
    expect(body.status).toBe(status);
    expect(body.request_id).toBe(headers['x-request-id']);
    if (status === 401) expect(headers['www-authenticate']).toBe('Bearer');
    expect(body.detail, 'the detail is a text without a gap').toMatch(/^\S+( \S+)*$/);
    expect(body.type).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/docs/errors#${code}$`));
    expect(PROBLEMS[code].status).toBe(status);
    if (body.errors) expect(status).toBe(400);
  }
  if (!isOperation) {
    const isOther = known !== undefined && METHODS.includes(method);
    // Only callers with a credential receive the methods of the path.
    const codes = isOther ? ['method_not_allowed', 'unauthorized', 'ip_not_allowed'] : ['route_not_found'];
    expect(codes, `${method} ${route}`).toContain(body?.code);
    expect('allow' in headers).toBe(body?.code === 'method_not_allowed');
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
    expect(faults, `${method} ${route} ${status} accepted`).toEqual([]);
  }
  const given = operation.responses[status];
  expect(given, `${method} ${route} may answer ${status} ${body?.code ?? ''}`).toBeDefined();
  if (status >= 400) expect(given?.description, `${method} ${route} ${status}`).toContain(`\`${body.code}\``);
  const name = given?.$ref?.split('/').at(-1) ?? '';
  const place = given?.$ref
    ? ['components', 'responses', name]
    : ['paths', known, method.toLowerCase(), 'responses', status];
  const response = given?.$ref ? (openApi.components.responses[name] as Response) : given;
  const differing = Object.keys(openApi.components.headers).filter((name) => {
    const isOptional = name === 'Idempotency-Replayed'; // only in repeated responses
    const isUndocumented = status >= 400 && name === 'RateLimit-Policy'; // API Gateway sends the same problems without it
    const isDeclared = name in (response?.headers ?? {});
    return name.toLowerCase() in headers ? !isDeclared && !isUndocumented : isDeclared && !isOptional;
  });
  expect(differing, `${method} ${route} ${status} has the documented headers`).toEqual([]);
  if (status < 300) {
    const documented = operation.parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    expect(documented, `${method} ${route}`).toEqual(
      expect.arrayContaining([...new URLSearchParams(path.split('?')[1]).keys()]),
    );
  }
  if (route.startsWith('/v1/') && route !== '/v1/event-types')
    expect(headers['cache-control'], 'no cache stores a response').toBe('no-store');
  const type = headers['content-type']?.split(';')[0] ?? '';
  if (!response?.content) {
    expect([text, type]).toEqual(['', '']);
    return;
  }
  const declared = type in response.content ? type : '*/*';
  const value = type.endsWith('json') ? body : text;
  for (const { attempts = [] } of Array.isArray(body?.data) ? body.data : [])
    for (const { url, request_headers, response_headers, response_excerpt } of attempts)
      expect([url, request_headers, response_headers, response_excerpt], route).toEqual([null, null, null, null]);
  const faults = violationsOf(value, ...place, 'content', declared, 'schema');
  expect(faults, `${method} ${route} ${status} ${body?.code ?? ''}`).toEqual([]);
}
