import { randomBytes as random } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { auditEntry } from '../../../lib/audit/store.ts';
import { listed } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();

const actions = async (admin: Client, query = '') =>
  (await listed(admin, `/v1/audit${query}`)).map(({ action }) => action);
const idOf = (key: string): string => `key_${key.split('_')[2]?.slice(0, 12)}`;

describe('the audit log', () => {
  it('is filtered by actor, target and time, in pages', async () => {
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
    expect([...first.data, ...rest.data].map(({ action }: { action: string }) => action)).toEqual([
      'key.revoked',
      'key.created',
      'key.created',
      'project.created',
    ]);
  });

  it('lists actions of earlier releases', async () => {
    const { id, admin } = await service.project();
    const change = { projectId: id, at: service.clock.now(), action: 'key.leaked', target: 'key_1' } as const;
    await service.table.write([auditEntry(change, random)]);
    expect(await actions(admin)).toContain('key.leaked');
  });

  it('keeps entries for 400 days', async () => {
    const project = await service.project();
    await service.clock.advance(399 * 24 * 3_600_000);
    expect(await actions(project.admin)).toContain('project.created');
    await service.clock.advance(2 * 24 * 3_600_000);
    for (const query of ['', '?since=2020-01-01T00:00:00Z']) expect(await actions(project.admin, query)).toEqual([]);
  });
});
