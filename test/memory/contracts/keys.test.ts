import { describe, expect, it } from 'vitest';
import type { KeyRecord } from '../../../lib/keys/key.ts';
import { apiKeys } from '../../../lib/keys/store.ts';
import { HOUR_MS, newKey, newSpace, now, recordOf, walk } from './builders.ts';
import { companion, newStore } from './stores.ts';

const LATER = now + HOUR_MS;

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

  describe('create', () => {
    it('throws and changes nothing for an existing id', async () => {
      const record = await create();
      const { also, isWritten } = companion(table);
      await expect(keys.create({ ...record, name: 'Other' }, also)).rejects.toThrow('taken');
      expect(await stored(record.id)).toEqual(record);
      expect(await isWritten()).toBe(false);
    });
  });

  describe('list', () => {
    const inOrder = async (count: number) => {
      const { projectId } = newSpace();
      const ids: string[] = [];
      for (let i = 0; i < count; i++) ids.unshift((await create({ projectId, createdAt: now + i })).id);
      return { projectId, ids };
    };

    it('lists keys in the order of creation, newest first, without keys of other projects', async () => {
      const { projectId, ids } = await inOrder(3);
      await create();
      const { keys: found } = await keys.list(projectId, 10);
      expect(found.map(({ id }) => id)).toEqual(ids);
      expect(recordOf(found[0])).toEqual(await stored(ids[0] ?? ''));
    });

    it.each([
      ['of one read', table],
      ['cut short', short],
    ])('lists every key once, in pages %s', async (_, from) => {
      const { projectId, ids } = await inOrder(7);
      const { entries, pages } = await walk(async (after) => {
        const page = await apiKeys(from).list(projectId, 3, after);
        return { entries: page.keys.map(({ id }) => id), next: page.next };
      });
      expect(entries).toEqual(ids);
      expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(3);
    });
  });

  describe('adminKeys', () => {
    it.each([
      ['one query', table],
      ['many queries', short],
    ])('are exactly the admin keys of the project, newest first, in %s', async (_, from) => {
      const { projectId } = newSpace();
      await create();
      const types = ['admin', 'live', 'test', 'read', 'live', 'admin', 'live', 'admin', 'read'] as const;
      const created = [];
      for (const [i, type] of types.entries()) created.unshift(await create({ projectId, type, createdAt: now + i }));
      const admins = created.filter(({ type }) => type === 'admin').map(({ id }) => id);
      expect(await collect(apiKeys(from).adminKeys(projectId))).toEqual(admins);
    });
  });

  describe('rotate', () => {
    it.each<[string, (old: KeyRecord) => Promise<unknown>]>([
      ['was rotated', (old) => keys.rotate(old, newKey({ projectId: old.projectId }), LATER, [])],
      ['was revoked', ({ id }) => keys.revoke(id, now, [])],
      ['has another allowlist', ({ id }) => keys.setCidrs(id, ['192.0.2.1/32'], [])],
    ])('is false and changes nothing if the key %s concurrently', async (_, happen) => {
      const old = await create();
      await happen(old);
      const before = await stored(old.id);
      const fresh = newKey();
      const { also, isWritten } = companion(table);
      expect(await keys.rotate(old, fresh, LATER + 1, also)).toBe(false);
      expect(await stored(old.id)).toEqual(before);
      expect(await keys.get(fresh.id)).toBeUndefined();
      expect(await isWritten()).toBe(false);
    });
  });

  describe('a key that a change relies on', () => {
    const cidrs = ['192.0.2.9/32'];

    it.each<[string, (other: KeyRecord) => Promise<unknown>]>([
      ['was revoked', ({ id }) => keys.revoke(id, now, [])],
      ['has an expiry', (other) => keys.rotate(other, newKey(), LATER, [])],
      ['has another allowlist', ({ id }) => keys.setCidrs(id, ['192.0.2.1/32'], [])],
    ])('prevents it if it %s concurrently', async (_, happen) => {
      const [record, other] = [await create(), await create()];
      await happen(other);
      expect(await keys.setCidrs(record.id, cidrs, [keys.stillLasting(other)])).toBe(false);
      expect(await stored(record.id)).toEqual(record);
    });

    it('prevents it if it is missing, and stays unchanged otherwise', async () => {
      const [record, other] = [await create(), await create({ cidrs: ['192.0.2.0/24', '198.51.100.1/32'] })];
      expect(await keys.setCidrs(record.id, cidrs, [keys.stillLasting(newKey())])).toBe(false);
      expect(await keys.setCidrs(record.id, cidrs, [keys.stillLasting(other)])).toBe(true);
      expect([await stored(record.id), await stored(other.id)]).toEqual([{ ...record, cidrs }, other]);
    });
  });

  describe('setRevokedTokens', () => {
    const [one, other] = ['tok_1', 'tok_2'] as const;

    it('is false and changes nothing if the tokens have changed', async () => {
      const record = await create();
      const { also, isWritten } = companion(table);
      await keys.setRevokedTokens(record, [one], []);
      expect(await keys.setRevokedTokens(record, [other], also)).toBe(false);
      expect((await stored(record.id))?.revokedTokens).toEqual([one]);
      expect(await isWritten()).toBe(false);
    });
  });

  describe('recordUse', () => {
    const use = (lastUsedAt: number, activeHours = [1]) => ({ lastUsedAt, activeHours });

    it('stores nothing if another use was stored concurrently', async () => {
      const record = await create();
      await keys.recordUse(record, use(LATER, [1]));
      await keys.recordUse(record, use(now, [7]));
      expect(await stored(record.id)).toEqual({ ...record, ...use(LATER, [1]) });
    });
  });

  it.each<[string, (missing: KeyRecord) => Promise<unknown>]>([
    ['rotate', (missing) => keys.rotate(missing, newKey(), LATER, [])],
    ['revoke', ({ id }) => keys.revoke(id, LATER, [])],
    ['setCidrs', ({ id }) => keys.setCidrs(id, [], [])],
    ['rename', ({ id }) => keys.rename(id, 'New', [])],
    ['setRevokedTokens', (missing) => keys.setRevokedTokens(missing, ['tok_1'], [])],
    ['recordUse', (missing) => keys.recordUse(missing, { lastUsedAt: now, activeHours: [1] })],
  ])('%s creates nothing when the key is missing', async (_, change) => {
    const missing = newKey();
    expect((await change(missing)) ?? false).toBe(false);
    expect(await keys.get(missing.id)).toBeUndefined();
  });
});
