import type { Request } from '../../../lib/http/request.ts';
import type { KeyType } from '../../../lib/keys/key-format.ts';

/** The error of a transaction that ran into another one, or whose condition was false. */
export const canceled = (Code: 'TransactionConflict' | 'ConditionalCheckFailed') =>
  Object.assign(new Error(Code), { name: 'TransactionCanceledException', CancellationReasons: [{ Code }] });

/** A parsed request with a key. */
export function requestOf<Body>(
  { projectId, keyId = 'key_1', type = 'admin' }: { projectId: string; keyId?: string; type?: KeyType },
  { body, path = {} }: { body: Body; path?: Record<string, string> },
): Request<Record<never, never>, Body> {
  return {
    id: 'request-1',
    caller: { projectId, keyId, type },
    space: { projectId, environment: 'live' },
    route: '',
    baseUrl: 'https://api.example.com',
    address: '192.0.2.1',
    path,
    query: {},
    body,
    headers: {},
    rawBody: '',
    json: body,
  };
}
