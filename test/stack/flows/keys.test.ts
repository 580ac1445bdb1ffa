import { describe, expect, it } from 'vitest';
import { type Client, useService } from '../../support/service.ts';

const service = useService();
const DAY_MS = 24 * 60 * 60 * 1000;
const status = async (client: Client) => (await client('GET', '/v1/webhooks')).status;
const code = async (answer: Promise<{ status: number; body: { code?: string } }>) => {
  const { status, body } = await answer;
  return [status, body.code];
};

describe('rotation', () => {
  it('replaces a key without downtime: create, deploy, revoke', async () => {
    const { admin, ...project } = await service.project();
    const old = (await admin('POST', '/v1/keys', { body: { type: 'live', name: 'App' } })).body;
    const receiverKey = await project.key('live');
    const cidrs = ['127.0.0.0/8'];
    await admin('POST', `/v1/keys/${old.id}/allowlist`, { body: { cidrs } });

    const rotatedAt = service.stack.clock.now();
    const rotated = await admin('POST', `/v1/keys/${old.id}/rotate`);
    expect(rotated.status).toBe(201);
    const fresh = rotated.body;
    expect(fresh).toMatchObject({
      type: 'live',
      name: 'App',
      cidrs,
      status: 'active',
      replaces: old.id,
      replaced_by: null,
    });
    expect(await status(service.as(fresh.key))).toBe(200);
    expect(await status(service.as(old.key))).toBe(200);
    const expiring = (await admin('GET', `/v1/keys/${old.id}`)).body;
    expect(expiring).toMatchObject({ status: 'expiring', replaced_by: fresh.id });
    const end = Date.parse(expiring.expires_at);
    expect(end - rotatedAt).toBeGreaterThanOrEqual(DAY_MS);
    expect(end - rotatedAt).toBeLessThan(DAY_MS + 10_000);
    expect(await code(admin('POST', `/v1/keys/${old.id}/rotate`))).toEqual([409, 'conflict']);

    expect((await admin('POST', `/v1/keys/${old.key}/revoke`)).body.status).toBe('revoked');
    expect(await status(service.as(old.key))).toBe(401);
    expect(await status(service.as(fresh.key))).toBe(200);
    expect(await code(admin('POST', `/v1/keys/${old.id}/rotate`))).toEqual([409, 'conflict']);
    expect(await status(service.as(receiverKey))).toBe(200);
  });

  it('succeeds once when it is requested several times concurrently', async () => {
    const { admin, key } = await service.project();
    const old = await key('live');
    const answers = await Promise.all(Array.from({ length: 4 }, () => admin('POST', `/v1/keys/${old}/rotate`)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409]);
    expect((await admin('GET', '/v1/keys')).body.data).toHaveLength(3);
  });
});

describe('an allowlist', () => {
  const set = (admin: Client, key: string, cidrs: unknown) =>
    admin('POST', `/v1/keys/${key}/allowlist`, { body: { cidrs } });

  it('applies to the next request, and ignores X-Forwarded-For', async () => {
    const { admin, key } = await service.project();
    const live = await key('live');
    const answer = await set(admin, live, ['127.0.0.2', '2001:0DB8::1']);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ id: `key_${live.slice(9, 21)}`, cidrs: ['127.0.0.2/32', '2001:db8::1/128'] });
    expect((await admin('GET', `/v1/keys/${live}/allowlist`)).body).toEqual(answer.body);

    const client = service.as(live);
    expect(await code(client('GET', '/v1/webhooks'))).toEqual([403, 'ip_not_allowed']);
    expect((await client('GET', '/v1/webhooks', { from: '127.0.0.2' })).status).toBe(200);
    const spoofed = { headers: { 'X-Forwarded-For': '127.0.0.2' } };
    expect(await code(client('GET', '/v1/webhooks', spoofed))).toEqual([403, 'ip_not_allowed']);
    await set(admin, live, ['::/0']);
    expect(await code(client('GET', '/v1/webhooks'))).toEqual([403, 'ip_not_allowed']);
    await set(admin, live, []);
    expect(await status(client)).toBe(200);
  });
});

describe('the log', () => {
  it('contains no key, hash or header', async () => {
    const { admin, key, adminKey } = await service.project();
    const live = await key('live');
    await admin('GET', `/v1/keys/${live}`);
    await admin('POST', `/v1/keys/${live}/rotate`, { body: { unexpected: live } });
    await service.as(`${live.slice(0, -1)}!`)('GET', '/v1/webhooks');
    const log = service.log.join('');
    expect(log).toContain('request.rejected');
    for (const secret of [live, adminKey]) {
      expect(log).not.toContain(secret);
      expect(log).not.toContain(secret.slice(21, 53));
    }
    expect(log).not.toMatch(/Bearer|tokenSecret|"hash"/);
  });
});
