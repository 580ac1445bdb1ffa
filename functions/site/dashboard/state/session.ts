import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Environment } from '../../../../lib/space.ts';
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
import { identityOf, type LinkContent } from './identity.ts';

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
  /** Whether the user can send requests to an operation. Pages hide what the user cannot do. */
  can(route: Route): boolean;
  /** Id of the key the user signed in with, or of the key that created the link. */
  keyId: string;
  /** The displayable part of the key or link. */
  shownKey: string;
  /** The link with which the user signed in, if it was not a key. */
  link?: LinkContent | undefined;
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

/** The operation without which a page is of no use to the user, by section, and by section with its form for something new. */
const NEEDED: Readonly<Record<string, Route>> = {
  keys: 'GET /v1/keys',
  settings: 'GET /v1/project',
  links: 'POST /v1/dashboard-links',
  'webhooks/new': 'POST /v1/webhooks',
  'documents?new': 'PUT /v1/documents/{key}',
};

/** Whether the user can open a page. */
export function canOpen({ can }: Pick<Session, 'can'>, [section = '', id]: readonly string[], isNew = false): boolean {
  const needed = [section, `${section}/${id}`, ...(isNew ? [`${section}?new`] : [])].flatMap(
    (page) => NEEDED[page] ?? [],
  );
  return needed.every(can);
}

type Project = ResponseOf<'GET /v1/project'>;

/** The project, or `null` if the user cannot read it. */
export function useProject(version = 0): Loaded<Project | null> {
  const { call, can, keyId } = useSession();
  const read = async (): Promise<Result<Project | null>> =>
    can('GET /v1/project') ? call('GET /v1/project', {}) : { value: null };
  return useLoaded(keyId, read, version);
}

/** The displayable part of a key. */
export const shownOf = ({ type, hint }: Pick<Key, 'type' | 'hint'>): string => `svc_${type}_…${hint}`;

/** Checks that a key can sign in. Only a well-formed key of a type that can sign in leaves the browser. */
export async function checkKey(key: string): Promise<Result<unknown>> {
  const rejected = (detail: string) => ({ problem: { code: 'invalid_key', status: 0, detail } });
  const { caller: type, environments } = identityOf(key);
  if (key === '') return rejected('Enter an API key.');
  if (type === null)
    return rejected('This is not a complete API key. Keys start with svc_, such as svc_admin_ or svc_live_.');
  if (type === 'read')
    return rejected('This is a read key, which can only read documents. Sign in with an admin, live or test key.');
  const call = createCall(key, environments[0], () => {});
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
