import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { encodeBase62 } from '../../../lib/keys/key-format.ts';
import { newApiKey } from '../../../lib/keys/key-secret.ts';
import { code, listed, mint } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const missing = {
  status: 404,
  body: { code: 'not_found', detail: 'No such key exists in this project and environment.' },
};
const status = async (client: Client) => (await client('GET', '/v1/webhooks')).status;

describe('a key', () => {
  it('is shown once, later described without its secret, and renamed without other changes', async () => {
    const { admin } = await service.project();
    const created = (await admin('POST', '/v1/keys', { body: { type: 'read', name: 'Site' } })).body;
    expect(created.key).toMatch(/^svc_read_[0-9A-Za-z]{50}$/);
    const { key, ...rest } = created;
    expect(rest).toEqual({
      id: `key_${key.slice(9, 21)}`,
      type: 'read',
      name: 'Site',
      hint: key.slice(-4),
      status: 'active',
      cidrs: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      last_used_at: null,
      last_rejected: null,
      expires_at: null,
      revoked_at: null,
      replaces: null,
      replaced_by: null,
    });
    expect((await admin('GET', `/v1/keys/${rest.id}`)).body).toEqual(rest);
    expect((await admin('GET', `/v1/keys/${key}`)).body).toEqual(rest);
    expect(JSON.stringify([...service.db.items()])).not.toContain(key);
    const renamed = { ...rest, name: 'New' };
    expect((await admin('PATCH', `/v1/keys/${key}`, { body: { name: 'New' } })).body).toEqual(renamed);
    expect((await admin('GET', `/v1/keys/${rest.id}`)).body).toEqual(renamed);
    expect((await admin('PATCH', `/v1/keys/${key}`, { body: { name: null } })).body.name).toBe(null);
  });

  it('expires exactly to the millisecond', async () => {
    const { admin } = await service.project();
    const expiresAt = service.clock.now() + 60_000;
    const body = { type: 'live', expires_at: new Date(expiresAt).toISOString() };
    const { key, id } = (await admin('POST', '/v1/keys', { body })).body;
    expect(await status(service.as(key))).toBe(200);
    await service.clock.advance(expiresAt - service.clock.now() - 1); // a request takes a millisecond
    expect(await status(service.as(key))).toBe(401);
    expect((await admin('GET', `/v1/keys/${id}`)).body.status).toBe('expired');
    const now = new Date(service.clock.now() + 1).toISOString();
    for (const expires_at of [now, '2020-01-01T00:00:00Z']) {
      const { status, body } = await admin('POST', '/v1/keys', { body: { type: 'live', expires_at } });
      expect([status, body.errors]).toEqual([400, [{ field: 'expires_at', detail: 'must be in the future' }]]);
    }
  });

  it('returns 404 for another project, an unknown key and the secret of another key', async () => {
    const { admin, ...project } = await service.project();
    const foreign = await (await service.project()).key('live');
    const unchecked = `${(await project.key('live')).slice(0, 21)}${'0'.repeat(32)}`;
    const withOtherSecret = unchecked + encodeBase62(crc32(unchecked), 6);
    const unknown = newApiKey('live', Date.now(), (n) => crypto.getRandomValues(new Uint8Array(n))).key;
    for (const key of [foreign, `key_${foreign.slice(9, 21)}`, unknown, withOtherSecret, 'key_short', 'nothing'])
      expect(await admin('GET', `/v1/keys/${key}`)).toMatchObject(missing);
    expect(await status(service.as(foreign))).toBe(200);
    for (const key of [unknown, withOtherSecret]) expect(await status(service.as(key))).toBe(401);
  });

  it('shows the hour of its last use, also with a token, and the number of hours of use for each day', async () => {
    const { admin, key } = await service.project();
    const live = await key('live');
    const usage = async () => (await admin('GET', `/v1/keys/${live}/usage`)).body.days;
    const total = (days: { active_hours: number }[]) => days.reduce((sum, { active_hours }) => sum + active_hours, 0);
    expect(total(await usage())).toBe(0);
    for (let i = 0; i < 3; i++) await status(service.as(live));
    const token = service.as(await mint(service.as(live), ['*'], ['read'], 86_400));
    expect(total(await usage())).toBe(1);
    await service.clock.advance(HOUR_MS);
    await token('GET', '/v1/documents');
    const days = await usage();
    expect([days.length, total(days)]).toEqual([30, 2]);
    const hour = new Date(Math.floor(service.clock.now() / HOUR_MS) * HOUR_MS).toISOString();
    expect(days[0].date).toBe(hour.slice(0, 10));
    expect((await admin('GET', `/v1/keys/${live}`)).body.last_used_at).toBe(hour);
  });

  it('shows why the last request with it, or with one of its tokens, was rejected', async () => {
    const { admin, key } = await service.project();
    const live = await key('live');
    const token = service.as(await mint(service.as(live), ['*'], ['read'], 60));
    const rejection = async () => (await admin('GET', `/v1/keys/${live}`)).body.last_rejected;
    expect([await status(service.as(live)), await rejection()]).toEqual([200, null]);
    await service.clock.advance(61_000);
    const at = new Date(Math.floor(service.clock.now() / HOUR_MS) * HOUR_MS).toISOString();
    expect((await token('GET', '/v1/documents')).status).toBe(401);
    expect(await rejection()).toEqual({ at, reason: 'expired' });
    await admin('POST', `/v1/keys/${live}/allowlist`, { body: { cidrs: ['203.0.113.0/24'] } });
    expect([await status(service.as(live)), await rejection()]).toEqual([403, { at, reason: 'ip_not_allowed' }]);
    await admin('POST', `/v1/keys/${live}/revoke`);
    expect([await status(service.as(live)), await rejection()]).toEqual([401, { at, reason: 'revoked' }]);
    const { data } = (await admin('GET', '/v1/keys')).body;
    expect(data.map(({ last_rejected }: { last_rejected: unknown }) => last_rejected)).toContainEqual({
      at,
      reason: 'revoked',
    });
  });
});

