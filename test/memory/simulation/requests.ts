import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { ApiFunction } from '../../../lib/http/route.ts';
import { keyOf, proxyEvent, tokenOf } from '../../unit/http/builders.ts';

export interface Request {
  fn: ApiFunction;
  method: string;
  resource: string;
  path?: Record<string, string>;
  body?: object;
  idempotencyKey?: string | undefined;
  /** The key that sends the request. The default is the key of the users. */
  keyId?: string;
  /** The scoped token that sends the request, in place of a key. */
  token?: Token | undefined;
  /** The node of a write. */
  nodeId?: string;
}

/** The claims of a scoped token. */
export interface Token {
  tokenId: string;
  documents: readonly string[];
  permissions: readonly string[];
  user?: string;
}

/** A response and the number of the table that it is from, or `null` if the client received none. */
export type Response = { status: number; body: never; table: number } | null;

/** The event of a request with this credential, for the authorizer. */
export const authorizerEventOf = (credential: string) => ({
  ...proxyEvent({ httpMethod: 'GET', resource: '/v1/documents' }),
  methodArn: 'arn:aws:execute-api:eu-central-1:1:api/live/GET/v1/documents',
  multiValueHeaders: { Authorization: [`Bearer ${credential}`] },
});

/** The event of API Gateway for an authorized request, with more context of the authorizer. */
export function proxyEventOf(request: Request, context: Record<string, string> = {}): APIGatewayProxyEvent {
  const { method, resource, path, body, idempotencyKey, keyId, token, nodeId } = request;
  return proxyEvent({
    httpMethod: method,
    resource,
    pathParameters: path ?? null,
    headers: {
      ...(body && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
      ...(nodeId && { 'X-Node-Id': nodeId }),
    },
    body: body ? JSON.stringify(body) : null,
    authorizer: { ...(token ? tokenOf(token) : keyOf('admin')), ...(keyId && { key_id: keyId }), ...context },
  });
}
