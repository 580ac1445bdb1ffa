import { beforeEach, describe, expect, it } from 'vitest';
import { mint } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client, Project } from '../../support/service.ts';

const service = memoryService();
const inactive = { active: false };
let project: Project;
let live: Client;

beforeEach(async () => {
  project = await service.project();
  live = await project.client('live');
});

const verified = async (client: Client, token: string, more: object = {}, query = '') => {
  const answer = await client('POST', `/v1/tokens/verify${query}`, { body: { token, ...more } });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};

describe('a verification of a token', () => {
  it.each([{ user: 'user-7' }, {}])('describes a token that works: %o', async (named) => {
    const body = { documents: ['org:acme:*'], permissions: ['read'], ttl: 3600, ...named };
    const { token, ...created } = (await live('POST', '/v1/tokens', { body })).body;
    expect(created.user).toBe(named.user ?? null);
    const expected = { active: true, ...created, environment: 'live', allowed: true, cache_seconds: 60 };
    expect(await verified(live, token)).toEqual(expected);
  });

  it.each<[string, object, boolean]>([
    ['nothing', {}, true],
    ['a document', { document_key: 'org:acme:doc-1' }, true],
    ['another document', { document_key: 'org:other:doc-1' }, false],
    ['a permission', { permission: 'read' }, true],
    ['another permission', { permission: 'write' }, false],
    ['a document and another permission', { document_key: 'org:acme:doc-1', permission: 'write' }, false],
    ['an address without an allowlist', { address: '203.0.113.7' }, true],
  ])('decides about %s', async (_, question, allowed) => {
    const token = await mint(live, ['org:acme:*'], ['read']);
    expect(await verified(live, token, question)).toMatchObject({ active: true, allowed });
  });

  it('does not allow a name that cannot be a document key', async () => {
    const token = await mint(live, ['*', 'org:acme:*'], ['read']);
    const names = ['', ' ', 'org:other:doc 1', 'org/acme', 'ü', '*', 'org:acme:*', '.', '\ud800', 'a'.repeat(65)];
    for (const document_key of [...names, Array(17).fill('a').join(':')])
      expect(await verified(live, token, { document_key }), document_key).toMatchObject({
        active: true,
        allowed: false,
      });
  });

  it('has only active: false for every token that does not work', async () => {
    const token = await mint(live, ['*'], ['read']);
    const [header, claims, signature = ''] = token.split('.');
    const ofAnotherProject = await mint(await (await service.project()).client('live'), ['*'], ['read']);
    const test = await project.client('test');
    const ofAnotherEnvironment = await mint(test, ['*'], ['read']);
    expect((await verified(test, ofAnotherEnvironment)).environment).toBe('sandbox');
    expect((await verified(project.admin, ofAnotherEnvironment, {}, '?environment=sandbox')).active).toBe(true);
    const forged = `${header}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const revokedKey = await project.key('live');
    const ofRevokedKey = await mint(service.as(revokedKey), ['*'], ['read']);
    await project.admin('POST', `/v1/keys/${revokedKey}/revoke`);
    const body = { documents: ['*'], permissions: ['read'], ttl: 60 };
    const { token: revoked, token_id } = (await live('POST', '/v1/tokens', { body })).body;
    expect((await verified(live, revoked)).active).toBe(true);
    await live('POST', `/v1/tokens/${token_id}/revoke`);
    const texts = ['', 'x', 'a.b.c', '\ud800', 'x'.repeat(8192), forged, `${token}.`, await project.key('live')];
    const answers = new Set<string>();
    for (const text of [...texts, ofAnotherProject, ofAnotherEnvironment, ofRevokedKey, revoked]) {
      const answer = await live('POST', '/v1/tokens/verify', { body: { token: text, document_key: 'd' } });
      const { 'x-request-id': _, ...headers } = answer.headers;
      answers.add(JSON.stringify([answer.status, headers, answer.text]));
    }
    expect([...answers].map((answer) => JSON.parse(answer)[2])).toEqual([JSON.stringify(inactive)]);
    expect((await verified(live, token)).active).toBe(true);
  });

  it('is cached no longer than the token and its key work', async () => {
    const expires_at = new Date(service.clock.now() + 10_500).toISOString();
    const { key } = (await project.admin('POST', '/v1/keys', { body: { type: 'live', expires_at } })).body;
    const token = await mint(service.as(key), ['*'], ['read'], 3600);
    expect((await verified(live, token)).cache_seconds).toBe(10);
    const shorter = await mint(service.as(key), ['*'], ['read'], 5);
    expect((await verified(live, shorter)).cache_seconds).toBe(4);
    await service.clock.advance(10_000);
    expect(await verified(live, shorter)).toEqual(inactive);
    expect((await verified(live, token)).cache_seconds).toBe(0);
    await service.clock.advance(1000);
    expect(await verified(live, token)).toEqual(inactive);
  });

  it('applies the allowlist of the parent key to the address of the client', async () => {
    const parent = await project.key('live');
    const token = await mint(service.as(parent), ['*'], ['read']);
    await project.admin('POST', `/v1/keys/${parent}/allowlist`, {
      body: { cidrs: ['203.0.113.0/24', '2001:db8::/32'] },
    });
    const allowed = async (more: object) => {
      const answer = await verified(live, token, more);
      return [answer.active, answer.allowed];
    };
    for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '2001:db8::1'])
      expect(await allowed({ address }), address).toEqual([true, true]);
    for (const more of [{ address: '198.51.100.7' }, { address: '::1' }, { address: '::203.0.113.7' }, {}])
      expect(await allowed(more)).toEqual([true, false]);
  });

  it.each([
    '10.1',
    '012.0.0.1',
    '0xa.0.0.1',
    '167772161',
    'fe80::1%eth0',
  ])('rejects the address %s', async (address) => {
    const token = await mint(live, ['*'], ['read']);
    const { status, body } = await live('POST', '/v1/tokens/verify', { body: { token, address } });
    expect([status, body.errors]).toEqual([400, [{ field: 'address', detail: 'must be an IPv4 or IPv6 address' }]]);
  });
});
