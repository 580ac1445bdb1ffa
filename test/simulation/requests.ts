import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { ApiFunction } from '../../lib/api/operation.ts';

export interface Request {
  fn: ApiFunction;
  method: string;
  resource: string;
  path?: Record<string, string>;
  body?: object;
  idempotencyKey?: string | undefined;
  /** The key that sends it; that of the users, if absent. */
  keyId?: string;
}

/** A response; `null` if the client never got one. */
export type Response = { status: number; body: never } | null;

/** A request as API Gateway hands it to a function, once its authorizer has let it through. */
export function proxyEventOf(
  { method, resource, path, body, idempotencyKey, keyId = 'key_1' }: Request,
  projectId: string,
): APIGatewayProxyEvent {
  return {
    httpMethod: method,
    resource,
    path: resource,
    pathParameters: path ?? null,
    queryStringParameters: null,
    headers: {
      ...(body && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
    },
    body: body ? JSON.stringify(body) : null,
    isBase64Encoded: false,
    requestContext: {
      requestId: 'request',
      identity: { sourceIp: '192.0.2.1' },
      authorizer: { project_id: projectId, key_id: keyId, caller: 'admin' },
    },
  } as unknown as APIGatewayProxyEvent;
}
