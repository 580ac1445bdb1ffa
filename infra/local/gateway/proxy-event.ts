import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ACCOUNT } from '../template.ts';
import { parametersOf, splitUrl } from './request-line.ts';
import type { FoundRoute } from './routes.ts';

/** The values for an event, in addition to the head of the request. */
export interface Received {
  body: Buffer;
  requestId: string;
  stage: string;
  now: number;
  /** `BinaryMediaTypes` of the REST API. */
  binaryMediaTypes: readonly string[];
}

/** Builds the event of a REST API for a function (API Gateway Developer Guide, "Input format of a Lambda function"). */
export function proxyEvent(
  request: IncomingMessage,
  { route: { resource }, parameters }: FoundRoute,
  { body, requestId, stage, now, binaryMediaTypes }: Received,
): APIGatewayProxyEvent {
  const { method = '' } = request;
  const { path, query } = splitUrl(request.url);
  const headers: Pairs = [...pairs(request.rawHeaders), ['X-Forwarded-Proto', 'http']];
  const search = parametersOf(query);
  const isBase64Encoded = body.length > 0 && isBinary(request.headers['content-type'], binaryMediaTypes);
  return {
    resource,
    path,
    httpMethod: method,
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
      httpMethod: method,
      identity: {
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: request.headers['user-agent'] ?? null,
      } as APIGatewayProxyEvent['requestContext']['identity'],
      path, // without the stage, as with a custom domain
      stage,
      requestId,
      requestTimeEpoch: now,
      resourceId: resource,
      resourcePath: resource,
    },
    // A body that is not binary is text, and bytes that are not UTF-8 become U+FFFD.
    body: body.length > 0 ? body.toString(isBase64Encoded ? 'base64' : 'utf8') : null,
    isBase64Encoded,
  };
}

type Pairs = [name: string, value: string][];

function pairs(flat: string[]): Pairs {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[i * 2] ?? '', flat[i * 2 + 1] ?? '']);
}

// The last value wins, as in API Gateway. `Object.fromEntries` also handles the name `__proto__`.
const single = (all: Pairs) => (all.length > 0 ? Object.fromEntries(all) : null);

function multi(all: Pairs): Record<string, string[]> | null {
  if (all.length === 0) return null;
  const grouped = Map.groupBy(all, ([name]) => name);
  return Object.fromEntries([...grouped].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]));
}

/** Whether a function receives a media type as Base64. The types have no wildcards. */
function isBinary(contentType: string | undefined, binaryMediaTypes: readonly string[]): boolean {
  return binaryMediaTypes.includes((contentType?.split(';')[0] ?? '').trim().toLowerCase());
}
