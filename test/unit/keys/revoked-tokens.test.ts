import { randomBytes as random } from 'node:crypto';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { ID_ALPHABET, timeOf } from '../../../lib/ids.ts';
import { newApiKey } from '../../../lib/keys/key-format.ts';
import {
  hasExpired,
  isTokenOf,
  keyIdOfToken,
  MAX_REVOKED_TOKENS,
  newTokenId,
  TokenId,
  withRevoked,
} from '../../../lib/keys/revoked-tokens.ts';

const now = Date.UTC(2026, 0, 31, 12);
const LEEWAY_MS = 5000;
const newParent = () => ({
  id: newApiKey('live', now, random).id,
  tokenSecret: Buffer.from(random(32)).toString('base64url'),
});
const parent = newParent();
const minted = (ttl = 60, at = now) => newTokenId(parent, ttl, at, random);

describe('the id of a token', () => {
  it('names the parent key and the creation time', () => {
    const id = minted();
    expect(v.is(TokenId, id)).toBe(true);
    expect([keyIdOfToken(id), timeOf(id), isTokenOf(id, parent)]).toEqual([parent.id, now, true]);
    for (const other of [`${id}x`, id.slice(0, -1), id.replace('tok', 'evt'), 'tok_1'])
      expect(v.is(TokenId, other)).toBe(false);
  });

  it('is unique among tokens of the same millisecond', () => {
    expect(new Set(Array.from({ length: 1000 }, () => minted())).size).toBe(1000);
  });

  it('is rejected with any character changed', () => {
    const id = minted();
    const at = fc.integer({ min: 'tok_'.length, max: id.length - 1 });
    const other = fc.constantFrom(...ID_ALPHABET);
    fc.assert(
      fc.property(
        at,
        other,
        (i, char) => isTokenOf(id.slice(0, i) + char + id.slice(i + 1), parent) === (id[i] === char),
      ),
    );
  });

  it('is rejected for a parent with another secret', () => {
    expect(isTokenOf(minted(), { ...newParent(), id: parent.id })).toBe(false);
  });

  it.each([
    1, 60, 3600, 86_400,
  ])('returns the time when a token with a lifetime of %i s has expired on every server', (ttl) => {
    const end = now + ttl * 1000 + LEEWAY_MS;
    expect([hasExpired(minted(ttl), end - 1), hasExpired(minted(ttl), end)]).toEqual([false, true]);
  });
});

describe('the list of revoked tokens', () => {
  it('drops tokens after they expire', () => {
    const [short, long, next] = [minted(60), minted(3600), minted(60)];
    const end = now + 60_000 + LEEWAY_MS;
    expect(withRevoked([short, long], next, end - 1, MAX_REVOKED_TOKENS)).toEqual([short, long, next]);
    expect(withRevoked([short, long], next, end, MAX_REVOKED_TOKENS)).toEqual([long, next]);
  });

  it('has a limit', () => {
    const full = Array.from({ length: MAX_REVOKED_TOKENS }, () => minted());
    expect(withRevoked(full, minted(), now, MAX_REVOKED_TOKENS)).toBe(null);
    expect(withRevoked(full.slice(1), minted(), now, MAX_REVOKED_TOKENS)).toHaveLength(MAX_REVOKED_TOKENS);
    expect(withRevoked(full, minted(), now, MAX_REVOKED_TOKENS + 1)).toHaveLength(MAX_REVOKED_TOKENS + 1);
  });
});
