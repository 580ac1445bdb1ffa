import { randomUUID } from 'node:crypto';
import type http from 'node:http';
import type { APIGatewayAuthorizerResult, APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { createCompression } from './compression.ts';
import { type GatewayResponses, readGatewayResponses } from './gateway-responses.ts';
import type { LocalFunction } from './lambda.ts';
import { isInvocationAllowed } from './policy.ts';
import { proxyEvent } from './proxy-event.ts';
import { findRoute, readRoutes } from './routes.ts';
import { ACCOUNT, REGION, type Template } from './template.ts';

/** Limits of REST APIs (API Gateway quotas). */
const MAX_HEADER_BYTES = 10_240;
const MAX_PAYLOAD_BYTES = 10 * 1024 * 1024;
const INTEGRATION_TIMEOUT_MS = 29_000;

interface AuthorizerProperties {
  AuthorizerUri: string;
  IdentitySource: string;
}

export interface Gateway {
  handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void>;
}

/** The template's REST API: routes, authorizer, policies, gateway responses and limits, on an HTTP server. */
export function createGateway(
  template: Template,
  functionOf: (uri: string) => LocalFunction,
  now: () => number,
): Gateway {
  const routes = readRoutes(template);
  const responses = readGatewayResponses(template);
  const stage = String(template.ofType('AWS::ApiGateway::Stage')[0]?.properties.StageName);
  const { MinimumCompressionSize } =
    template.ofType<{ MinimumCompressionSize?: number }>('AWS::ApiGateway::RestApi')[0]?.properties ?? {};
  const compression = createCompression(MinimumCompressionSize, MAX_PAYLOAD_BYTES);
  const authorizers = new Map(
    template.ofType<AuthorizerProperties>('AWS::ApiGateway::Authorizer').map((each) => [each.id, each.properties]),
  );

  return {
    async handle(request, response) {
      const requestId = randomUUID();
      const sent = await readBody(request);
      const body = sent && compression.decode(sent, request.headers['content-encoding']);
      const {
        statusCode,
        headers = {},
        body: text,
      } = await answer(request, body, requestId, responses).catch(() => responses.of('DEFAULT_5XX', { requestId }));
      const encoded = compression.encode(Buffer.from(text), request.headers['accept-encoding']);
      response.writeHead(statusCode, {
        'x-amzn-RequestId': requestId,
        ...(headers as Record<string, string>),
        ...encoded.headers,
      });
      response.end(request.method === 'HEAD' ? '' : encoded.body);
    },
  };

  async function answer(
    request: http.IncomingMessage,
    body: Buffer | null,
    requestId: string,
    gateway: GatewayResponses,
  ): Promise<APIGatewayProxyResult> {
    const context = { requestId };
    if (headerBytes(request) > MAX_HEADER_BYTES) return gateway.of('DEFAULT_4XX', context);
    if (body === null) return gateway.of('REQUEST_TOO_LARGE', context);
    const [path = '/', query = ''] = (request.url ?? '/').split('?');
    const route = findRoute(routes, request.method ?? '', path);
    if (!route) return gateway.of('MISSING_AUTHENTICATION_TOKEN', context);
    const { target } = route.route;
    if ('status' in target) return { statusCode: target.status, headers: target.headers, body: '' };
    const event = proxyEvent({
      request,
      path,
      query,
      body,
      route: route.route,
      parameters: route.parameters,
      requestId,
      stage,
      now: now(),
    });

    const authorizer = authorizers.get(route.route.authorizerId ?? '');
    if (authorizer) {
      const decision = await authorize(authorizer, event, path);
      if (decision.refused) return gateway.of(decision.refused, { requestId, authorizer: decision.context });
      event.requestContext.authorizer = { principalId: decision.principalId, ...decision.context };
    }
    return integrate(target.integrationUri, event, gateway);
  }

  type Decision = { refused?: string; principalId?: string; context?: Record<string, unknown> | undefined };

  async function authorize(
    authorizer: AuthorizerProperties,
    event: APIGatewayProxyEvent,
    path: string,
  ): Promise<Decision> {
    const headerName = /method\.request\.header\.([\w-]+)/.exec(authorizer.IdentitySource)?.[1]?.toLowerCase();
    const identity = Object.entries(event.headers).find(([name]) => name.toLowerCase() === headerName)?.[1];
    if (!identity) return { refused: 'UNAUTHORIZED' };
    const methodArn = `arn:aws:execute-api:${REGION}:${ACCOUNT}:local/${stage}/${event.httpMethod}${path}`;
    try {
      const result = (await functionOf(authorizer.AuthorizerUri).invoke({
        ...event,
        type: 'REQUEST',
        methodArn,
      })) as APIGatewayAuthorizerResult;
      const { principalId, policyDocument, context } = result;
      return isInvocationAllowed(policyDocument, methodArn)
        ? { principalId, context: context ?? {} }
        : { refused: 'ACCESS_DENIED', context: context ?? {} };
    } catch (error) {
      return { refused: (error as Error).message === 'Unauthorized' ? 'UNAUTHORIZED' : 'AUTHORIZER_FAILURE' };
    }
  }

  async function integrate(
    uri: string,
    event: APIGatewayProxyEvent,
    gateway: GatewayResponses,
  ): Promise<APIGatewayProxyResult> {
    const { requestId } = event.requestContext;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), INTEGRATION_TIMEOUT_MS);
    });
    try {
      const result = await Promise.race([functionOf(uri).invoke(event), late]);
      if (result === 'late') return gateway.of('INTEGRATION_TIMEOUT', { requestId });
      const { statusCode, headers, body, isBase64Encoded } = result as APIGatewayProxyResult;
      if (typeof statusCode !== 'number') return gateway.of('DEFAULT_5XX', { requestId });
      const payload = isBase64Encoded ? Buffer.from(body, 'base64') : body;
      return { statusCode, headers: headers ?? {}, body: payload as string };
    } catch {
      return gateway.of('DEFAULT_5XX', { requestId });
    } finally {
      clearTimeout(timer);
    }
  }
}

function headerBytes({ rawHeaders, url = '' }: http.IncomingMessage): number {
  return rawHeaders.reduce((sum, part) => sum + part.length + 2, url.length);
}

async function readBody(request: http.IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes <= MAX_PAYLOAD_BYTES) chunks.push(chunk as Buffer);
  }
  return bytes <= MAX_PAYLOAD_BYTES ? Buffer.concat(chunks) : null;
}
