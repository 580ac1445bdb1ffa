import * as v from 'valibot';
import { expect } from 'vitest';
import { allOperations } from '../../lib/api.ts';
import { PROBLEM_TYPE, PROBLEMS, type ProblemCode } from '../../lib/problem.ts';
import type { Answer } from './service.ts';

const Problem = v.strictObject({
  type: v.string(),
  title: v.pipe(v.string(), v.minLength(1)),
  status: v.number(),
  detail: v.pipe(v.string(), v.minLength(1)),
  code: v.picklist(Object.keys(PROBLEMS) as ProblemCode[]),
  request_id: v.string(),
  errors: v.optional(v.array(v.strictObject({ field: v.string(), detail: v.string() }))),
});

/** Checks an answer against the table of operations: whatever any test calls, it has the shape that is promised. */
export function expectConformance(method: string, path: string, { status, headers, text, body }: Answer): void {
  expect(headers['x-request-id'], 'every answer has a request id').toBeTruthy();
  if (status >= 400) {
    expect(headers['content-type']).toBe(PROBLEM_TYPE);
    const problem = v.parse(Problem, body);
    expect([problem.status, problem.type]).toEqual([status, `/docs/errors#${problem.code}`]);
    expect(PROBLEMS[problem.code].status).toBe(status);
    if (problem.errors) expect(status).toBe(400);
    return;
  }
  const route = path.split('?')[0] ?? '';
  const operation = allOperations
    .filter((each) => each.method === method && patternOf(each.path).test(route))
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0];
  const schema = operation?.answers[status];
  expect(schema, `${method} ${route} may answer ${status}`).toBeDefined();
  if (!schema) {
    expect(text).toBe('');
    return;
  }
  const result = v.safeParse(schema, body);
  expect(
    result.issues?.map(({ message, path }) => `${path?.map(({ key }) => key).join('.')}: ${message}`),
  ).toBeUndefined();
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
