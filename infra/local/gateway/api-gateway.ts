import { randomUUID } from 'node:crypto';
import type http from 'node:http';
import type { APIGatewayAuthorizerResult, APIGatewayProxyEvent } from 'aws-lambda';
import type { AccessContext, Monitoring } from '../monitoring.ts';
import { readBody } from '../services/bodies.ts';
import { isInvocationAllowed } from '../services/policy.ts';
import { ACCOUNT, REGION, type Template } from '../template.ts';
import { createCompression } from './compression.ts';
import { readGatewayResponses } from './gateway-responses.ts';
import { proxyEvent } from './proxy-event.ts';
import { type GatewayResponse, readProxyResult } from './proxy-result.ts';
import { isAccepted, splitUrl } from './request-line.ts';
import { findRoute, readRoutes } from './routes.ts';
import { createThrottles } from './throttles.ts';

/**
 * The maximum length of the ARN of a method with authorization, whose path parameters count, and of a resource in the policy of an
 * authorizer (API Gateway Developer Guide, "Output from an API Gateway Lambda authorizer").
 */
const MAX_METHOD_ARN_BYTES = 1600;
const MAX_RESOURCE_LENGTH = 512;
/** The maximum body of a request and the maximum time of an integration (API Gateway quotas for REST APIs). */
const MAX_PAYLOAD_BYTES = 10 * 1024 * 1024;
const INTEGRATION_TIMEOUT_MS = 29_000;

interface RestApiProperties {
  MinimumCompressionSize?: number;
  BinaryMediaTypes?: string[];
}

interface AuthorizerProperties {
  AuthorizerUri: string;
  IdentitySource: string;
}

/** The interface of a Lambda function that the gateway uses. */
export interface Invocable {
  invoke(event: unknown): Promise<unknown>;
}

/**
 * Creates the request handler of an HTTP server for the REST API of the template, with routes, authorizer, policies, gateway
 * responses and limits. The handler never rejects, whatever clients and functions do.
 */
