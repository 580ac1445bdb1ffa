import assert from 'node:assert/strict';
import { PROBLEM_TYPE, PROBLEMS, type ProblemCode, problemHeaders } from '../../../lib/http/problems.ts';
import type { Response } from './client.ts';

export function expectStatus({ request, status, text }: Response, expected: number): void {
  assert.ok(status === expected, `${request}: ${status} instead of ${expected}, ${text.slice(0, 200)}`);
}

export function expectHeaders({ request, headers }: Response, expected: Record<string, string | RegExp>): void {
  for (const [name, value] of Object.entries(expected)) {
    const actual = headers.get(name);
    const matches = typeof value === 'string' ? actual === value : value.test(actual ?? '');
    assert.ok(matches, `${request}: ${name} is ${actual === null ? 'missing' : `"${actual}"`}, not ${value}`);
  }
}

/** Expects a problem document (RFC 9457) from a function or from API Gateway. */
export function expectProblem(response: Response, code: ProblemCode): void {
  const { request, headers, json, text } = response;
  const { status } = PROBLEMS[code];
  expectStatus(response, status);
  expectHeaders(response, { 'Content-Type': PROBLEM_TYPE, ...problemHeaders(status) });
  assert.ok(
    json?.code === code && json.status === status,
    `${request}: the problem is ${text.slice(0, 200)}, not ${code}`,
  );
  assert.ok(json.type?.endsWith(`/docs/errors#${code}`), `${request}: type ${json.type}`);
  assert.ok(json.request_id === headers.get('x-request-id'), `${request}: request_id differs from X-Request-Id`);
}
