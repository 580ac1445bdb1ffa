import { auditing } from '../audit/store.ts';
import type { Backend } from '../aws/backend.ts';
import { optimistically } from '../concurrency.ts';
import { namesTag } from '../http/etag.ts';
import { createPageBudget } from '../http/page.ts';
import { invalid, notFound, Problem } from '../http/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { iso } from '../schema.ts';
import { authenticateToken } from './authenticate.ts';
import {
  hasExpired,
  isTokenOf,
  keyIdOfToken,
  MAX_REVOKED_TOKENS,
  mayRevoke,
  newTokenId,
  withRevoked,
} from './revoked-tokens.ts';
import { MAX_TOKEN_BYTES } from './signed-claims.ts';
import { apiKeys } from './store.ts';
import { signToken } from './token.ts';
import { verificationOf } from './token-introspection.ts';
import { etagOfText, tokenKey, tokenKeySet } from './token-keys.ts';
import { listedKeys } from './token-keys-store.ts';
import type { tokenOperations } from './token-operations.ts';

const grouped = (bytes: number): string => bytes.toLocaleString('en-US');

export function tokenHandlers(backend: Backend): Handlers<typeof tokenOperations> {
  const { table, clock, random } = backend;
  const keys = apiKeys(table);
  const audited = auditing(backend);

  return {
    async createToken({ body, caller, space }) {
      const parent = await keys.get(caller.keyId);
      if (!parent) throw new Error('The key of this request is gone');
      const now = clock();
      const { documents, permissions, ttl, user } = body;
      const tokenId = newTokenId(parent, ttl, now, random);
      const grant = { ...space, keyId: parent.id, tokenId, documents, permissions, user };
      const token = await signToken(grant, ttl, now, parent.tokenSecret);
      if (token.length > MAX_TOKEN_BYTES) {
        const detail = `would make a token of ${grouped(token.length)} bytes; the limit is ${grouped(MAX_TOKEN_BYTES)}`;
        return invalid([{ field: 'documents', detail }]);
      }
      const expires_at = iso((Math.floor(now / 1000) + ttl) * 1000);
      return { body: { token, token_id: tokenId, documents, permissions, user: user ?? null, expires_at } };
    },

    async listTokenKeys({ space, headers }) {
      const budget = createPageBudget();
      const shown = [];
      for await (const listed of listedKeys(table, space.projectId)) {
        const key = tokenKey(listed, space.environment, clock());
        if (!key) continue;
        if (!budget.takes(key)) break;
        shown.push(key);
      }
      const json = JSON.stringify(tokenKeySet(shown));
      const ETag = etagOfText(json);
      return namesTag(headers['if-none-match'], ETag)
        ? { status: 304, headers: { ETag } }
        : { json, headers: { ETag } };
    },

    async verifyToken({ body, space }) {
      const authenticated = await authenticateToken(body.token, keys.get, clock);
      if (!authenticated || 'end' in authenticated) return { body: { active: false } };
      const { projectId, environment } = authenticated.grant;
      const isOfSpace = projectId === space.projectId && environment === space.environment;
      return { body: isOfSpace ? verificationOf(authenticated, body) : { active: false } };
    },

    async revokeToken(request) {
      const { token_id: tokenId } = request.path;
      return optimistically(async () => {
        const parent = await keys.get(keyIdOfToken(tokenId));
        const now = clock();
        if (!parent || !mayRevoke(request.caller, parent) || !isTokenOf(tokenId, parent)) return notFound('token');
        const { revokedTokens = [] } = parent;
        if (revokedTokens.includes(tokenId) || hasExpired(tokenId, now)) return {};
        const revoked = withRevoked(revokedTokens, tokenId, now);
        if (!revoked) return tooMany();
        const detail = { key: parent.id };
        const entry = audited(request, { at: now, action: 'token.revoked', target: tokenId, detail });
        return (await keys.setRevokedTokens(parent, revoked, [entry])) ? {} : undefined;
      });
    },
  };
}

const tooMany = (): Problem =>
  new Problem(
    'limit_reached',
    `Wait until revoked tokens expire, or revoke the key itself. A key can have ${MAX_REVOKED_TOKENS} revoked tokens that have not expired.`,
  );
