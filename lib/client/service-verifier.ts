import type { Access } from './access.ts';
import { send } from './publish-batch.ts';
import type { TokenCheck, VerifiedToken } from './verified-token.ts';

/** The longest reuse of a result, which the service documents. A longer time is an error of a proxy. */
const MAX_CACHE_SECONDS = 60;

/**
 * Returns a function that lets the service check tokens of 0.1.0, whose signatures only the service can verify. It reuses a result for as
 * long as the service allows, and concurrent calls for the same check share one request. Throws if the service does not respond.
 */
export function serviceVerifier(access: Access, maxCached: number) {
  const cache = new Map<string, { result: VerifiedToken; until: number }>();
  const inFlight = new Map<string, Promise<VerifiedToken>>();

  async function request(body: string): Promise<VerifiedToken> {
    const startedAt = Date.now();
    const { response, text } = await send(access, 'POST', '/v1/tokens/verify', { body });
    if (!response.ok) throw new Error(`The token cannot be checked: the service responded with ${response.status}.`);
    const result: VerifiedToken = JSON.parse(text);
    const expiresAt = Date.parse(result.expires_at ?? '') || 0;
    const cacheSeconds = Math.min(result.cache_seconds ?? 0, MAX_CACHE_SECONDS);
    const until = Math.min(startedAt + 1000 * cacheSeconds, expiresAt);
    if (until > startedAt) cache.set(body, { result, until });
    const [oldest] = cache.keys();
    if (cache.size > maxCached && oldest !== undefined) cache.delete(oldest);
    return result;
  }

  return async function verifyToken(token: string, check: TokenCheck = {}): Promise<VerifiedToken> {
    const { document_key, permission, address } = check;
    const body = JSON.stringify({ token, document_key, permission, address });
    const cached = cache.get(body);
    if (cached && Date.now() < cached.until) return cached.result;
    cache.delete(body);
    let result = inFlight.get(body);
    if (!result) {
      result = request(body).finally(() => inFlight.delete(body));
      inFlight.set(body, result);
    }
    return result;
  };
}
