import { expect } from 'vitest';
import { PROBLEM_TYPE, PROBLEMS, type ProblemCode } from '../../lib/api/problems.ts';
import { faultsOf, openApi } from './openapi.ts';
import type { Answer } from './service.ts';

type Responses = Record<string, { content?: Record<string, unknown>; headers?: Record<string, unknown> }>;

/** Checks an answer against the OpenAPI document: whatever any test calls, it keeps what is promised. */
export function expectConformance(method: string, path: string, { status, headers, text, body }: Answer): void {
  expect(headers['x-request-id'], 'every answer has a request id').toBeTruthy();
  const route = path.split('?')[0] ?? '';
  const place = operationAt(method, route);
  if (status >= 400) {
    expect(headers['content-type']).toBe(PROBLEM_TYPE);
    expect(faultsOf(body, 'components', 'schemas', 'Problem')).toEqual([]);
    const code: ProblemCode = body.code;
    expect(body.status).toBe(status);
    expect(body.type).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/docs/errors#${code}$`));
    expect(PROBLEMS[code].status).toBe(status);
    if (body.errors) expect(status).toBe(400);
  }
  if (!place) {
    expect(body?.code, `${method} ${route} is no operation`).toBe('route_not_found');
    return;
  }
  const responses = (openApi.paths[place[1]]?.[place[2]] as { responses: Responses }).responses;
  const response = responses[status];
  expect(response, `${method} ${route} may answer ${status} ${body?.code ?? ''}`).toBeDefined();
  for (const name of Object.keys(response?.headers ?? {})) {
    const isOptional = name === 'Idempotency-Replayed'; // of a repetition only
    if (!isOptional) expect(headers, `${method} ${route} ${status}`).toHaveProperty(name.toLowerCase());
  }
  const type = headers['content-type']?.split(';')[0] ?? '';
  if (!response?.content) {
    expect(text).toBe('');
    return;
  }
  const declared = type in response.content ? type : '*/*';
  const value = type.endsWith('json') ? body : text;
  const faults = faultsOf(value, ...place, 'responses', status, 'content', declared, 'schema');
  expect(faults, `${method} ${route} ${status} ${body?.code ?? ''}`).toEqual([]);
}

/** Where the document describes an operation: the path with the fewest parameters that matches. */
function operationAt(method: string, route: string): ['paths', string, string] | undefined {
  const [path] = Object.keys(openApi.paths)
    .filter((each) => method.toLowerCase() in (openApi.paths[each] ?? {}) && patternOf(each).test(route))
    .sort((a, b) => a.split('{').length - b.split('{').length);
  return path === undefined ? undefined : ['paths', path, method.toLowerCase()];
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
