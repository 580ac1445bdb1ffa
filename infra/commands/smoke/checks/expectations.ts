import assert from 'node:assert/strict';
import { PROBLEM_TYPE, PROBLEMS, type ProblemCode, problemHeaders } from '../../../../lib/http/problems.ts';
import type { Response } from '../client.ts';
import { violationsOf } from '../openapi.ts';

export function expectStatus({ request, status, text }: Response, expected: number): void {
  assert.ok(status === expected, `${request}: ${status} instead of ${expected}, ${text.slice(0, 200)}`);
}

export function expectHeaders({ request, headers }: Response, expected: Record<string, string | RegExp>): void {
  for (const [name, value] of Object.entries(expected)) {
    const actual = headers[name.toLowerCase()];
    const matches = typeof value === 'string' ? actual === value : value.test(String(actual ?? ''));
    assert.ok(matches, `${request}: ${name} is ${actual === undefined ? 'missing' : `"${actual}"`}, not ${value}`);
  }
}

/** Expects an error response that matches the API reference, from a function or from API Gateway. */
export function expectProblem(response: Response, code: ProblemCode): void {
  const { request, headers, json } = response;
  const { status } = PROBLEMS[code];
  expectStatus(response, status);
  expectHeaders(response, { 'Content-Type': PROBLEM_TYPE, ...problemHeaders(status) });
  const violations = violationsOf(json, 'components', 'schemas', 'Problem');
  assert.ok(violations.length === 0, `${request}: the problem does not match its schema: ${violations.join('; ')}`);
  assert.ok(json.code === code, `${request}: code ${json.code} instead of ${code}`);
  assert.ok(json.status === status, `${request}: status ${json.status} in the body instead of ${status}`);
  const isAbsolute = /^https?:\/\//.test(json.type) && json.type.endsWith(`/docs/errors#${code}`);
  assert.ok(isAbsolute, `${request}: type ${json.type}`);
  assert.ok(json.request_id === headers['x-request-id'], `${request}: request_id differs from X-Request-Id`);
}
