import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { lowerCased } from './headers.ts';
import type { Operation } from './operation.ts';

const HOST = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i;

/**
 * The base URL of the API as the caller sees it, without a trailing slash. API Gateway sets host and protocol, and the path
 * contains the stage, or the base path of a custom domain, before the route. Empty for an invalid host, because pages contain
 * this URL.
 */
export function baseUrlOf({ headers: received, resource, requestContext: { path } }: BaseUrlEvent): string {
  const headers = lowerCased(received);
  const host = HOST.exec(headers.host ?? '')?.[0];
  if (host === undefined) return '';
  const protocol = headers['x-forwarded-proto'] === 'http' ? 'http' : 'https';
  return `${protocol}://${host}${basePathOf(path, resource)}`;
}

function basePathOf(path: string, resource: string): string {
  if (resource === '/') return path.replace(/\/$/, '');
  // Compares the whole route, because the base path of a domain can equal its first segment.
  const route = resource.replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^(.*?)${route}/?$`).exec(path)?.[1] ?? '';
}

type BaseUrlEvent = Pick<APIGatewayProxyEvent, 'headers' | 'resource'> & { requestContext: { path: string } };

/** The `Location` of a 201, which is the absolute URL of the new resource (RFC 9110 §10.2.2). */
export function locationHeader(
  { statusCode, body }: APIGatewayProxyResult,
  { location }: Pick<Operation, 'location'>,
  baseUrl: string,
): Record<string, string> {
  if (statusCode !== 201 || location === undefined) return {};
  const resource: Record<string, unknown> = JSON.parse(body);
  return { Location: baseUrl + location.replace(/\{(\w+)\}/, (_, member: string) => String(resource[member])) };
}
