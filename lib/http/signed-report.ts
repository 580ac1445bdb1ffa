import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { isSignedBy, LeakReport } from '../access/leaks.ts';
import { invalid, OUTCOME_UNKNOWN, Problem, routeNotFound } from '../api/problems.ts';
import { UnavailableError } from '../errors.ts';
import { check } from '../schema.ts';
import { baseUrlOf } from './base-url.ts';
import { lowerCased } from './headers.ts';
import { problemResult } from './problem-result.ts';
import { MAX_BODY_BYTES } from './request.ts';
import type { ServeLog } from './serve.ts';

export interface SignedReportDeps {
  /** The published key of an identifier (PEM); without it, no report is taken: 404. */
  publicKey?: (identifier: string) => Promise<string | undefined>;
  handle(matches: readonly { token: string; type: string }[], address: string): Promise<object>;
  log: ServeLog;
  reportFailure(event: string, fields: Record<string, unknown>, error: unknown): void;
}

/** Takes reports whose signature is its only credential. It is checked over the bytes as they came, before anything is read. */
export function createReportServer({ publicKey, handle, log, reportFailure }: SignedReportDeps) {
  return async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
    const { requestId } = event.requestContext;
    const response = await respondTo(event).catch((error: unknown) => {
      reportFailure('request.failed', { operation: 'reportLeaks', request_id: requestId }, error);
      return new Problem(error instanceof UnavailableError ? 'unavailable' : 'internal_error', OUTCOME_UNKNOWN);
    });
    const result =
      response instanceof Problem
        ? problemResult(response, requestId, baseUrlOf(event))
        : { statusCode: 200, headers: JSON_HEADERS, body: JSON.stringify(response) };
    log.info('request.handled', { operation: 'reportLeaks', request_id: requestId, status: result.statusCode });
    return {
      ...result,
      headers: { ...result.headers, 'X-Content-Type-Options': 'nosniff', 'X-Request-Id': requestId },
    };
  };

  async function respondTo(event: APIGatewayProxyEvent): Promise<object | Problem> {
    if (!publicKey) return routeNotFound();
    const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
    if (body.length > MAX_BODY_BYTES) return new Problem('payload_too_large', `Send at most ${MAX_BODY_BYTES} bytes.`);
    const headers = lowerCased(event.headers);
    const key = await publicKey(headers['github-public-key-identifier'] ?? '');
    if (key === undefined || !isSignedBy(key, body, headers['github-public-key-signature'] ?? ''))
      return new Problem('unauthorized', 'Sign the raw body with a published key, and name the key.');
    const report = check(LeakReport, jsonOf(body));
    return 'violations' in report
      ? invalid(report.violations)
      : handle(report.value, event.requestContext.identity.sourceIp);
  }
}

const JSON_HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

// What GitHub signed and is no JSON is no report: 400 says so.
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
