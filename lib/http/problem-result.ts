import type { APIGatewayProxyResult } from 'aws-lambda';
import { UnavailableError } from '../errors.ts';
import { OUTCOME_UNKNOWN, PROBLEM_TYPE, PROBLEMS, Problem, problemBody, problemHeaders } from './problems.ts';

/** The problem of a request with an internal failure, whose outcome is unknown. */
export const failureProblem = (error: unknown): Problem =>
  new Problem(error instanceof UnavailableError ? 'unavailable' : 'internal_error', OUTCOME_UNKNOWN);

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
