import { describe, expect, it } from 'vitest';
import { type Client, useService } from '../../support/service.ts';

const service = useService();
const status = async (client: Client) => (await client('GET', '/v1/webhooks')).status;
const code = async (answer: Promise<{ status: number; body: { code?: string } }>) => {
  const { status, body } = await answer;
  return [status, body.code];
};

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
