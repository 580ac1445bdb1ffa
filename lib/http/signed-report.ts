import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { isSignedBy, LeakReport } from '../access/leak-reports.ts';
import { MAX_BODY_BYTES } from '../api/operation.ts';
import { bodyTooLarge, invalid, Problem, routeNotFound } from '../api/problems.ts';
import { check } from '../schema.ts';
import { baseUrlOf } from './base-url.ts';
import { lowerCased } from './headers.ts';
import { failureProblem, problemResult } from './problem-result.ts';
import { API_HEADERS } from './security-headers.ts';
import type { ServeLog } from './serve.ts';

export interface SignedReportDeps {
  /** Returns the published key of an identifier (PEM). Without this function, the route returns 404. */
  publicKey?: (identifier: string) => Promise<string | undefined>;
  handle(matches: readonly { token: string; type: string }[], address: string): Promise<object>;
  log: ServeLog;
  reportFailure(event: string, fields: Record<string, unknown>, error: unknown): void;
}

/**
 * Accepts reports whose only credential is their signature over the raw bytes. Nothing that happens before the signature is
 * verified counts as an internal failure, because any caller can cause it.
 */
export function createReportServer({ publicKey, handle, log, reportFailure }: SignedReportDeps) {
  return async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
    const { requestId } = event.requestContext;
    const response = await respondTo(event).catch((error: unknown) => {
      reportFailure('request.failed', { operation: 'reportLeaks', request_id: requestId }, error);
      return failureProblem(error);
    });
    const result =
      response instanceof Problem
        ? problemResult(response, requestId, baseUrlOf(event))
        : { statusCode: 200, headers: JSON_HEADERS, body: JSON.stringify(response) };
    log.info('request.handled', { operation: 'reportLeaks', request_id: requestId, status: result.statusCode });
    return {
      ...result,
      headers: { ...result.headers, ...API_HEADERS, 'X-Request-Id': requestId },
    };
  };

  async function respondTo(event: APIGatewayProxyEvent): Promise<object | Problem> {
    if (!publicKey) return routeNotFound();
    const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
    if (body.length > MAX_BODY_BYTES) return bodyTooLarge(MAX_BODY_BYTES);
    const { 'github-public-key-identifier': identifier, 'github-public-key-signature': signature } = lowerCased(
      event.headers,
    );
    if (!identifier || !signature) return unsigned();
    const key = await keyOf(publicKey, identifier);
    if (key instanceof Problem) return key;
    if (key === undefined || !isSignedBy(key, body, signature)) return unsigned();
    const report = check(LeakReport, jsonOf(body));
    return 'violations' in report
      ? invalid(report.violations)
      : handle(report.value, event.requestContext.identity.sourceIp);
  }

  async function keyOf(find: NonNullable<typeof publicKey>, identifier: string): Promise<string | undefined | Problem> {
    try {
      return await find(identifier);
    } catch (error) {
      log.info('published_keys.not_read', { error: error as Error });
      return new Problem(
        'unavailable',
        'Send the report again. Nothing was done, because the published keys could not be read.',
      );
    }
  }
}

/** Not a 401: API Gateway renames the header WWW-Authenticate of a function, and every 401 must carry it. */
const unsigned = (): Problem =>
  new Problem('insufficient_permissions', 'Sign the raw body with a published key, and name the key.');

const JSON_HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

// A signed body that is not JSON returns 400.
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
