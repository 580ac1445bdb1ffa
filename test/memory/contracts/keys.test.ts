import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import type { KeyRecord } from '../../../lib/keys/key.ts';
import { apiKeys, keysWithProject } from '../../../lib/keys/store.ts';
import { projects } from '../../../lib/projects/store.ts';
import { HOUR_MS, newKey, newProject, newSpace, now, recordOf, walk } from './builders.ts';
import { companion, newStore } from './stores.ts';

const { table, short } = newStore();

describe('keys', () => {
  const keys = apiKeys(table);
  const stored = async (id: string) => recordOf(await keys.get(id));
  async function create(overrides: Partial<KeyRecord> = {}): Promise<KeyRecord> {
    const record = newKey(overrides);
    await keys.create(record, []);
    return record;
  }
  async function collect(admins: AsyncGenerator<KeyRecord>): Promise<string[]> {
    const ids: string[] = [];
    for await (const { id } of admins) ids.push(id);
    return ids;
  }

  it('are not created with an existing id, and nothing changes', async () => {
    const record = await create();
    const { also, isWritten } = companion(table);
    await expect(keys.create({ ...record, name: 'Other' }, also)).rejects.toThrow('taken');
    expect(await stored(record.id)).toEqual(record);
    expect(await isWritten()).toBe(false);
  });

  it.each([
    ['of one read', table, [3, 3, 1]],
    ['cut short', short, [2, 2, 2, 1]],
  ])('of a project are listed once, newest first, in pages %s', async (_, from, lengths) => {
    const { projectId } = newSpace();
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) ids.unshift((await create({ projectId, createdAt: now + i })).id);
    await create(); // of another project
    const { entries, pages } = await walk(async (after) => {
      const page = await apiKeys(from).list(projectId, 3, after);
      return { entries: page.keys.map(({ id }) => id), next: page.next };
    });
    expect(entries).toEqual(ids);
    expect(pages.map(({ length }) => length)).toEqual(lengths);
  });

  it.each([
    ['one query', table],
    ['many queries', short],
  ])('of admins are exactly those of the project, newest first, in %s', async (_, from) => {
    const { projectId } = newSpace();
    await create();
    const types = ['admin', 'live', 'test', 'read', 'live', 'admin', 'live', 'admin', 'read'] as const;
    const created = [];
    for (const [i, type] of types.entries()) created.unshift(await create({ projectId, type, createdAt: now + i }));
    const admins = created.filter(({ type }) => type === 'admin').map(({ id }) => id);
    expect(await collect(apiKeys(from).adminKeys(projectId))).toEqual(admins);
  });

  it.each<[string, (id: string) => Promise<boolean>]>([
    ['its allowlist has changed', (id) => keys.setCidrs(id, ['192.0.2.1/32'], [])],
    ['it was revoked', (id) => keys.revoke(id, now, [])],
  ])('are not rotated if %s since they were read', async (_, change) => {
    const old = await create();
    await change(old.id);
    const fresh = newKey();
    expect(await keys.rotate(old, fresh, now + HOUR_MS, [])).toBe(false);
    expect([(await stored(old.id))?.replacedBy, await keys.get(fresh.id)]).toEqual([undefined, undefined]);
  });

  it('stores no use if another one was stored since the key was read', async () => {
    const record = await create();
    const use = { lastUsedAt: now + HOUR_MS, activeHours: [1] };
    await keys.recordUse(record, use);
    await keys.recordUse(record, { lastUsedAt: now, activeHours: [7] });
    expect(await stored(record.id)).toEqual({ ...record, ...use });
  });

  it('are not created by a change when they are missing', async () => {
    const missing = newKey();
    expect(await keys.revoke(missing.id, now, [])).toBe(false);
    expect(await keys.setCidrs(missing.id, [], [])).toBe(false);
    expect(await keys.rename(missing.id, 'New', [])).toBe(false);
    expect(await keys.setRevokedTokens(missing, ['tok_1'], [])).toBe(false);
    await keys.recordUse(missing, { lastUsedAt: now, activeHours: [1] });
    expect(await keys.get(missing.id)).toBeUndefined();
  });

  it('are read with their project, unless they are unknown or deleted', async () => {
    const [project, read] = [newProject(), keysWithProject(table)];
    const { id } = await create({ projectId: project.id });
    await projects(table).create(project, newKey());
    expect(await read(newKey().id)).toBeUndefined();
    expect(recordOf((await read(id))?.project)).toEqual(project);
    await table.removeAll([itemKey.project(project.id)]);
    expect(await read(id)).toMatchObject({ id, project: undefined });
    await table.removeAll([itemKey.key(id)]);
    expect(await read(id)).toBeUndefined();
  });
});
