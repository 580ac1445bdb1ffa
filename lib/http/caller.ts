import type { APIGatewayProxyEvent } from 'aws-lambda';
import { intersect, type KeyRange, matchesAny, rangesOf } from '../documents/patterns.ts';
import { environmentOf } from '../keys/key-secret.ts';
import type { Grant, Permission } from '../keys/token.ts';
import type { Environment } from '../space.ts';
import { type CallerType, isFor, type Operation } from './operation.ts';
import { documentNotAllowed, Problem } from './problems.ts';

/** The caller, as identified by the authorizer. */
export interface Caller {
  projectId: string;
  keyId: string;
  type: CallerType;
  /** The seconds until requests of the project that publish are accepted again, if it used up its budget of deliveries. */
  publishAfterSeconds?: number | undefined;
  /** The grant of a scoped token. */
  token?: Pick<Grant, 'tokenId' | 'environment' | 'documents' | 'permissions' | 'user'> | undefined;
}

/** A request about a document. The names of headers are in lower case. */
interface Sent {
  caller: Caller;
  path: Readonly<Record<'key', string>>;
  headers: Readonly<Record<string, string>>;
}

/** Whether a caller can call an operation. The policy of the gateway checks this too, but it cannot express every rule. */
export const mayCall = (operation: Operation, type: CallerType, permissions: readonly Permission[]): boolean =>
  isFor(operation, type) && (type !== 'token' || operation.permissions.some((each) => permissions.includes(each)));

/** Whether a caller can access a document. Keys can access all of their space, and tokens only matching documents. */
export const reaches = ({ token }: Caller, documentKey: string): boolean =>
  token === undefined || matchesAny(token.documents, documentKey);

export const may = ({ type, token }: Caller, permission: Permission): boolean =>
  token ? token.permissions.includes(permission) : permission === 'read' || type !== 'read';

/** The ranges of keys that match some patterns and that the caller can access. */
export const rangesFor = ({ token }: Caller, patterns: readonly string[]): KeyRange[] => {
  const ranges = rangesOf(patterns);
  return token ? intersect(ranges, rangesOf(token.documents)) : ranges;
};

/** Identifies the credential of a request. A token is a separate credential from its key. */
export const credentialOf = ({ token, keyId }: Caller): string => token?.tokenId ?? keyId;

/**
 * Identifies the owner of a connection or sync cycle: a key, or the user of tokens with one parent key, who replaces a token before
 * it expires. A token without `user` owns only what it opened itself. The JSON array is neither a key id nor a token id.
 */
export const ownerOf = (caller: Caller): string => {
  const user = caller.token?.user;
  return user === undefined ? credentialOf(caller) : JSON.stringify([caller.keyId, user]);
};

/** The document key in the path, or a problem that reveals nothing about an inaccessible document. */
export const documentKeyOf = ({ path: { key }, caller }: Sent): string | Problem =>
  reaches(caller, key) ? key : documentNotAllowed();

/** The origin of a change, which is the node or the credential. It is public and proves nothing. */
export const originOf = ({ headers, caller }: Sent): string => headers['x-node-id'] ?? credentialOf(caller);

/** Reads what the authorizer passed on. */
export function callerOf({ requestContext: { authorizer } }: APIGatewayProxyEvent): Caller {
  const { project_id, key_id, caller, token, publish_after } = authorizer ?? {};
  if (!project_id || !key_id || !caller) throw new Error('The authorizer passed no caller on');
  return {
    projectId: project_id,
    keyId: key_id,
    type: caller,
    token: token && JSON.parse(token),
    publishAfterSeconds: publish_after && Number(publish_after),
  };
}

/** The environment of a request, which only admin keys can choose. */
export function environmentFor({ type, token }: Caller, requested: Environment | undefined): Environment | Problem {
  const own = type === 'token' ? (token?.environment ?? 'live') : environmentOf(type);
  if (own === null) return requested ?? 'live';
  if (requested === undefined || requested === own) return own;
  return new Problem(
    'insufficient_permissions',
    `Omit the environment. This credential works only in the ${own} environment.`,
  );
}