export function createGateway(
  template: Template,
  functionOf: (uri: string) => Invocable,
  now: () => number,
  record: Monitoring['request'] = () => {},
) {
  const routes = readRoutes(template);
  const gatewayResponse = readGatewayResponses(template);
  const throttle = createThrottles(template, now);
  const stage = String(template.ofType('AWS::ApiGateway::Stage')[0]?.properties.StageName);
  const { MinimumCompressionSize, BinaryMediaTypes: binaryMediaTypes = [] } =
    template.ofType<RestApiProperties>('AWS::ApiGateway::RestApi')[0]?.properties ?? {};
  const compression = createCompression(MinimumCompressionSize, MAX_PAYLOAD_BYTES);
  const authorizers = new Map(
    template.ofType<AuthorizerProperties>('AWS::ApiGateway::Authorizer').map((each) => [each.id, each.properties]),
  );

  return async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    try {
      const sent = await readBody(request, MAX_PAYLOAD_BYTES);
      const requestId = randomUUID();
      const startedAt = now();
      const access: AccessContext = { requestId, requestTimeEpoch: startedAt, httpMethod: request.method };
      const result = await respond(request, sent, requestId, access).catch(() =>
        gatewayResponse('DEFAULT_5XX', { requestId }),
      );
      const { statusCode, headers, body, type } = result;
      record({ ...access, status: statusCode, 'error.responseType': type, responseLatency: now() - startedAt });
      const encoded = compression.encode(body, request.headers['accept-encoding']);
      response.writeHead(statusCode, { 'x-amzn-RequestId': requestId, ...headers, ...encoded.headers });
      response.end(request.method === 'HEAD' ? '' : encoded.body);
    } catch {
      response.destroy(); // the client disconnected
    }
  };

  async function respond(
    request: http.IncomingMessage,
    sent: Buffer | null,
    requestId: string,
    access: AccessContext,
  ): Promise<GatewayResponse> {
    const context = { requestId };
    if (!isAccepted(request)) return gatewayResponse('DEFAULT_4XX', context);
    const body = sent?.length ? compression.decode(sent, request.headers['content-encoding']) : sent;
    if (body === null) return gatewayResponse('REQUEST_TOO_LARGE', context);
    const { path } = splitUrl(request.url);
    const found = path.startsWith('/') ? findRoute(routes, request.method ?? '', path) : undefined; // `*` is not a path
    if (!found) return gatewayResponse('MISSING_AUTHENTICATION_TOKEN', context);
    const { route } = found;
    access.resourcePath = route.resource;
    const { target, authorizerId = '' } = route;
    const authorizer = authorizers.get(authorizerId);
    const limited = authorizer ? undefined : throttle(route);
    if (limited) return gatewayResponse(limited, context);
    if ('status' in target) return { statusCode: target.status, headers: target.headers, body: Buffer.alloc(0) };
    const event = proxyEvent(request, found, { body, requestId, stage, now: now(), binaryMediaTypes });
    if (authorizer) {
      const decision = await authorize(authorizer, event, path);
      access['authorizer.principalId'] = decision.principalId;
      if (decision.rejection) return gatewayResponse(decision.rejection, { requestId, authorizer: decision.context });
      const limited = throttle(route, decision.apiKey);
      if (limited) return gatewayResponse(limited, context);
      event.requestContext.authorizer = { principalId: decision.principalId, ...decision.context };
    }
    return integrate(target.integrationUri, event);
  }

  type Decision = {
    /** The type of the gateway response, unless the authorizer allows the request. */
    rejection?: string;
    principalId?: string;
    context?: Record<string, unknown> | undefined;
    /** The API key of the usage plan. */
    apiKey?: string | undefined;
  };

  async function authorize(
    authorizer: AuthorizerProperties,
    event: APIGatewayProxyEvent,
    path: string,
  ): Promise<Decision> {
    const headerName = /method\.request\.header\.([\w-]+)/.exec(authorizer.IdentitySource)?.[1]?.toLowerCase();
    const identity = Object.entries(event.headers).find(([name]) => name.toLowerCase() === headerName)?.[1];
    if (!identity) return { rejection: 'UNAUTHORIZED' };
    const methodArn = `arn:aws:execute-api:${REGION}:${ACCOUNT}:local/${stage}/${event.httpMethod}${path}`;
    if (Buffer.byteLength(methodArn) > MAX_METHOD_ARN_BYTES) return { rejection: 'DEFAULT_4XX' };
    try {
      const { body: _, isBase64Encoded: __, ...request } = event; // an authorizer does not receive the body
      const result = (await functionOf(authorizer.AuthorizerUri).invoke({
        ...request,
        type: 'REQUEST',
        methodArn,
      })) as APIGatewayAuthorizerResult;
      const { principalId, policyDocument, context, usageIdentifierKey: apiKey } = result;
      requireShortResources(policyDocument);
      return isInvocationAllowed(policyDocument, methodArn)
        ? { principalId, context: context ?? {}, apiKey: apiKey ?? undefined }
        : { rejection: 'ACCESS_DENIED', context: context ?? {} };
    } catch (error) {
      return {
        rejection: (error as Error).message === 'Unauthorized' ? 'UNAUTHORIZED' : 'AUTHORIZER_CONFIGURATION_ERROR',
      };
    }
  }

  async function integrate(uri: string, event: APIGatewayProxyEvent): Promise<GatewayResponse> {
    const { requestId } = event.requestContext;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), INTEGRATION_TIMEOUT_MS);
    });
    try {
      const result = await Promise.race([functionOf(uri).invoke(event), late]);
      if (result === 'late') return gatewayResponse('INTEGRATION_TIMEOUT', { requestId });
      return readProxyResult(result) ?? gatewayResponse('DEFAULT_5XX', { requestId });
    } catch (error) {
      const isTooLarge = (error as Error).name === 'RequestTooLargeException';
      return gatewayResponse(isTooLarge ? 'REQUEST_TOO_LARGE' : 'INTEGRATION_FAILURE', { requestId });
    } finally {
      clearTimeout(timer);
    }
  }
}

function requireShortResources({ Statement }: APIGatewayAuthorizerResult['policyDocument']): void {
  const resources = Statement.flatMap((statement) => ('Resource' in statement ? statement.Resource : []));
  if (resources.some((resource = '') => resource.length > MAX_RESOURCE_LENGTH))
    throw new Error('A resource is too long');
}
