import type { APIGatewayProxyEvent } from 'aws-lambda';
import { lowerCased } from './headers.ts';

const HOST = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i;

/**
 * Where the API is for whoever sent a request, without a slash at its end: API Gateway sets host and protocol, and the path has
 * the stage, or the base path of a domain of one's own, before the route. Empty if the host is none: it is written into pages.
 */
export function baseUrlOf({ headers: given, resource, requestContext: { path } }: BaseUrlEvent): string {
  const headers = lowerCased(given);
  const host = HOST.exec(headers.host ?? '')?.[0];
  if (host === undefined) return '';
  const protocol = headers['x-forwarded-proto'] === 'http' ? 'http' : 'https';
  return `${protocol}://${host}${basePathOf(path, resource)}`;
}

function basePathOf(path: string, resource: string): string {
  if (resource === '/') return path.replace(/\/$/, '');
  const [, route = ''] = /^(\/[^/]+)/.exec(resource) ?? [];
  return path.slice(0, Math.max(0, `${path}/`.indexOf(`${route}/`)));
}

type BaseUrlEvent = Pick<APIGatewayProxyEvent, 'headers' | 'resource'> & { requestContext: { path: string } };
