import type { Access } from './access.ts';
import { retryAfterOf, send } from './publish-batch.ts';

/** A key whose tokens are valid (RFC 7517, RFC 8037), with what limits them. */
export interface TokenKey {
  kid: string;
  x: string;
  expires_at: string | null;
  cidrs: string[];
  revoked_tokens: string[];
}

export interface KeySet {
  keys: ReadonlyMap<string, TokenKey>;
  cacheSeconds: number;
}

/** The longest time between two requests, which the service documents. A longer one is an error of a proxy. */
const MAX_CACHE_SECONDS = 60;
const RETRY_SECONDS = 1;
const TIMEOUT_MS = 5000;

/** How long the keys are used if the service does not respond. Revocations have no effect in this time. */
export const MAX_OUTAGE_SECONDS = 300;

/**
 * Returns a function for the current keys, which are at most `cache_seconds` old. One request runs at a time, and an unchanged set is not
 * transferred again. If the service does not respond, the function returns the last keys for five minutes, and then throws. If the service
 * rejects the credential, it throws immediately.
 */
export function tokenKeys(access: Access) {
  let current: (KeySet & { etag: string | null; at: number }) | undefined;
  let inFlight: Promise<void> | undefined;
  let failure: { error: unknown; until: number } | undefined;

  async function request(): Promise<void> {
    const at = Date.now();
    const headers: Record<string, string> = current?.etag ? { 'If-None-Match': current.etag } : {};
    const { response, text } = await send(access, 'GET', '/v1/tokens/keys', { headers, timeoutMs: TIMEOUT_MS });
    const { status } = response;
    if (status === 304 && current) {
      current = { ...current, at };
      return;
    }
    if (status === 401 || status === 403) current = undefined;
    if (status !== 200) {
      const error = new Error(`The token cannot be checked: the service responded with ${status}.`);
      throw Object.assign(error, { retryAfterSeconds: retryAfterOf(response) });
    }
    const { keys, cache_seconds } = JSON.parse(text) as { keys: TokenKey[]; cache_seconds: number };
    const cacheSeconds = Math.min(Math.max(cache_seconds, RETRY_SECONDS), MAX_CACHE_SECONDS);
    current = {
      keys: new Map(keys.map((key) => [key.kid, key])),
      cacheSeconds,
      etag: response.headers.get('ETag'),
      at,
    };
  }

  /** Requests the keys, unless a request failed a moment ago. */
  async function refresh(): Promise<void> {
    if (failure && Date.now() < failure.until) throw failure.error;
    inFlight ??= request()
      .then(
        () => {
          failure = undefined;
        },
        (error) => {
          const seconds = Math.min(error.retryAfterSeconds ?? RETRY_SECONDS, MAX_CACHE_SECONDS);
          failure = { error, until: Date.now() + 1000 * seconds };
          throw error;
        },
      )
      .finally(() => {
        inFlight = undefined;
      });
    return inFlight;
  }

  const ageSeconds = (): number => (current ? (Date.now() - current.at) / 1000 : Number.POSITIVE_INFINITY);

  return async function currentKeys(maxAgeSeconds = current?.cacheSeconds ?? 0): Promise<KeySet> {
    if (current && ageSeconds() < maxAgeSeconds) return current;
    try {
      await refresh();
    } catch (error) {
      if (!current || ageSeconds() >= MAX_OUTAGE_SECONDS) throw error;
    }
    return current as KeySet;
  };
}
