import type { APIGatewayProxyResult } from 'aws-lambda';
import { PROBLEM_TYPE, PROBLEMS, type Problem, problemBody, problemHeaders } from '../api/problems.ts';

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
