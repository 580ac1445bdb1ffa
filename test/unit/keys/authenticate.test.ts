import { randomBytes as random } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { authenticate } from '../../../lib/keys/authenticate.ts';
import { generateKey, type KeyRecord } from '../../../lib/keys/key.ts';
import { hashApiKey, newApiKey } from '../../../lib/keys/key-format.ts';
import { newTokenId } from '../../../lib/keys/revoked-tokens.ts';
import { signToken } from '../../../lib/keys/token.ts';

const now = Date.UTC(2026, 0, 31, 12);
const secret = () => Buffer.from(random(32)).toString('base64url');
const { key, record } = generateKey({ projectId: 'prj_1', type: 'live', name: null }, now, random);

const grant = {
  tokenId: newTokenId(record, 60, now, random),
  keyId: record.id,
  projectId: 'prj_1',
  environment: 'live' as const,
  documents: ['org:acme:*'],
  permissions: ['read' as const],
};
const token = await signToken(grant, 60, now, record.tokenSecret);

/** Authenticates a credential against a store with one optional key. */
const given = async (credential: string, stored: KeyRecord | undefined = record, at = now) => {
  const get = vi.fn(async (id: string) => (id === stored?.id ? stored : undefined));
  return { authenticated: await authenticate(credential, get, () => at), reads: get.mock.calls };
};
const changed = (overrides: Partial<KeyRecord>): KeyRecord => ({ ...record, ...overrides });

describe('a credential', () => {
  it.each([
    ['a key', key, { record, grant: null }],
    ['a token', token, { record, grant }],
  ])('resolves %s with one read', async (_, credential, authenticated) => {
    expect(await given(credential)).toEqual({ authenticated, reads: [[record.id]] });
  });

  it.each([
    ['empty', ''],
    ['a key with a wrong checksum', `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
    ['the id of a key', record.id],
    ['a token cut off', token.split('.').slice(0, 2).join('.')],
    ['the secret of tokens', record.tokenSecret],
  ])('rejects %s without a read', async (_, credential) => {
    expect(await given(credential)).toEqual({ authenticated: null, reads: [] });
  });

  const other = newApiKey('live', now, random);
  it.each([
    ['a key that does not exist', other.key, record],
    ['a key whose hash is another', key, changed({ hash: hashApiKey(other.key) })],
    ['a key with a hash cut off', key, changed({ hash: record.hash.slice(1) })],
    ['a revoked key', key, changed({ revokedAt: now })],
    ['an expired key', key, changed({ expiresAt: now })],
    ['a token of a key that does not exist', token, changed({ id: other.id })],
    ['a token signed with another secret', token, changed({ tokenSecret: secret() })],
    ['a token of a revoked key', token, changed({ revokedAt: now })],
    ['a token of an expired key', token, changed({ expiresAt: now })],
    ['a revoked token', token, changed({ revokedTokens: [grant.tokenId] })],
    ['a token of another project', token, changed({ projectId: 'prj_2' })],
  ])('rejects %s', async (_, credential, stored) => {
    expect((await given(credential, stored)).authenticated).toBe(null);
  });

  it.each([
    ['a key', key, { expiresAt: now + 1000 }, 1000],
    ['a token', token, {}, 60_000],
    ['a token of a key that expires before it', token, { expiresAt: now + 1000 }, 1000],
  ])('accepts %s until the last millisecond', async (_, credential, overrides, ms) => {
    const at = async (time: number) => (await given(credential, changed(overrides), time)).authenticated !== null;
    expect([await at(now + ms - 1), await at(now + ms)]).toEqual([true, false]);
  });
});