describe('rotation', () => {
  it('follows the walk-through: generate, switch, deploy, revoke', async () => {
    const { admin } = await service.project();
    const old = (await admin('POST', '/v1/keys', { body: { type: 'live', name: 'App' } })).body;
    const cidrs = ['127.0.0.0/8'];
    await admin('POST', `/v1/keys/${old.id}/allowlist`, { body: { cidrs } });
    expect(await status(service.as(old.key))).toBe(200);

    const fresh = (await admin('POST', `/v1/keys/${old.id}/rotate`)).body;
    expect(fresh).toMatchObject({
      type: 'live',
      name: 'App',
      cidrs,
      status: 'active',
      last_used_at: null,
      last_rejected: null,
      replaces: old.id,
      replaced_by: null,
    });
    expect(await status(service.as(fresh.key))).toBe(200);
    expect(await status(service.as(old.key))).toBe(200);
    const expiring = { status: 'expiring', replaced_by: fresh.id };
    expect((await admin('GET', `/v1/keys/${old.id}`)).body).toMatchObject(expiring);
    expect(code(await admin('POST', `/v1/keys/${old.id}/rotate`))).toEqual([409, 'conflict']);

    const revoked = (await admin('POST', `/v1/keys/${old.key}/revoke`)).body;
    expect(revoked).toMatchObject({ status: 'revoked', revoked_at: new Date(service.clock.now()).toISOString() });
    expect(await status(service.as(old.key))).toBe(401);
    expect(await status(service.as(fresh.key))).toBe(200);
    expect(code(await admin('POST', `/v1/keys/${old.id}/rotate`))).toEqual([409, 'conflict']);
    await service.clock.advance(2 * DAY_MS);
    expect((await admin('GET', `/v1/keys/${old.id}`)).body.status).toBe('revoked');
  });

  it('keeps the expiry of a key to the millisecond and ends the old key after the grace, unless the body says otherwise', async () => {
    const { admin } = await service.project();
    const inMs = (ms: number) => new Date(service.clock.now() + ms).toISOString();
    const [own, other] = [inMs(60_001), inMs(3 * DAY_MS)];
    for (const [expires_at, body, expected] of [
      [own, undefined, own],
      [own, { expires_at: other }, other],
      [own, { expires_at: null, grace_seconds: 0 }, null],
      [undefined, undefined, null],
      [undefined, { expires_at: other, grace_seconds: 3600 }, other],
      [other, {}, other],
    ] as const) {
      const { id } = (await admin('POST', '/v1/keys', { body: { type: 'live', expires_at } })).body;
      const graceMs = body && 'grace_seconds' in body ? body.grace_seconds * 1000 : DAY_MS;
      const [end] = [inMs(graceMs + 1), expires_at ?? other].sort(); // the request takes a millisecond
      const { body: fresh } = await admin('POST', `/v1/keys/${id}/rotate`, { ...(body && { body }) });
      expect(fresh.expires_at).toBe(expected);
      expect((await admin('GET', `/v1/keys/${fresh.id}`)).body.expires_at).toBe(expected);
      expect((await admin('GET', `/v1/keys/${id}`)).body.expires_at).toBe(end);
      const entries = await listed(admin, `/v1/audit?target=${id}`);
      expect(entries.map(({ detail }) => detail.expires_at)).toEqual([end, expires_at ?? null]);
      const again = (await admin('POST', `/v1/keys/${fresh.id}/rotate`)).body; // its own expiry, and not that of the rotation
      expect(again.expires_at).toBe(expected);
    }
    const { id } = (await admin('POST', '/v1/keys', { body: { type: 'live', expires_at: own } })).body;
    const past = { body: { expires_at: inMs(0) } };
    expect(code(await admin('POST', `/v1/keys/${id}/rotate`, past))).toEqual([400, 'invalid_request']);
    await service.clock.advance(60_000);
    expect(code(await admin('POST', `/v1/keys/${id}/rotate`))).toEqual([409, 'conflict']); // expired
  });
});

