import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { CORS_HEADERS } from '../api/cors.ts';
import { methodNotAllowed, Problem, routeNotFound } from '../api/problems.ts';
import { baseUrlOf } from './base-url.ts';
import { problemResult } from './problem-result.ts';
import { API_HEADERS, SECURITY_HEADERS } from './security-headers.ts';
import type { ServeLog } from './serve.ts';

/** A file that is served as it is. */
export interface Page {
  type: string;
  /**
   * Browsers revalidate a `page` every time. A `document` is also for other origins, which can keep it for some minutes. The name
   * of an `asset` contains the hash of its content, so it never changes.
   */
  kind: 'page' | 'document' | 'asset';
  /** The Content-Security-Policy, of pages. */
  policy?: string;
  text: string;
}

/** All files that are served without a credential. */
export interface Site {
  pages: [path: string, page: Page][];
  /** The target of a redirect, below the base URL of the API. */
  redirects: Readonly<Record<string, string>>;
  /** The methods of every path of the API, because requests with other methods arrive here too. */
  methods: Readonly<Record<string, readonly string[]>>;
}

/** The placeholder of the base URL in a page. */
export const BASE_URL = '{base_url}';

/** Seconds for which a document is kept. */
const DOCUMENT_SECONDS = 300;

const COMMON = {
  ...SECURITY_HEADERS,
  'Referrer-Policy': 'no-referrer',
};

/**
 * Serves pages by their path in the API, and rejects methods that a path does not have. Every page and asset is public and needs
 * no credential. Cross-origin isolation and framing: OWASP HTTP Headers Cheat Sheet.
 */
export function createSite({ pages, redirects, methods }: Site, log: ServeLog) {
  const pageAt = new Map(pages);
  const targetOf = new Map(Object.entries(redirects));
  const methodsAt = new Map(Object.entries(methods));

  return async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
    const { requestId } = event.requestContext;
    const baseUrl = baseUrlOf(event);
    const response = respondTo(event, baseUrl);
    const result = response instanceof Problem ? problemOf(response, requestId, baseUrl) : response;
    log.info('page.served', { resource: event.resource, request_id: requestId, status: result.statusCode });
    return { ...result, headers: { ...COMMON, ...result.headers, 'X-Request-Id': requestId } };
  };

  function respondTo(event: APIGatewayProxyEvent, baseUrl: string): APIGatewayProxyResult | Problem {
    const allowed = methodsAt.get(event.resource) ?? [];
    if (!allowed.includes(event.httpMethod)) return methodNotAllowed(allowed);
    const target = targetOf.get(event.resource);
    if (target !== undefined)
      return { statusCode: 302, headers: { Location: baseUrl + target, 'Cache-Control': 'no-store' }, body: '' };
    const page = pageAt.get(event.resource.replace('{file}', event.pathParameters?.file ?? ''));
    if (!page) return routeNotFound();
    const body = page.kind === 'asset' ? page.text : page.text.replaceAll(BASE_URL, () => baseUrl);
    return { statusCode: 200, headers: { 'Content-Type': page.type, ...headersOf(page) }, body };
  }
}

function problemOf(problem: Problem, requestId: string, baseUrl: string): APIGatewayProxyResult {
  const result = problemResult(problem, requestId, baseUrl);
  return { ...result, headers: { ...result.headers, ...API_HEADERS } };
}

function headersOf({ kind, policy }: Page): Record<string, string> {
  if (kind === 'asset') return { 'Cache-Control': 'public, max-age=31536000, immutable' };
  if (kind === 'document')
    return {
      ...API_HEADERS,
      'Cache-Control': `public, max-age=${DOCUMENT_SECONDS}`,
      'Cross-Origin-Resource-Policy': 'cross-origin',
      ...CORS_HEADERS,
    };
  return {
    'Cache-Control': 'no-store',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    ...(policy && { 'Content-Security-Policy': policy }),
  };
}
