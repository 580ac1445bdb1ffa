// The browser imports this file too, and the authorizer. So this file and the routes of all subjects contain no schema.

import type { KeyType, Permission, Role } from '../credentials.ts';

/** The functions behind the API, each a file in functions/. */
export type ApiFunction = 'keys' | 'tokens' | 'project' | 'webhooks' | 'events' | 'documents' | 'dashboard';

/** The type of a caller: the type of its key, a scoped token, or the role of a dashboard link. */
export type CallerType = KeyType | 'token' | Role;

/** Who can call which method of which path. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path in the syntax of API Gateway, in which `{name}` is a parameter of one segment. */
  path: `/${string}`;
  function: ApiFunction;
  /** `anyone`: the operation needs no credential and never reaches the authorizer. */
  callers: readonly CallerType[] | 'anyone';
  /** A scoped token with one of them can call the operation. The function checks the documents. */
  permissions: readonly Permission[];
}

/** The routes of some operations by the ids of the operations. */
export type Routes = Readonly<Record<string, Route>>;

export const ADMIN = ['admin'] as const;
export const WRITERS = ['admin', 'live', 'test'] as const;
export const WRITERS_AND_TOKENS = [...WRITERS, 'token'] as const;
/** They change webhooks and their deliveries. */
export const EDITORS = [...WRITERS, 'editor'] as const;
/** They read webhooks, events and deliveries. */
export const VIEWERS = [...WRITERS, 'viewer', 'editor'] as const;
/** They synchronize. Without `write`, they only pull. */
export const REPLICAS = [...WRITERS, 'read', 'token'] as const;
/** They read documents. */
export const READERS = [...REPLICAS, 'viewer', 'editor'] as const;

/** Whether callers of a type may call an operation with their credential. */
export const isFor = ({ callers }: Pick<Route, 'callers'>, type: CallerType): boolean =>
  callers !== 'anyone' && callers.includes(type);

/** Every GET also supports HEAD, which returns no content (RFC 9110 §9.3.2). */
export const methodsOf = ({ method }: Pick<Route, 'method'>): string[] =>
  method === 'GET' ? ['GET', 'HEAD'] : [method];

/** Finds a route or an operation and its id by method and path, because every request looks one up. */
export function byRoute<Each extends Route>(routes: Readonly<Record<string, Each>>) {
  const found = new Map<string, [id: string, route: Each]>();
  for (const [id, route] of Object.entries(routes))
    for (const method of methodsOf(route)) found.set(`${method} ${route.path}`, [id, route]);
  return (method: string, resource: string) => found.get(`${method} ${resource}`);
}

/**
 * Whether pages of other origins can call an operation. They can call the operations of scoped tokens, which frontends use. Every
 * origin can, because browsers do not send the credential automatically (Fetch Standard, "CORS protocol and credentials").
 */
export const allowsCrossOrigin = (route: Pick<Route, 'callers'>): boolean => isFor(route, 'token');

const listed = (words: readonly string[]) => new Intl.ListFormat('en', { type: 'disjunction' }).format(words);

/** The credentials that can call an operation, in words. */
export function callersText({ callers, permissions }: Pick<Route, 'callers' | 'permissions'>): string {
  if (callers === 'anyone') return 'any credential';
  const roles = callers.filter(isRole);
  const types = callers.filter((caller) => caller !== 'token' && !isRole(caller));
  const all = [
    `an ${listed(types)} key`, // the first type is admin
    ...(callers.includes('token') ? [`a scoped token with ${listed(permissions)}`] : []),
    ...(roles.length > 0 ? [`a dashboard link with the role ${listed(roles)}`] : []),
  ];
  return all.length < 2 ? all.join() : `${all.slice(0, -1).join(', ')}, or ${all.at(-1)}`;
}

/** Whether the callers of a type have a dashboard link. */
export const isRole = (type: CallerType): type is Role => type === 'viewer' || type === 'editor';
