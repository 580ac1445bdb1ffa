import { randomBytes as random } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import type { AuditRecord } from '../../../lib/projects/audit.ts';
import { auditEntry, auditLog } from '../../../lib/projects/audit-store.ts';
import { HOUR_MS, newId, newSpace, now, recordOf, walk } from './builders.ts';
import { newStore } from './stores.ts';

const ANY = { since: 0, actor: undefined, target: undefined };

const { table, short } = newStore();

describe('the audit log', () => {
  const log = auditLog(table);
  const { projectId } = newSpace();
  const entryOf = (i: number): AuditRecord => ({
    id: newId('aud', now + i * HOUR_MS),
    projectId,
    at: now + i * HOUR_MS,
    actor: i % 2 === 0 ? 'key_even' : 'key_odd',
    address: '192.0.2.1',
    action: 'key.changed',
    target: i % 3 === 0 ? 'key_third' : 'key_other',
    detail: { name: String(i) },
  });
  const entries = Array.from({ length: 9 }, (_, i) => entryOf(i));
  const newestFirst = [...entries].reverse();
  const store = Promise.all(entries.map((entry) => table.write([auditEntry(entry, random)])));
  const found = async (filter: object, from = table) => {
    await store;
    return walk(async (after) => {
      const page = await auditLog(from).list(projectId, { ...ANY, ...filter }, 2, after);
      return { entries: page.entries.map((entry) => recordOf(entry)), next: page.next };
    });
  };

  it.each([
    ['in one read', table],
    ['cut short', short],
  ])('has every entry once, newest first, in pages %s', async (_, from) => {
    const { entries: all, pages } = await found({}, from);
    expect(all).toEqual(newestFirst);
    expect(Math.max(...pages.map(({ length }) => length))).toBe(2);
  });

  it.each<[string, object, (entry: AuditRecord) => boolean]>([
    ['since a time', { since: now + 4 * HOUR_MS }, ({ at }) => at >= now + 4 * HOUR_MS],
    ['by actor', { actor: 'key_odd' }, ({ actor }) => actor === 'key_odd'],
    ['about a target', { target: 'key_third' }, ({ target }) => target === 'key_third'],
    [
      'by actor, target and time',
      { actor: 'key_even', target: 'key_third', since: now + HOUR_MS },
      ({ actor, target, at }) => actor === 'key_even' && target === 'key_third' && at > now,
    ],
    ['without a match', { actor: 'key_none' }, () => false],
  ])('lists the entries %s', async (_, filter, isWanted) => {
    expect((await found(filter)).entries).toEqual(newestFirst.filter(isWanted));
    expect((await found(filter, short)).entries).toEqual(newestFirst.filter(isWanted));
  });

  it('keeps an entry for 400 days', async () => {
    await store;
    const [first] = entries;
    const item = await table.get(itemKey.audit(projectId, first?.id ?? ''));
    expect(item?.expires).toBe((now + 400 * 24 * HOUR_MS) / 1000);
  });

  it('never replaces an entry', async () => {
    const other = newSpace().projectId;
    const entry = { ...entryOf(1), projectId: other };
    expect(await table.write([auditEntry(entry, random)])).toEqual([]);
    expect(await table.write([auditEntry({ ...entry, detail: {} }, random)])).toHaveLength(1);
    expect((await log.list(other, ANY, 10)).entries.map(recordOf)).toEqual([entry]);
  });
});
