import { describe, expect, it } from 'vitest';
import { put } from '../../../lib/aws/expressions.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import type { KeyRecord } from '../../../lib/keys/key.ts';
import { apiKeys, keysWithProject, putFirstKey } from '../../../lib/keys/store.ts';
import { MAX_USABLE_KEYS, type UsableKeys } from '../../../lib/keys/usable-keys.ts';
import { usableKeysOf } from '../../../lib/keys/usable-keys-store.ts';
import { projects } from '../../../lib/projects/store.ts';
import { DAY_MS, HOUR_MS, newKey, newProject, newSpace, now, recordOf, walk } from './builders.ts';
import { companion, newStore } from './stores.ts';

const { table, short, lossy } = newStore();
const keys = apiKeys(table);

/** A new project with these usable keys, and the id of the project. */
async function newOwner(usable: UsableKeys = {}): Promise<string> {
  const { projectId } = newSpace();
  await table.write([put({ ...itemKey.usableKeys(projectId), usable })]);
  return projectId;
}

async function create(overrides: Partial<KeyRecord> = {}): Promise<KeyRecord> {
  const record = newKey({ ...overrides, projectId: overrides.projectId ?? (await newOwner()) });
  await keys.create(record, now, []);
  return record;
}

describe('keys', () => {
  const stored = async (id: string) => recordOf(await keys.get(id));
  async function collect(admins: AsyncGenerator<KeyRecord>): Promise<string[]> {
    const ids: string[] = [];
    for await (const { id } of admins) ids.push(id);
    return ids;
  }

  it('are not created with an existing id, and nothing changes', async () => {
    const record = await create();
    const { also, isWritten } = companion(table);
    await expect(keys.create({ ...record, name: 'Other' }, now, also)).rejects.toThrow('taken');
    expect(await stored(record.id)).toEqual(record);
    expect(await isWritten()).toBe(false);
  });

  it.each([
    ['of one read', table, [3, 3, 1]],
    ['cut short', short, [2, 2, 2, 1]],
  ])('of a project are listed once, newest first, in pages %s', async (_, from, lengths) => {
    const projectId = await newOwner();
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

  it('of admins without an expiry are exactly the usable ones of the project, newest first, also among many', async () => {
    const projectId = await newOwner();
    await create();
    const types = ['admin', 'live', 'test', 'read', ...Array<'admin'>(120).fill('admin')] as const;
    const created: KeyRecord[] = [];
    for (const [i, type] of types.entries()) created.unshift(await create({ projectId, type, createdAt: now + i }));
    await create({ projectId, expiresAt: now + HOUR_MS });
    const revoked = created.find(({ type }) => type === 'admin') as KeyRecord;
    await keys.revoke(revoked, now, []);
    const admins = created.filter((key) => key.type === 'admin' && key !== revoked).map(({ id }) => id);
    expect(await collect(keys.adminKeys(projectId))).toEqual(admins);
  });

  it.each<[string, (key: KeyRecord) => Promise<boolean>]>([
    ['its allowlist has changed', (key) => keys.setCidrs(key, ['192.0.2.1/32'], [])],
    ['it was revoked', (key) => keys.revoke(key, now, [])],
  ])('are not rotated if %s since they were read', async (_, change) => {
    const old = await create();
    await change(old);
    const fresh = newKey();
    expect(await keys.rotate({ old, record: fresh, endsAt: now + HOUR_MS }, now, [])).toBe(false);
    expect([(await stored(old.id))?.replacedBy, await keys.get(fresh.id)]).toEqual([undefined, undefined]);
  });

  it('stores no use if another one was stored since the key was read', async () => {
    const record = await create();
    const use = { lastUsedAt: now + HOUR_MS, activeHours: [1] };
    await keys.recordUse(record, use);
    await keys.recordUse(record, { lastUsedAt: now, activeHours: [7] });
    expect(await stored(record.id)).toEqual({ ...record, ...use });
  });

  it('stores no rejection if another one was stored since the key was read', async () => {
    const record = await create();
    const first = { at: now, reasons: ['expired' as const] };
    const second = { at: now, reasons: ['expired' as const, 'revoked' as const] };
    await keys.recordRejection(record, first);
    await keys.recordRejection(record, { at: now, reasons: ['suspended'] });
    expect((await stored(record.id))?.lastRejected).toEqual(first);
    await keys.recordRejection({ ...record, lastRejected: first }, second);
    await keys.recordRejection({ ...record, lastRejected: first }, { at: now + HOUR_MS, reasons: ['revoked'] });
    expect(await stored(record.id)).toEqual({ ...record, lastRejected: second });
  });

  it('are not created by a change when they are missing', async () => {
    const missing = newKey();
    expect(await keys.revoke(missing, now, [])).toBe(false);
    expect(await keys.setCidrs(missing, [], [])).toBe(false);
    expect(await keys.rename(missing.id, 'New', [])).toBe(false);
    expect(await keys.setRevokedTokens(missing, ['tok_1'], [])).toBe(false);
    await keys.recordUse(missing, { lastUsedAt: now, activeHours: [1] });
    await keys.recordRejection(missing, { at: now, reasons: ['revoked'] });
    expect(await keys.get(missing.id)).toBeUndefined();
  });

  it('are read with their project, unless they are unknown or deleted', async () => {
    const [project, read] = [newProject(), keysWithProject(table)];
    const key = newKey({ projectId: project.id });
    const { id } = key;
    await projects(table).create(project, putFirstKey(key));
    expect(await read(newKey().id)).toBeUndefined();
    expect(recordOf((await read(id))?.project)).toEqual(project);
    await table.removeAll([itemKey.project(project.id)]);
    expect(await read(id)).toMatchObject({ id, project: undefined });
    await table.removeAll([itemKey.key(id)]);
    expect(await read(id)).toBeUndefined();
  });
});

describe('the usable keys of a project', () => {
  const ofLength = (length: number, key: UsableKeys[string] = 'live'): UsableKeys =>
    Object.fromEntries(Array.from({ length }, (_, i) => [`key_${String(i).padStart(12, '0')}`, key]));
  const add = (projectId: string, expiresAt?: number) => keys.create(newKey({ projectId, expiresAt }), now, []);
  const count = async (projectId: string) => Object.keys(await usableKeysOf(table, projectId)).length;

  it.each([
    ['no key has expired', ofLength(MAX_USABLE_KEYS - 2), 2],
    ['some have expired', { ...ofLength(MAX_USABLE_KEYS), ...ofLength(6, now + 1), ...ofLength(3, now) }, 3],
  ])('never exceed the maximum, however many are created at the same time, when %s', async (_, usable, places) => {
    const projectId = await newOwner(usable);
    const created = await Promise.all(Array.from({ length: places + 5 }, () => add(projectId)));
    expect(created.filter(Boolean)).toHaveLength(places);
    expect(await count(projectId)).toBe(MAX_USABLE_KEYS);
  });

  it('make room for a new key, however many have expired', async () => {
    const projectId = await newOwner(ofLength(MAX_USABLE_KEYS, now));
    expect(await add(projectId)).toBe(true);
    expect(await count(projectId)).toBe(MAX_USABLE_KEYS - 100 + 1); // as many as one write removes
  });

  it('change with their keys, and are not changed by a write that fails', async () => {
    const projectId = await newOwner();
    const usable = () => usableKeysOf(table, projectId);
    const [first, second] = [await create({ projectId }), await create({ projectId, expiresAt: now + DAY_MS })];
    expect(await usable()).toEqual({ [first.id]: 'admin', [second.id]: now + DAY_MS });
    const fresh = newKey({ projectId, type: 'live' });
    expect(await keys.rotate({ old: first, record: fresh, endsAt: now + HOUR_MS }, now, [])).toBe(true);
    expect(await keys.rotate({ old: first, record: newKey({ projectId }), endsAt: now }, now, [])).toBe(false);
    expect(await keys.revoke(second, now, [])).toBe(true);
    expect(await keys.revoke(second, now, [])).toBe(false);
    expect(await usable()).toEqual({ [first.id]: now + HOUR_MS, [fresh.id]: 'live' });
  });

  it('include the new key of a rotation, which takes the place of an old key that ends now', async () => {
    const projectId = await newOwner();
    const old = await create({ projectId, expiresAt: now + DAY_MS });
    await table.write([
      put({ ...itemKey.usableKeys(projectId), usable: { ...ofLength(999), [old.id]: now + DAY_MS } }),
    ]);
    const fresh = newKey({ projectId });
    expect(await keys.rotate({ old, record: fresh, endsAt: now + HOUR_MS }, now, [])).toBe('full');
    expect(await keys.get(fresh.id)).toBeUndefined();
    expect(await keys.rotate({ old, record: fresh, endsAt: now }, now, [])).toBe(true);
    expect([await count(projectId), (await usableKeysOf(table, projectId))[old.id]]).toEqual([1000, undefined]);
    // Another function has freed the place of the old key, and a new key has taken it.
    const late = await create({ projectId: await newOwner() });
    await table.write([put({ ...itemKey.usableKeys(late.projectId), usable: ofLength(1000) })]);
    expect(await keys.rotate({ old: late, record: newKey({ projectId: late.projectId }), endsAt: now }, now, [])).toBe(
      'full',
    );
  });

  it('count a key once when the response to its creation is lost', async () => {
    const projectId = await newOwner(ofLength(999));
    expect(await apiKeys(lossy).create(newKey({ projectId }), now, [])).toBe(true);
    expect(await count(projectId)).toBe(1000);
  });

  it('need one read to reject another key', async () => {
    const projectId = await newOwner(ofLength(1000));
    let reads = 0;
    const get: typeof table.get = (key) => {
      reads++;
      return table.get(key);
    };
    expect(await apiKeys({ ...table, get }).create(newKey({ projectId }), now, [])).toBe(false);
    expect(reads).toBe(1);
  });
});
