import type { KeyRecord } from '../access/keys.ts';
import { MAX_TOKEN_BYTES, signToken } from '../access/tokens.ts';
import { invalid } from '../api/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { type Random, sortableId } from '../ids.ts';
import { iso } from '../schema.ts';

const grouped = (bytes: number): string => bytes.toLocaleString('en-US');

export interface TokensDeps {
  keys: { get(id: string): Promise<KeyRecord | undefined> };
  clock(): number;
  random: Random;
}

export function tokenHandlers({ keys, clock, random }: TokensDeps): Handlers<'tokens'> {
  return {
    async createToken({ body, caller, space }) {
      const parent = await keys.get(caller.keyId);
      if (!parent) throw new Error('The key of this request is gone');
      const now = clock();
      const { documents, permissions, ttl } = body;
      const tokenId = sortableId('tok', now, random);
      const grant = { ...space, keyId: parent.id, tokenId, documents, permissions };
      const token = await signToken(grant, ttl, now, parent.tokenSecret);
      if (token.length > MAX_TOKEN_BYTES) {
        const detail = `would make a token of ${grouped(token.length)} bytes; the limit is ${grouped(MAX_TOKEN_BYTES)}`;
        return invalid([{ field: 'documents', detail }]);
      }
      const expires_at = iso((Math.floor(now / 1000) + ttl) * 1000);
      return { body: { token, token_id: tokenId, documents, permissions, expires_at } };
    },
  };
}
