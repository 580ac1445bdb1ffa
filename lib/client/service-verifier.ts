import { type Access, requireAccess } from './access.ts';
import { isCount, isObject, isText, requireArgument } from './arguments.ts';
import { post } from './publish-batch.ts';

/** What a request needs. Without `document_key` and `permission`, only the token itself is checked. */
export interface TokenCheck {
  document_key?: string;
  permission?: 'read' | 'write';
  /** The address of the end user, for the allowlist of the key that created the token. */
  address?: string;
}

/** The result of a check. An invalid, expired or revoked token has only `active: false`. */
export interface VerifiedToken {
  active: boolean;
  token_id?: string;
  environment?: 'live' | 'sandbox';
  documents?: string[];
  permissions?: ('read' | 'write')[];
  /** The user that the token was created for, or `null`. */
  user?: string | null;
  /** Whether the token gives the permission for the document to the address. */
  allowed?: boolean;
  expires_at?: string;
  /** How long the result can be reused. A revocation takes effect after this time at the latest. */
  cache_seconds?: number;
}

export interface TokenVerifierOptions extends Access {
  /** The most results in the cache. The oldest leaves first. The default is 10,000. */
  maxCached?: number;
}

/** The longest reuse of a result, which the service documents. A longer time is an error of a proxy. */
const MAX_CACHE_SECONDS = 60;

/**
 * Returns a function that checks scoped tokens with the service. It reuses a result for as long as the service allows, and never after
 * the token has expired. Concurrent calls for the same check share one request. Throws if the service does not respond, so that the caller
 * can reject the request.
 */
export function tokenVerifier(access: TokenVerifierOptions) {
  requireAccess(access);
  const { maxCached = 10_000 } = access;
  requireArgument(isCount(maxCached), 'maxCached as a whole number from 0', maxCached);
  const cache = new Map<string, { result: VerifiedToken; until: number }>();
  const inFlight = new Map<string, Promise<VerifiedToken>>();

  async function request(body: string): Promise<VerifiedToken> {
    const startedAt = Date.now();
    const { response, text } = await post(access, '/v1/tokens/verify', body);
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
    requireCheck(token, check);
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

const isOptionalText = (value: unknown): boolean => value === undefined || isText(value);

/** Throws if an argument is wrong. A member with another name would check less than its caller expects. */
function requireCheck(token: unknown, check: unknown): void {
  requireArgument(isText(token), 'the token as text', token);
  requireArgument(isObject(check), 'the check as an object, such as { document_key, permission }', check);
  const { document_key, permission, address, ...others } = check;
  requireArgument(isOptionalText(document_key), 'document_key as text', document_key);
  requireArgument(
    [undefined, 'read', 'write'].includes(permission as string),
    "permission as 'read' or 'write'",
    permission,
  );
  requireArgument(isOptionalText(address), 'address as text', address);
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new TypeError(`Pass document_key, permission and address in the check, and no member ${other}`);
}
