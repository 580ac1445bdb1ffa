import type { APIGatewayProxyEvent } from 'aws-lambda';
import { environmentOf, type Permission } from '../credentials.ts';
import type { Environment } from '../space.ts';
import { Problem } from './problems.ts';
import { type CallerType, isFor, isRole, type Route } from './route.ts';

/** The caller, as identified by the authorizer. */
export interface Caller {
  projectId: string;
  keyId: string;
  type: CallerType;
  /** The seconds until requests of the project that publish are accepted again, if it used up its budget of deliveries. */
  publishAfterSeconds?: number | undefined;
  /** The grant of a scoped token. */
  token?: TokenGrant | undefined;
  /** The session of a dashboard link. The type is its role. */
  session?: LinkSession | undefined;
}

interface LinkSession {
  sessionId: string;
  environment: Environment;
  user?: string | undefined;
}

interface TokenGrant {
  tokenId: string;
  environment: Environment;
  /** Patterns of the keys of documents. */
  documents: readonly string[];
  permissions: readonly Permission[];
  user?: string | undefined;
}

/** Whether a caller can call an operation. The policy of the gateway checks this too, but it cannot express every rule. */
export const mayCall = (route: Route, type: CallerType, permissions: readonly Permission[]): boolean =>
  isFor(route, type) && (type !== 'token' || route.permissions.some((each) => permissions.includes(each)));

export const may = ({ type, token }: Caller, permission: Permission): boolean =>
  token ? token.permissions.includes(permission) : permission === 'read' || !(type === 'read' || isRole(type));

/** Identifies the credential of a request. A token is a separate credential from its key. A dashboard session is not. */
export const credentialOf = ({ token, keyId }: Caller): string => token?.tokenId ?? keyId;

/**
 * Identifies the owner of a connection, a sync cycle or an idempotency key: a key, or the user of tokens with one parent key, who
 * replaces a token before it expires. A token without `user` owns only what it opened itself. A dashboard session owns only what was
 * done with it. The JSON array is neither a key id nor a token id.
 */
export const ownerOf = (caller: Caller): string => {
  if (caller.session) return JSON.stringify(['session', caller.session.sessionId]);
  const user = caller.token?.user;
  return user === undefined ? credentialOf(caller) : JSON.stringify([caller.keyId, user]);
};

/** Reads what the authorizer passed on. */
export function callerOf({ requestContext: { authorizer } }: APIGatewayProxyEvent): Caller {
  const { project_id, key_id, caller, token, session, publish_after } = authorizer ?? {};
  if (!project_id || !key_id || !caller) throw new Error('The authorizer passed no caller on');
  return {
    projectId: project_id,
    keyId: key_id,
    type: caller,
    token: token && JSON.parse(token),
    session: session && JSON.parse(session),
    publishAfterSeconds: publish_after && Number(publish_after),
  };
}

/** The environment of a request, which only admin keys can choose. */
export function environmentFor(
  { type, token, session }: Caller,
  requested: Environment | undefined,
): Environment | Problem {
  const own = type === 'token' || isRole(type) ? ((token ?? session)?.environment ?? 'live') : environmentOf(type);
  if (own === null) return requested ?? 'live';
  if (requested === undefined || requested === own) return own;
  return new Problem(
    'insufficient_permissions',
    `Omit the environment. This credential works only in the ${own} environment.`,
  );
}
