import { routeAt } from '../../../../lib/api/routes.ts';
import type { KeyType, Role } from '../../../../lib/credentials.ts';
import { type CallerType, isFor, isRole } from '../../../../lib/http/route.ts';
import { KEY_FORMAT } from '../../../../lib/keys/key-format.ts';
import { ENVIRONMENTS, type Environment } from '../../../../lib/space.ts';
import type { Route } from './api.ts';
import { isTextClaim, isTimeClaim, objectInPart } from './jwt-parts.ts';

/** The environments in which keys of a type can be used, first the one to start with. */
export const KEY_ENVIRONMENTS: Record<KeyType, readonly [Environment, ...Environment[]]> = {
  live: ['live'],
  read: ['live'],
  test: ['sandbox'],
  admin: ENVIRONMENTS,
};

/** The content of a dashboard link. */
export interface LinkContent {
  role: Role;
  environment: Environment;
  /** Empty if the link has no user. */
  user: string;
  /** ISO 8601. */
  expiresAt: string;
  keyId: string;
}

/** The content of a credential. Only the service can verify it. */
export interface Identity {
  /** `null` if the credential is neither a complete key nor the session of a link. */
  caller: CallerType | null;
  /** First the one to start with. */
  environments: readonly [Environment, ...Environment[]];
  /** Id of the key, or of the key that created the link. */
  keyId: string;
  /** The displayable part of the credential. */
  shown: string;
  link?: LinkContent;
}

export function identityOf(credential: string): Identity {
  const link = linkContentOf(credential);
  if (link) {
    const { role, environment, keyId, user } = link;
    const shown = user === '' ? `a link with the role ${role}` : `the link of ${user}`;
    return { caller: role, environments: [environment], keyId, shown, link };
  }
  const [, type = null, id = ''] = KEY_FORMAT.exec(credential) ?? [];
  const caller = type as KeyType | null;
  const environments = caller === null ? ENVIRONMENTS : KEY_ENVIRONMENTS[caller];
  return { caller, environments, keyId: `key_${id}`, shown: `svc_${type ?? ''}_…${credential.slice(-4)}` };
}

export const ROLE_NAMES: Readonly<Record<Role, string>> = { viewer: 'Viewer', editor: 'Editor' };

/** The content of a session, or `undefined` for any other text, such as an incomplete session. */
export function linkContentOf(session: string): LinkContent | undefined {
  const parts = session.split('.');
  const claims = parts.length === 3 && parts[2] !== '' ? objectInPart(parts[1] ?? '') : undefined;
  if (!claims) return undefined;
  const { role, env, exp, sub, user = '' } = claims;
  const isOurs = isRole(role as CallerType) && ENVIRONMENTS.includes(env as Environment) && isTimeClaim(exp);
  if (!isOurs || ![sub, user].every(isTextClaim)) return undefined;
  const expiresAt = new Date(Number(exp) * 1000).toISOString();
  return { role: role as Role, environment: env as Environment, user: String(user), expiresAt, keyId: String(sub) };
}

/** Whether a caller can send requests to an operation. */
export function canCall({ caller }: Pick<Identity, 'caller'>, route: Route): boolean {
  const [method = '', path = ''] = route.split(' ');
  const [, declared] = routeAt(method, path) ?? [];
  return caller !== null && declared !== undefined && isFor(declared, caller);
}
