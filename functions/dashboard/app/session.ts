import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { KEY_FORMAT } from '../../../lib/access/key-format.ts';
import type { Environment } from '../../../lib/space.ts';
import { type Call, createCall, type Problem } from './api.ts';

const NAME = 'admin-key';

/** The key is kept in this tab's session storage and nowhere else. */
export const rememberedKey = (): string | null => sessionStorage.getItem(NAME);
export const rememberKey = (key: string): void => sessionStorage.setItem(NAME, key);
export const forgetKey = (): void => sessionStorage.removeItem(NAME);

/** What every page needs. */
export interface Session {
  call: Call;
  environment: Environment;
  /** The id of the key that is signed in. */
  keyId: string;
  /** Says something once, also to screen readers. */
  announce(message: string): void;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('There is no session');
  return session;
}

export const keyIdOf = (key: string): string => `key_${KEY_FORMAT.exec(key)?.[2] ?? ''}`;

/** Why a key does not sign in, or `null` if it does. Only a key that could be an admin key leaves the browser. */
export async function signInProblem(key: string): Promise<string | null> {
  const [, type] = KEY_FORMAT.exec(key) ?? [];
  if (key === '') return 'Enter an admin key.';
  if (type === undefined)
    return 'This is not a whole API key. An admin key begins with svc_admin_ and has 60 characters.';
  if (type !== 'admin') return `This is a ${type} key. The dashboard needs an admin key: it begins with svc_admin_.`;
  const { problem } = await createCall(key, 'live', () => {})('GET /v1/keys', { query: { limit: '1' } });
  return problem ? (SIGN_IN_PROBLEMS[problem.code] ?? problemText(problem)) : null;
}

const SIGN_IN_PROBLEMS: Record<string, string> = {
  unauthorized:
    'The service does not accept this key: it is mistyped, was revoked, has expired, or belongs to another service.',
  ip_not_allowed:
    'Your address is not on the allowlist of this key. Sign in from a listed address, or with another admin key.',
};

/** A problem in one sentence or two, with what the operator asks for. */
export function problemText({ detail, request_id, status }: Problem): string {
  return status >= 500 && request_id ? `${detail} (Request ${request_id})` : detail;
}
