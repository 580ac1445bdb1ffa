import type { APIGatewayProxyEvent } from 'aws-lambda';

export interface Given extends Partial<Omit<APIGatewayProxyEvent, 'requestContext'>> {
  /** The context of the authorizer. */
  authorizer?: Record<string, string> | null;
  requestId?: string;
}

/** The context of the authorizer for a key. */
export const keyOf = (caller: string) => ({ project_id: 'prj_1', key_id: 'key_1', caller });

/** The context of the authorizer for a scoped token. */
export const tokenOf = (overrides: object = {}) => ({
  ...keyOf('token'),
  token: JSON.stringify({
    tokenId: 'tok_1',
    environment: 'live',
    documents: ['org:*'],
    permissions: ['read'],
    ...overrides,
  }),
});

/** The headers with which a caller or a proxy can name another host. */
export const HOSTILE_HOST = {
  Host: 'evil.example',
  'X-Forwarded-Host': 'evil.example',
  'X-Forwarded-Proto': 'http',
  'X-Forwarded-Port': '666',
  'X-Forwarded-Prefix': '/evil',
  'X-Original-Host': 'evil.example',
  'X-Original-URL': 'https://evil.example/',
  Forwarded: 'host=evil.example;proto=http',
};

const listed = (parameters: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(parameters).map(([name, value = '']) => [name, [value]]));

/** A proxy event. The default is `GET /v1/keys` with an admin key. */
export function proxyEvent({
  authorizer = keyOf('admin'),
  requestId = 'request-1',
  ...overrides
}: Given = {}): APIGatewayProxyEvent {
  const { httpMethod = 'GET', resource = '/v1/keys', queryStringParameters = null } = overrides;
  return {
    resource,
    path: resource,
    httpMethod,
    headers: { Host: 'api.example.com' },
    multiValueHeaders: {},
    queryStringParameters: null,
    multiValueQueryStringParameters: queryStringParameters && listed(queryStringParameters),
    pathParameters: null,
    stageVariables: null,
    body: null,
    isBase64Encoded: false,
    requestContext: {
      requestId,
      path: `/live${resource}`,
      identity: { sourceIp: '192.0.2.1' },
      authorizer,
    } as unknown as APIGatewayProxyEvent['requestContext'],
    ...overrides,
  };
}

/** The parts of a POST with a JSON body or a text. */
export const posting = (body: unknown, headers: Record<string, string> = {}) => ({
  httpMethod: 'POST',
  headers: { 'Content-Type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
