import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { KeyType } from '../../../../lib/credentials.ts';
import { KEY_FORMAT } from '../../../../lib/keys/key-format.ts';
import { ENVIRONMENTS, type Environment } from '../../../../lib/space.ts';
import {
  type Call,
  type CallOptions,
  createCall,
  type Key,
  type Problem,
  type ResponseOf,
  type Result,
  type Route,
} from './api.ts';
import { type Loaded, useLoaded } from './hooks.ts';

/** The environments in which keys of a type can be used, first the one to start with. */
export const KEY_ENVIRONMENTS: Record<KeyType, readonly [Environment, ...Environment[]]> = {
  live: ['live'],
  read: ['live'],
  test: ['sandbox'],
  admin: ENVIRONMENTS,
};

/** A secret that the service returns only once. */
export interface Secret {
  title: string;
  /** `null` if the response with the secret was lost, because a repeated request does not return it. */
  text: string | null;
  label: string;
  /** The advice if the secret was lost. */
  ifLost: string;
  children?: ComponentChildren;
  onClose?: () => void;
}

/** The context of every page. */
export interface Session {
  call: Call;
  environment: Environment;
  /** Whether the key can manage keys and the project. Other keys see their environment without these pages. */
  isAdmin: boolean;
  /** Id of the key the user signed in with. */
  keyId: string;
  /** The displayable part of the key. */
  shownKey: string;
  /** Continues with the successor of the key after a rotation. */
  replaceKey(key: string): void;
  /** Shows a short message and has screen readers read it. */
  announce(message: string): void;
  /** Shows a secret until the user closes it, also if the user has left the page that requested it. */
  reveal(secret: Secret): void;
  /** Called when the project changes, because every page shows its name. */
  onProjectChange(): void;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession was called outside of a session');
  return session;
}

/** Reads from the API, again after each change of the request or of `version`. A new request discards the old value. */
export function useRead<R extends Route & `GET ${string}`>(
  route: R,
  options: CallOptions<R>,
  version = 0,
): Loaded<ResponseOf<R>> {
  const { call, environment } = useSession();
  return useLoaded(JSON.stringify([environment, route, options]), () => call(route, options), version);
}

/** The sections whose operations accept only admin keys. */
const ADMIN_SECTIONS: ReadonlySet<string> = new Set(['keys', 'settings']);

/** Whether the user can open the pages of a section. */
export const canOpen = ({ isAdmin }: Pick<Session, 'isAdmin'>, section = ''): boolean =>
  isAdmin || !ADMIN_SECTIONS.has(section);

type Project = ResponseOf<'GET /v1/project'>;

/** The project, or `null` if the user cannot read it. */
export function useProject(version = 0): Loaded<Project | null> {
  const { call, isAdmin, keyId } = useSession();
  const read = async (): Promise<Result<Project | null>> => (isAdmin ? call('GET /v1/project', {}) : { value: null });
  return useLoaded(keyId, read, version);
}

/** The displayable part of a key. */
export const shownOf = ({ type, hint }: Pick<Key, 'type' | 'hint'>): string => `svc_${type}_…${hint}`;

export const keyIdOf = (key: string): string => `key_${KEY_FORMAT.exec(key)?.[2] ?? ''}`;

/** The type of a key, or an empty text if it is not complete. */
export const keyTypeOf = (key: string) => (KEY_FORMAT.exec(key)?.[1] ?? '') as KeyType | '';

/** The environments that a key can show, first the one to start with. */
export function environmentsOf(key: string): readonly [Environment, ...Environment[]] {
  const type = keyTypeOf(key);
  return type === '' ? ENVIRONMENTS : KEY_ENVIRONMENTS[type];
}

/** Checks that a key can sign in. Only a well-formed key of a type that can sign in leaves the browser. */
export async function checkKey(key: string): Promise<Result<unknown>> {
  const rejected = (detail: string) => ({ problem: { code: 'invalid_key', status: 0, detail } });
  const type = keyTypeOf(key);
  if (key === '') return rejected('Enter an API key.');
  if (type === '')
    return rejected('This is not a complete API key. Keys start with svc_, such as svc_admin_ or svc_live_.');
  if (type === 'read')
    return rejected('This is a read key, which can only read documents. Sign in with an admin, live or test key.');
  const call = createCall(key, environmentsOf(key)[0], () => {});
  const { value, problem } = await call('GET /v1/webhooks', { query: { limit: '1' } });
  if (!problem) return { value };
  return { problem: { ...problem, detail: SIGN_IN_PROBLEMS[problem.code] ?? problem.detail } };
}

const SIGN_IN_PROBLEMS: Record<string, string> = {
  unauthorized: 'This key is not valid. It may be mistyped, revoked or expired, or belong to another service.',
  ip_not_allowed: "Your IP address is not on this key's allowlist. Sign in from a listed address or with another key.",
  project_suspended: 'This project is suspended. Contact the operator.',
};

/** A problem as text. Internal failures include the request id for the operator. */
export function problemText({ detail, request_id, status }: Problem): string {
  return status >= 500 && request_id ? `${detail} (Request ID: ${request_id})` : detail;
}
