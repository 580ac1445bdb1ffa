import { randomBytes as random } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { auditEntry } from '../../../lib/projects/audit-store.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();

interface Entry {
  at: string;
  actor: string | null;
  address: string | null;
  action: string;
  target: string;
  detail: object;
}
const entries = async (admin: Client, query = ''): Promise<Entry[]> =>
  (await admin('GET', `/v1/audit${query}`)).body.data;
const actions = async (admin: Client, query = '') => (await entries(admin, query)).map(({ action }) => action);
const idOf = (key: string): string => `key_${key.split('_')[2]?.slice(0, 12)}`;

describe('the audit log', () => {
  it('lists changes of keys, allowlists and tokens, with actor and address', async () => {
    const { id, admin, adminKey } = await service.project();
    const from = '127.0.0.7';
    const post = async (path: string, body?: object) => (await admin('POST', path, { body, from })).body;
    const key = await post('/v1/keys', { type: 'live', name: 'App' });
    await admin('PATCH', `/v1/keys/${key.key}`, { body: { name: 'Web' }, from });
    await post(`/v1/keys/${key.id}/allowlist`, { cidrs: ['127.0.0.1'] });
    const token = (
      await service.as(key.key)('POST', '/v1/tokens', { body: { documents: ['*'], permissions: ['read'], ttl: 60 } })
    ).body;
    await service.as(key.key)('POST', `/v1/tokens/${token.token_id}/revoke`);
    const fresh = await post(`/v1/keys/${key.id}/rotate`, { grace_seconds: 60 });
    await post(`/v1/keys/${fresh.id}/revoke`);
    await post(`/v1/keys/${fresh.id}/revoke`);

    const own = { actor: idOf(adminKey), address: from };
    const found = await entries(admin);
    expect(found.reverse()).toMatchObject([
      { action: 'project.created', target: id, actor: null, address: null, detail: { name: 'Test' } },
      { action: 'key.created', target: key.id, ...own, detail: { type: 'live', name: 'App', expires_at: null } },
      { action: 'key.changed', target: key.id, ...own, detail: { name: 'Web' } },
      { action: 'key.allowlist_set', target: key.id, ...own, detail: { cidrs: ['127.0.0.1/32'] } },
      {
        action: 'token.revoked',
        target: token.token_id,
        actor: key.id,
        address: '127.0.0.1',
        detail: { key: key.id },
      },
      { action: 'key.rotated', target: key.id, ...own, detail: { replaced_by: fresh.id } },
      { action: 'key.revoked', target: fresh.id, ...own, detail: {} },
    ]);
    for (const secret of [key.key, fresh.key, token.token, adminKey])
      expect(JSON.stringify(found)).not.toContain(secret);
  });

  it('lists changes of webhooks without URLs and secrets, and no failed changes', async () => {
    const { admin, ...project } = await service.project();
    const live = await project.client('live');
    const url = 'https://example.com/hook?token=hidden';
    const { id, secret } = (await live('POST', '/v1/webhooks', { body: { url, events: ['document.changed'] } })).body;
    await live('PATCH', `/v1/webhooks/${id}`, { body: { url: `${url}2`, status: 'disabled' } });
    const changed = (await live('GET', `/v1/webhooks/${id}`)).body;
    await service.clock.advance(1000);
    for (const body of [{}, { url: `${url}2`, documents: [], headers: {}, description: null, status: 'disabled' }])
      expect((await live('PATCH', `/v1/webhooks/${id}`, { body })).body).toEqual(changed);
    const rotated = (await live('POST', `/v1/webhooks/${id}/rotate-secret`)).body;
    await live('DELETE', `/v1/webhooks/${id}`);
    for (const [method, path] of [
      ['DELETE', `/v1/webhooks/${id}`],
      ['PATCH', `/v1/webhooks/${id}`],
      ['POST', '/v1/webhooks'],
    ] as const)
      expect(
        (await live(method, path, method === 'DELETE' ? {} : { body: { status: 'gone' } })).status,
      ).toBeGreaterThan(399);
    const found = await entries(admin, `?target=${id}`);
    expect(found.map(({ action, detail }) => [action, detail])).toEqual([
      ['webhook.deleted', { environment: 'live' }],
      ['webhook.secret_rotated', { environment: 'live' }],
      ['webhook.changed', { environment: 'live', changed: ['url', 'status'], status: 'disabled' }],
      ['webhook.created', { environment: 'live', events: ['document.changed'] }],
    ]);
    for (const hidden of [secret, rotated.secret, 'hidden']) expect(JSON.stringify(found)).not.toContain(hidden);
  });

  it('is filtered by actor, target and time, in pages, for one project', async () => {
    const { admin, adminKey, key } = await service.project();
    const second = await key('admin');
    const other = service.as(second);
    await service.clock.advance(60_000);
    const since = new Date(service.clock.now()).toISOString();
    const { id } = (await other('POST', '/v1/keys', { body: { type: 'test' } })).body;
    await admin('POST', `/v1/keys/${id}/revoke`);
    expect(await actions(admin, `?actor=${idOf(second)}`)).toEqual(['key.created']);
    expect(await actions(admin, `?target=${id}`)).toEqual(['key.revoked', 'key.created']);
    expect(await actions(admin, `?target=${id}&actor=${idOf(adminKey)}`)).toEqual(['key.revoked']);
    expect(await actions(admin, `?since=${since}`)).toEqual(['key.revoked', 'key.created']);
    const first = (await admin('GET', '/v1/audit?limit=3')).body;
    const rest = (await admin('GET', `/v1/audit?limit=3&cursor=${first.next_cursor}`)).body;
    expect([...first.data, ...rest.data].map(({ action }: Entry) => action)).toEqual([
      'key.revoked',
      'key.created',
      'key.created',
      'project.created',
    ]);
    expect(await actions((await service.project()).admin)).toEqual(['project.created']);
  });

  it('lists actions of earlier releases', async () => {
    const { id, admin } = await service.project();
    const change = { projectId: id, at: service.clock.now(), action: 'key.leaked', target: 'key_1' } as const;
    await service.table.write([auditEntry(change, random)]);
    expect(await actions(admin)).toContain('key.leaked');
  });

  it('is readable with admin keys, and keeps entries for 400 days', async () => {
    const project = await service.project();
    const live = await project.client('live');
    expect((await live('GET', '/v1/audit')).status).toBe(403);
    await service.clock.advance(399 * 24 * 3_600_000);
    expect(await actions(project.admin)).toContain('project.created');
    await service.clock.advance(2 * 24 * 3_600_000);
    expect(await actions(project.admin)).toEqual([]);
  });
});
