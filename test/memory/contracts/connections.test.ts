import { describe, expect, it } from 'vitest';
import { connections } from '../../../lib/documents/connection-store.ts';
import type { ConnectionRecord } from '../../../lib/documents/connections.ts';
import { newConnection, now, recordOf } from './builders.ts';
import { newStore } from './stores.ts';

describe('connections', () => {
  const { get, put, remove } = connections(newStore().table);
  const stored = async (record: ConnectionRecord) => recordOf(await get(record, record.id));
  async function open(overrides: Partial<ConnectionRecord> = {}): Promise<ConnectionRecord> {
    const record = newConnection(overrides);
    await put(undefined, record, []);
    return record;
  }

  it('are not moved to an id that is taken', async () => {
    const before = await open({ id: 'read#connection' });
    const taken = await open({ ...before, id: 'connection', nodeId: 'other' });
    expect(await put(before, { ...before, id: taken.id }, [])).toBe(false);
    for (const record of [before, taken]) expect(await stored(record)).toEqual(record);
  });

  it.each<[string, (record: ConnectionRecord) => Promise<boolean>]>([
    ['opened', (record) => put(undefined, { ...record, nodeId: 'other' }, [])],
    ['renewed', (record) => put({ ...record, connectedAt: now - 1 }, { ...record, nodeId: 'other' }, [])],
    ['closed', (record) => remove({ ...record, connectedAt: now - 1 }, [])],
  ])('are not %s after another request opened them until the same time', async (_, act) => {
    const record = await open();
    expect(await act(record)).toBe(false);
    expect(await stored(record)).toEqual(record);
  });

  it('are renewed and closed although their next check was postponed concurrently', async () => {
    const before = await open();
    await put(before, { ...before, checkAt: before.checkAt + 1 }, []);
    expect(await put(before, before, [])).toBe(true);
    await put(before, { ...before, checkAt: before.checkAt + 1 }, []);
    expect([await remove(before, []), await stored(before)]).toEqual([true, undefined]);
  });
});
