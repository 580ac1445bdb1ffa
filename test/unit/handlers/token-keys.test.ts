import { createLocalJWKSet, jwtVerify } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { keyOf } from '../../../lib/aws/items.ts';
import { mint } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client, Project } from '../../support/service.ts';

const HOUR_MS = 60 * 60 * 1000;
const service = memoryService();
let project: Project;
let admin: Client;

beforeEach(async () => {
  project = await service.project();
  admin = project.admin;
});

interface Created {
  id: string;
  key: string;
}
const create = async (body: object): Promise<Created> => (await admin('POST', '/v1/keys', { body })).body;
const change = async (path: string, body: object = {}) => {
  const answer = await admin('POST', path, { body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
};

const read = async (client: Client, query = '', headers = {}) => {
  const answer = await client('GET', `/v1/tokens/keys${query}`, { headers });
  expect(answer.status, answer.text).toBe(200);
  return answer;
};
const setOf = async (client: Client = admin, query = '') => (await read(client, query)).body;
const kidsIn = async (client?: Client, query?: string): Promise<string[]> =>
  (await setOf(client, query)).keys.map(({ kid }: { kid: string }) => kid);
const entryOf = async (id: string) => (await setOf()).keys.find(({ kid }: { kid: string }) => kid === id);

const entriesOf = ({ id }: Project) =>
  [...service.db.items()].filter(({ pk, sk }) => pk === `KEYS#${id}` && sk !== 'USABLE');

/** Verifies a token as an engine does: with a usual library and nothing but the JWK Set. */
async function verified(token: string, query = '') {
  const jwks = createLocalJWKSet(await setOf(admin, query));
  const options = { typ: 'svc-doc+jwt', issuer: 'document-sync', audience: project.id, algorithms: ['EdDSA'] };
  return (await jwtVerify(token, jwks, { ...options, currentDate: new Date(service.clock.now()) })).payload;
}

describe('the public keys of tokens', () => {
  it('verify the tokens of all keys of the environment without a request', async () => {
    const [live, test] = [await create({ type: 'live' }), await create({ type: 'test' })];
    const body = { documents: ['org:acme:*'], permissions: ['read'], ttl: 60, user: 'user-7' };
    const { body: created } = await service.as(live.key)('POST', '/v1/tokens', { body });
    const claims = { sub: live.id, jti: created.token_id, env: 'live', user: 'user-7', documents: ['org:acme:*'] };
    expect(await verified(created.token)).toMatchObject(claims);
    expect((await verified(await mint(admin, ['*'], ['read']))).env).toBe('live');
    const ofSandbox = await mint(service.as(test.key), ['*'], ['read']);
    expect((await verified(ofSandbox, '?environment=sandbox')).env).toBe('sandbox');
    await expect(verified(ofSandbox)).rejects.toThrow('no applicable key');
    const foreign = await (await service.project()).client('live');
    await expect(verified(await mint(foreign, ['*'], ['read']))).rejects.toThrow('no applicable key');
  });

  it('are those of exactly the usable keys that can create tokens, newest first', async () => {
    const [live, test, reader] = [
      await create({ type: 'live' }),
      await create({ type: 'test' }),
      await create({ type: 'read' }),
    ];
    const first = project.adminKey.split('_')[2]?.slice(0, 12);
    const admins = [`key_${first}`];
    expect(await kidsIn()).toEqual([live.id, ...admins]);
    expect(await kidsIn(service.as(live.key))).toEqual([live.id, ...admins]);
    expect(await kidsIn(service.as(test.key))).toEqual([test.id, ...admins]);
    expect(await kidsIn(admin, '?environment=sandbox')).toEqual([test.id, ...admins]);
    expect((await service.as(reader.key)('GET', '/v1/tokens/keys')).status).toBe(403);
  });

  it('have the form of RFC 8037, and neither secrets nor hashes', async () => {
    const live = await create({ type: 'live' });
    const answer = await read(admin);
    const { keys, ...rest } = answer.body;
    expect(rest).toEqual({ cache_seconds: 10 });
    expect(keys[0]).toEqual({
      kid: live.id,
      kty: 'OKP',
      crv: 'Ed25519',
      x: expect.stringMatching(/^[\w-]{43}$/),
      alg: 'EdDSA',
      use: 'sig',
      expires_at: null,
      cidrs: [],
      revoked_tokens: [],
    });
    const [stored] = [...service.db.items()].filter(({ pk }) => pk === `KEY#${live.id}`);
    for (const secret of [stored?.tokenSecret, stored?.hash]) expect(answer.text).not.toContain(secret);
  });

  it('show a change of a key with the next request', async () => {
    const key = await create({ type: 'live' });
    const token = (
      await service.as(key.key)('POST', '/v1/tokens', {
        body: { documents: ['*'], permissions: ['read'], ttl: 3600 },
      })
    ).body;
    await change(`/v1/keys/${key.id}/allowlist`, { cidrs: ['203.0.113.7'] });
    await change(`/v1/tokens/${token.token_id}/revoke`);
    const fresh = await change(`/v1/keys/${key.id}/rotate`, { grace_seconds: 3600 });
    const ends = new Date(service.clock.now() + HOUR_MS).toISOString();
    const changed = { cidrs: ['203.0.113.7/32'], revoked_tokens: [token.token_id], expires_at: expect.any(String) };
    expect(await entryOf(key.id)).toMatchObject(changed);
    expect(Date.parse((await entryOf(key.id)).expires_at)).toBeLessThanOrEqual(Date.parse(ends));
    expect(await entryOf(fresh.id)).toMatchObject({ cidrs: ['203.0.113.7/32'], revoked_tokens: [], expires_at: null });
    service.clock.skip(HOUR_MS + 5000); // the token has expired too
    expect(await kidsIn()).not.toContain(key.id);
    await change(`/v1/keys/${fresh.id}/revoke`);
    expect(await kidsIn()).not.toContain(fresh.id);
  });

  it('omit revoked tokens that have expired', async () => {
    const body = { documents: ['*'], permissions: ['read'], ttl: 60 };
    const { token_id } = (await admin('POST', '/v1/tokens', { body })).body;
    await change(`/v1/tokens/${token_id}/revoke`);
    const revoked = async () => (await setOf()).keys.map((key: { revoked_tokens: string[] }) => key.revoked_tokens);
    expect(await revoked()).toEqual([[token_id]]);
    service.clock.skip(65_000);
    expect(await revoked()).toEqual([[]]);
  });

  it.each<[string, (key: Created) => Promise<unknown>]>([
    ['revoked', ({ id }) => change(`/v1/keys/${id}/revoke`)],
    ['replaced', ({ id }) => change(`/v1/keys/${id}/rotate`, { grace_seconds: 0 })],
  ])('never include a key again that was %s, whatever changes later', async (_, end) => {
    const key = await create({ type: 'live' });
    await end(key);
    service.clock.skip(2 * HOUR_MS);
    const entries = () => [...service.db.items()].filter(({ sk }) => sk === key.id);
    const [entry] = entries();
    expect(Number(entry?.expires) * 1000).toBeLessThanOrEqual(service.clock.now());
    await service.table.removeAll([keyOf(entry ?? {})]); // as the time to live does
    await change(`/v1/keys/${key.id}/allowlist`, { cidrs: ['203.0.113.7'] });
    expect([await kidsIn(), entries()]).toEqual([expect.not.arrayContaining([key.id]), []]);
  });

  it('have an ETag, with which a request without a change returns 304', async () => {
    const key = await create({ type: 'live' });
    const { etag = '' } = (await read(admin)).headers;
    const again = (tag: string) => admin('GET', '/v1/tokens/keys', { headers: { 'If-None-Match': tag } });
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const { status, text, headers } = await again(tag);
      expect([status, text, headers.etag], tag).toEqual([304, '', etag]);
    }
    await change(`/v1/keys/${key.id}/revoke`);
    const changed = await again(etag);
    expect([changed.status, changed.headers.etag === etag]).toEqual([200, false]);
  });

  it('cost one read of a few kilobytes, also with a hundred keys', async () => {
    for (let i = 0; i < 100; i++) await create({ type: 'live' });
    const reads: string[] = [];
    service.faults.command = (name, input) => {
      reads.push(`${name} ${JSON.stringify(input).match(/(KEYS?|PROJECT)#/)?.[1]}`);
      return undefined;
    };
    const { text } = await read(admin);
    service.faults.command = undefined;
    expect(reads.filter((each) => each.endsWith('KEYS'))).toEqual(['Query KEYS']);
    expect(reads.length).toBeLessThanOrEqual(2); // and one of the authorizer
    expect(JSON.parse(text).keys).toHaveLength(101);
    expect(JSON.stringify(entriesOf(project)).length / 101).toBeLessThan(300);
  });

  it('never exceed the largest response of a function, and the newest keys are among them', async () => {
    const [entry] = entriesOf(project);
    const cidrs = Array.from({ length: 100 }, (_, i) => `2001:db8:1111:2222:3333:4444:5555:${1000 + i}/128`);
    const revokedTokens = Array.from({ length: 100 }, (_, i) => `tok_${'Z'.repeat(14)}${1e11 + i}${'x'.repeat(18)}`);
    const ids = Array.from({ length: 999 }, (_, i) => `key_zzzzzzzzz${String(i).padStart(3, '0')}`);
    service.db.put(ids.map((id) => ({ ...entry, sk: id, id, cidrs, revokedTokens })));
    const { text, body } = await read(admin);
    expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(6_000_000);
    expect(body.keys.length).toBeGreaterThan(400);
    expect(body.keys[0].kid).toBe(ids.at(-1));
  });
});
