import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { CONTENT_SECURITY_POLICY } from './content-security-policy.ts';
import { API_HEADERS, COMMON_HEADERS, CORS_HEADERS, lowerCased } from './headers.ts';
import { methodNotAllowed, Problem, problemResult, routeNotFound } from './problems.ts';

/** A file that is served as it is. */
export interface Page {
  type: string;
  /**
   * Browsers revalidate a `page` every time. A `document` is also for other origins, which can keep it for some minutes. The name
   * of an `asset` contains the hash of its content, so it never changes.
   */
  kind: 'page' | 'document' | 'asset';
  text: string;
}

/** All files that are served without a credential. */
export interface Site {
  pages: [path: string, page: Page][];
  /** The page for browsers at a path of the documentation that does not exist. */
  missingPage: Page;
  /** The URI for reports of vulnerabilities. Empty if the operator has not set one. */
  securityContact: string;
  /** The methods of every path of the API, because requests with other methods arrive here too. */
  methods: Readonly<Record<string, readonly string[]>>;
}

/** The placeholder of the base URL in a page. */
export const BASE_URL = '{base_url}';

/** Seconds for which a document is kept. */
const DOCUMENT_SECONDS = 300;

const SECURITY_TXT = '/.well-known/security.txt';
/** RFC 9116 §2.5.5 recommends less than a year. */
const SECURITY_TXT_DAYS = 180;

/** The methods of a page below an unknown resource. A stage keeps a removed resource for a while (infra/UPGRADES.md, "Paths"). */
const PAGE_METHODS = ['GET', 'HEAD'];

/** A path that a `Location` can contain as it is. */
const SAFE_PATH = /^(?:\/[\w.-]+)+$/;

type Line = (event: string, fields: Record<string, unknown>) => void;

const PAGE_HEADERS = {
  ...COMMON_HEADERS,
  'Referrer-Policy': 'no-referrer',
};

/**
 * Serves pages by their path in the API, and rejects methods that a path does not have. Every page and asset is public and needs
 * no credential. Cross-origin isolation and framing: OWASP HTTP Headers Cheat Sheet.
 */
export function createSite(
  { pages, missingPage, securityContact, methods }: Site,
  log: { info: Line },
  baseUrl: string,
) {
  const pageAt = new Map(pages);
  const methodsAt = new Map(Object.entries(methods));

  return async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
    const { requestId } = event.requestContext;
    const response = respondTo(event);
    const isProblem = response instanceof Problem;
    const result = isProblem ? problemResult(response, requestId, baseUrl) : response;
    log.info('page.served', { resource: event.resource, request_id: requestId, status: result.statusCode });
    // API Gateway responds to OPTIONS where other origins can call.
    const cors = methodsAt.get(event.resource)?.includes('OPTIONS') && CORS_HEADERS;
    const headers = { ...PAGE_HEADERS, ...(isProblem && API_HEADERS), ...result.headers, ...cors };
    return { ...result, headers: { ...headers, 'X-Request-Id': requestId } };
  };

  function respondTo(event: APIGatewayProxyEvent): APIGatewayProxyResult | Problem {
    const path = event.resource.replace('{file}', event.pathParameters?.file ?? '');
    const page = pageAt.get(path);
    const allowed = methodsAt.get(event.resource) ?? (page && PAGE_METHODS);
    if (allowed && !allowed.includes(event.httpMethod)) return methodNotAllowed(allowed);
    // With the stage. A `Location` without a host names no host that the caller chooses.
    const requested = event.requestContext.path;
    const withoutSlash = requested.replace(/\/$/, '');
    if (path === '/') return redirect(302, `${SAFE_PATH.test(withoutSlash) ? withoutSlash : ''}/dashboard`);
    // API Gateway ignores a trailing slash, but relative links of pages need the path without it. Operations have no links.
    const isPage = !path.startsWith('/v1/');
    if (isPage && withoutSlash !== requested && SAFE_PATH.test(withoutSlash)) return redirect(308, withoutSlash);
    if (path === SECURITY_TXT && securityContact !== '') {
      const text = securityTxt(securityContact, baseUrl, event.requestContext.requestTimeEpoch);
      return contentOf({ type: 'text/plain; charset=utf-8', kind: 'document', text }, 200, baseUrl);
    }
    if (page) return contentOf(page, 200, baseUrl);
    const acceptsHtml = lowerCased(event.headers).accept?.includes('text/html');
    return acceptsHtml && path.startsWith('/docs/') ? contentOf(missingPage, 404, baseUrl) : routeNotFound();
  }
}

const redirect = (statusCode: 302 | 308, Location: string): APIGatewayProxyResult => ({
  statusCode,
  headers: { Location, 'Cache-Control': 'no-store' },
  body: '',
});

/** The security contact of RFC 9116. It expires like a copy that a reader keeps, because each response is new. */
const securityTxt = (contact: string, baseUrl: string, now: number): string =>
  `Contact: ${contact}
Expires: ${new Date(now + SECURITY_TXT_DAYS * 86_400_000).toISOString()}
Preferred-Languages: en
Canonical: ${baseUrl}${SECURITY_TXT}
`;

const contentOf = (page: Page, statusCode: number, baseUrl: string): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': page.type, ...headersOf(page) },
  body: page.kind === 'asset' ? page.text : page.text.replaceAll(BASE_URL, () => baseUrl),
});

function headersOf({ kind }: Page): Record<string, string> {
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
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  };
}
