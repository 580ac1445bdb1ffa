import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { PROBLEM_TYPE, PROBLEMS, problemBody } from '../api/problems.ts';
import { baseUrlOf } from './base-url.ts';
import type { ServeLog } from './serve.ts';

/** A file that is served as it is. */
export interface Page {
  type: string;
  /** `page` is asked for every time; `asset` has a hash of its content in its name and never changes. */
  kind: 'page' | 'asset';
  /** The Content-Security-Policy, of pages. */
  policy?: string;
  text: string;
}

/** Stands for the address of the API in a page. */
export const BASE_URL = '{base_url}';

const COMMON = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
};

/**
 * Serves pages by their path in the API. Every page and asset is public: nothing here knows a credential.
 * Cross-origin isolation and framing: OWASP HTTP Headers Cheat Sheet.
 */
export function createPageServer(pages: ReadonlyMap<string, Page>, log: ServeLog) {
  return async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
    const { requestId } = event.requestContext;
    const response = respondTo(event);
    log.info('page.served', { resource: event.resource, request_id: requestId, status: response.statusCode });
    return { ...response, headers: { ...COMMON, ...response.headers, 'X-Request-Id': requestId } };
  };

  function respondTo(event: APIGatewayProxyEvent): APIGatewayProxyResult {
    const { requestId } = event.requestContext;
    const path = event.resource.replace('{file}', event.pathParameters?.file ?? '');
    const page = pages.get(path);
    if (!page) {
      const problem = { code: 'route_not_found', detail: 'See the API reference for all operations.' } as const;
      return {
        statusCode: PROBLEMS[problem.code].status,
        headers: { 'Content-Type': PROBLEM_TYPE, 'Cache-Control': 'no-store' },
        body: JSON.stringify(problemBody({ ...problem, errors: undefined }, requestId, baseUrlOf(event))),
      };
    }
    return {
      statusCode: 200,
      headers: headersOf(page),
      body: page.kind === 'page' ? page.text.replaceAll(BASE_URL, () => baseUrlOf(event)) : page.text,
    };
  }
}

function headersOf({ type, kind, policy }: Page): Record<string, string> {
  if (kind === 'asset') return { 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' };
  return {
    'Content-Type': type,
    'Cache-Control': 'no-store',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    ...(policy && { 'Content-Security-Policy': policy }),
  };
}
