import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { KEY_FORMAT } from '../../../../lib/keys/key-format.ts';
import type { Environment } from '../../../../lib/space.ts';
import { type Call, createCall, type Key, type Problem } from './api.ts';

/** The context of every page. */
export interface Session {
  call: Call;
  environment: Environment;
  /** Id of the key the user signed in with. */
  keyId: string;
  /** The displayable part of the key. */
  shownKey: string;
  /** Continues with another admin key, for example after a rotation. */
  signIn(key: string): void;
  /** Shows a short message and has screen readers read it. */
  announce(message: string): void;
  /** Called when the project changes, because every page shows its name. */
  onProjectChange(): void;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession was called outside of a session');
  return session;
}

/** The displayable part of a key. */
export const shownOf = ({ type, hint }: Pick<Key, 'type' | 'hint'>): string => `svc_${type}_…${hint}`;

export const keyIdOf = (key: string): string => `key_${KEY_FORMAT.exec(key)?.[2] ?? ''}`;

/** Why a key cannot sign in, or `null` if it can. Only a well-formed admin key leaves the browser. */
export async function signInProblem(key: string): Promise<string | null> {
  const [, type] = KEY_FORMAT.exec(key) ?? [];
  if (key === '') return 'Enter an admin key.';
  if (type === undefined)
    return 'This is not a complete API key. Admin keys start with svc_admin_ and are 60 characters long.';
  if (type !== 'admin') return `This is a ${type} key. The dashboard needs an admin key, which starts with svc_admin_.`;
  const { problem } = await createCall(key, 'live', () => {})('GET /v1/keys', { query: { limit: '1' } });
  return problem ? (SIGN_IN_PROBLEMS[problem.code] ?? problemText(problem)) : null;
}

const SIGN_IN_PROBLEMS: Record<string, string> = {
  unauthorized: 'This key is not valid. It may be mistyped, revoked or expired, or belong to another service.',
  ip_not_allowed:
    "Your IP address is not on this key's allowlist. Sign in from a listed address or with another admin key.",
  project_suspended: 'This project is suspended. Contact the operator.',
};

/** A problem as text. Internal failures include the request id for the operator. */
export function problemText({ detail, request_id, status }: Problem): string {
  return status >= 500 && request_id ? `${detail} (Request ID: ${request_id})` : detail;
}