const set = (admin: Client, key: string, cidrs: unknown) =>
  admin('POST', `/v1/keys/${key}/allowlist`, { body: { cidrs } });

it('an allowlist is set with an admin key for the key in the path, and applies to the next request with the key or its tokens', async () => {
  const { admin, key } = await service.project();
  const live = await key('live');
  const token = service.as(await mint(service.as(live), ['*'], ['read']));
  const answer = await set(admin, live, ['127.0.0.2', '2001:0DB8::1']);
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ id: `key_${live.slice(9, 21)}`, cidrs: ['127.0.0.2/32', '2001:db8::1/128'] });
  expect((await admin('GET', `/v1/keys/${live}/allowlist`)).body).toEqual(answer.body);

  const client = service.as(live);
  expect(code(await client('GET', '/v1/webhooks'))).toEqual([403, 'ip_not_allowed']);
  expect((await client('GET', '/v1/webhooks', { from: '127.0.0.2' })).status).toBe(200);
  expect(code(await token('GET', '/v1/documents'))).toEqual([403, 'ip_not_allowed']);
  expect((await token('GET', '/v1/documents', { from: '127.0.0.2' })).status).toBe(200);
  const spoofed = { headers: { 'X-Forwarded-For': '127.0.0.2' } };
  expect(code(await client('GET', '/v1/webhooks', spoofed))).toEqual([403, 'ip_not_allowed']);
  await set(admin, live, ['::/0']);
  expect(code(await client('GET', '/v1/webhooks'))).toEqual([403, 'ip_not_allowed']);
  await set(admin, live, []);
  expect(await status(client)).toBe(200);
});
