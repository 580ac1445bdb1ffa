import type { Environment } from '../../../../lib/space.ts';
import type { Call, Key, ResponseOf, Result } from '../state/api.ts';
import { type Loaded, useLoaded, useRepeated } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';
import type { TokenClaims } from './token.ts';

/** What the service says about a token. */
export interface Standing {
  isActive: boolean;
  /** The environment in which the service was asked. */
  environment: Environment;
  /** The parent key, `null` if the project has no such key, or `undefined` if the user cannot read keys. */
  key: Pick<Key, 'status' | 'cidrs'> | null | undefined;
}

const EVERY_MS = 30_000;

/** Asks the service, again after each change of `version` and when the token expires. */
export function useStanding(token: string, { keyId, expiresAt }: TokenClaims, now: number, version: number) {
  const { call, environment, can } = useSession();
  const load = async (): Promise<Result<Standing>> => {
    const verified = await call('POST /v1/tokens/verify', { body: { token } });
    if (verified.problem) return verified;
    const { value: key, problem } = can('GET /v1/keys/{key}') ? await keyOf(call, keyId) : {};
    return problem ? { problem } : { value: { isActive: verified.value.active, environment, key } };
  };
  const standing: Loaded<Standing> = useLoaded(JSON.stringify([environment, token, expiresAt <= now]), load, version);
  useRepeated(EVERY_MS, standing);
  return standing;
}

/** A token can name anything as its key. */
async function keyOf(call: Call, id: string): Promise<Result<ResponseOf<'GET /v1/keys/{key}'> | null>> {
  const loaded = await call('GET /v1/keys/{key}', { path: { key: id } });
  return loaded.problem?.status === 404 || loaded.problem?.status === 400 ? { value: null } : loaded;
}

/** Why the service does not accept a token, as far as its content and its key show it. */
export function whyInactive(
  { expiresAt, environment: own }: Pick<TokenClaims, 'expiresAt' | 'environment'>,
  { environment, key }: Pick<Standing, 'environment' | 'key'>,
  nowMs: number,
): string {
  if (key === null) return 'This project has no key with the id that it names.';
  if (key?.status === 'revoked') return 'Its key is revoked.';
  if (key?.status === 'expired') return 'Its key has expired.';
  if (expiresAt <= nowMs) return 'It has expired.';
  if (own !== environment) return `It is for ${own}, and this page shows ${environment}.`;
  if (key) return 'It is revoked, or its signature is not valid.';
  return 'It is revoked, its key no longer works, or its signature is not valid.';
}
