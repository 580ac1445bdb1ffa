import { describe, expect, it } from 'vitest';
import { code } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';

const service = memoryService();
const conflict = [409, 'conflict'];

describe('a project', () => {
  it('keeps an admin key that the caller can use from the same address', async () => {
    const { admin, adminKey } = await service.project();
    const restrict = (key: string, cidrs: string[], from?: string) =>
      admin('POST', `/v1/keys/${key}/allowlist`, { body: { cidrs }, ...(from && { from }) });
    const elsewhere = await restrict(adminKey, ['203.0.113.0/24']);
    expect(code(elsewhere)).toEqual(conflict);
    expect(elsewhere.body.detail).toContain('127.0.0.1');
    expect((await admin('GET', `/v1/keys/${adminKey}/allowlist`)).body.cidrs).toEqual([]);
    expect((await restrict(adminKey, ['203.0.113.0/24', '127.0.0.0/8'])).status).toBe(200);

    const second = (await admin('POST', '/v1/keys', { body: { type: 'admin' } })).body;
    expect((await restrict(second.key, ['203.0.113.0/24'])).status).toBe(200);
    expect(code(await restrict(adminKey, ['203.0.113.0/24']))).toEqual(conflict);
    expect((await restrict(second.key, [])).status).toBe(200);
    expect((await restrict(adminKey, ['203.0.113.0/24'])).status).toBe(200);
    expect(code(await admin('GET', '/v1/keys'))).toEqual([403, 'ip_not_allowed']);
    expect((await service.as(second.key)('GET', '/v1/keys')).status).toBe(200);
  });

  it('ignores admin keys with an expiry', async () => {
    const { admin, adminKey } = await service.project();
    const expires_at = new Date(service.clock.now() + 3_600_000).toISOString();
    await admin('POST', '/v1/keys', { body: { type: 'admin', expires_at } });
    expect(code(await admin('POST', `/v1/keys/${adminKey}/revoke`))).toEqual(conflict);
    const rotated = (await admin('POST', `/v1/keys/${adminKey}/rotate`)).body;
    expect(code(await admin('POST', `/v1/keys/${rotated.key}/revoke`))).toEqual(conflict);
    expect(code(await admin('POST', `/v1/keys/${rotated.key}/allowlist`, { body: { cidrs: ['192.0.2.1'] } }))).toEqual(
      conflict,
    );
    expect((await admin('POST', `/v1/keys/${adminKey}/revoke`)).status).toBe(200);
    expect((await service.as(rotated.key)('GET', '/v1/keys')).status).toBe(200);
  });

  it('does not count an admin key with an expiry that would allow the address', async () => {
    const { admin, adminKey } = await service.project();
    const expires_at = new Date(service.clock.now() + 3_600_000).toISOString();
    const { key } = (await admin('POST', '/v1/keys', { body: { type: 'admin', expires_at } })).body;
    const elsewhere = { body: { cidrs: ['203.0.113.0/24'] }, from: '203.0.113.5' };
    expect((await admin('POST', `/v1/keys/${adminKey}/allowlist`, elsewhere)).status).toBe(200);
    const here = { body: { cidrs: ['127.0.0.0/8'] } };
    expect(code(await service.as(key)('POST', `/v1/keys/${key}/allowlist`, here))).toEqual(conflict);
  });

  it('keeps an admin key without an expiry when one is rotated to a key with an expiry', async () => {
    const { admin, adminKey } = await service.project();
    const expires_at = new Date(service.clock.now() + 3_600_000).toISOString();
    const expire = (key: string) => admin('POST', `/v1/keys/${key}/rotate`, { body: { expires_at } });
    const emails = service.emails.length;
    expect(code(await expire(adminKey))).toEqual(conflict);
    expect((await admin('GET', '/v1/keys')).body.data).toHaveLength(1);
    expect(service.emails).toHaveLength(emails);

    const second = (await admin('POST', '/v1/keys', { body: { type: 'admin' } })).body.key;
    const answers = await Promise.all([adminKey, second].map(expire));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const expiring = answers.find(({ status }) => status === 201)?.body.key;
    const lasting = (await admin('POST', `/v1/keys/${expiring}/rotate`, { body: { expires_at: null } })).body;
    expect([lasting.status, lasting.expires_at]).toEqual(['active', null]);
  });

  it('keeps one of two admin keys that restrict each other concurrently', async () => {
    const { admin, adminKey } = await service.project();
    const second = (await admin('POST', '/v1/keys', { body: { type: 'admin' } })).body.key;
    const restrict = (as: string, key: string) =>
      service.as(as)('POST', `/v1/keys/${key}/allowlist`, { body: { cidrs: ['192.0.2.1'] } });
    const answers = await Promise.all([restrict(adminKey, second), restrict(second, adminKey)]);
    expect(answers.map(({ status }) => status).sort()).toContain(200);
    const usable = await Promise.all([adminKey, second].map((key) => service.as(key)('GET', '/v1/keys')));
    expect(usable.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
  });

  it('counts on the key of the caller, so that the number of keys does not matter', async () => {
    const { admin } = await service.project();
    const stolen = (await admin('POST', '/v1/keys', { body: { type: 'admin' } })).body;
    const commands: string[] = [];
    service.faults.command = (name) => void commands.push(name);
    expect((await admin('POST', `/v1/keys/${stolen.id}/revoke`)).status).toBe(200);
    service.faults.command = undefined;
    expect(commands).toContain('TransactWrite');
    expect(commands).not.toContain('Query');
  });

  it('does not guard non-admin keys against lockout', async () => {
    const { admin, adminKey, key } = await service.project();
    const live = await key('live');
    expect((await admin('POST', `/v1/keys/${live}/allowlist`, { body: { cidrs: ['192.0.2.1'] } })).status).toBe(200);
    const expires_at = new Date(service.clock.now() + 3_600_000).toISOString();
    const expiring = (await admin('POST', '/v1/keys', { body: { type: 'admin', expires_at } })).body.key;
    const elsewhere = { body: { cidrs: ['127.0.0.9'] }, from: '127.0.0.9' };

    // Also when the caller's own key expires, and the others are for other addresses.
    expect(code(await admin('POST', `/v1/keys/${adminKey}/allowlist`, elsewhere))).toEqual([200, undefined]);
    const again = { body: { cidrs: ['192.0.2.2'] } };
    expect((await service.as(expiring)('POST', `/v1/keys/${live}/allowlist`, again)).status).toBe(200);
  });
});

describe('a whole key in a path', () => {
  it('identifies the key only if the complete key matches', async () => {
    const { admin, key } = await service.project();
    const { encodeBase62 } = await import('../../../lib/keys/key-format.ts');
    const { crc32 } = await import('node:zlib');
    const live = await key('live');
    const unchecked = `${live.slice(0, 21)}${'0'.repeat(32)}`;
    const other = unchecked + encodeBase62(crc32(unchecked), 6);
    expect((await admin('GET', `/v1/keys/${live}`)).status).toBe(200);
    expect(code(await admin('GET', `/v1/keys/${other}`))).toEqual([404, 'not_found']);
    expect(code(await admin('POST', `/v1/keys/${other}/revoke`))).toEqual([404, 'not_found']);
  });
});
