import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Route } from './routes.ts';
import { ACCOUNT } from './template.ts';

export interface ProxyRequest {
  request: IncomingMessage;
  path: string;
  query: string;
  body: Buffer;
  route: Route;
  parameters: Record<string, string>;
  requestId: string;
  stage: string;
  now: number;
}

/** A request as a REST API hands it to a function (API Gateway Developer Guide, "Input format of a Lambda function"). */
export function proxyEvent({
  request,
  path,
  query,
  body,
  route,
  parameters,
  requestId,
  stage,
  now,
}: ProxyRequest): APIGatewayProxyEvent {
  const headers: Pairs = [...pairs(request.rawHeaders), ['X-Forwarded-Proto', 'http']];
  const search = [...new URLSearchParams(query)];
  const sourceIp = (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  return {
    resource: route.resource,
    path,
    httpMethod: route.method,
    headers: single(headers) ?? {},
    multiValueHeaders: multi(headers) ?? {},
    queryStringParameters: single(search),
    multiValueQueryStringParameters: multi(search),
    pathParameters: Object.keys(parameters).length > 0 ? parameters : null,
    stageVariables: null,
    requestContext: {
      accountId: ACCOUNT,
      apiId: 'local',
      authorizer: undefined,
      protocol: 'HTTP/1.1',
      httpMethod: route.method,
      identity: {
        sourceIp,
        userAgent: request.headers['user-agent'] ?? null,
      } as APIGatewayProxyEvent['requestContext']['identity'],
      path, // as under a domain of one's own: without the stage
      stage,
      requestId,
      requestTimeEpoch: now,
      resourceId: route.resource,
      resourcePath: route.resource,
    },
    body: body.length > 0 ? body.toString() : null,
    isBase64Encoded: false,
  };
}

type Pairs = [name: string, value: string][];

function pairs(flat: string[]): Pairs {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[i * 2] ?? '', flat[i * 2 + 1] ?? '']);
}

// The last value wins, as in API Gateway.
const single = (all: Pairs) => (all.length > 0 ? Object.fromEntries(all) : null);

function multi(all: Pairs): Record<string, string[]> | null {
  if (all.length === 0) return null;
  const grouped: Record<string, string[]> = {};
  for (const [name, value] of all) grouped[name] = [...(grouped[name] ?? []), value];
  return grouped;
}
