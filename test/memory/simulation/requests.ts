import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { ApiFunction } from '../../../lib/api/operation.ts';
import { keyOf, proxyEvent } from '../../unit/http/builders.ts';

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
  { method, resource, path, body, idempotencyKey, keyId }: Request,
  projectId: string,
): APIGatewayProxyEvent {
  return proxyEvent({
    httpMethod: method,
    resource,
    pathParameters: path ?? null,
    headers: {
      ...(body && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
    },
    body: body ? JSON.stringify(body) : null,
    authorizer: { ...keyOf('admin'), project_id: projectId, ...(keyId && { key_id: keyId }) },
  });
}
