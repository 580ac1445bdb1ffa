import { describe, expect, it } from 'vitest';
import type { ConnectionRecord } from '../../../lib/documents/connections.ts';
import { connections } from '../../../lib/documents/store.ts';
import { newConnection, now, recordOf } from './builders.ts';
import { newStore } from './stores.ts';

const { table } = newStore();

describe('connections', () => {
  const store = connections(table);
  const stored = async (record: ConnectionRecord) => recordOf(await store.get(record, record.id));
  async function open(overrides: Partial<ConnectionRecord> = {}): Promise<ConnectionRecord> {
    const record = newConnection(overrides);
    await store.put(undefined, record, []);
    return record;
  }

  it('are not moved to an id that is taken', async () => {
    const [before, other] = [await open({ id: 'read#connection' }), newConnection()];
    await store.put(undefined, { ...before, id: other.id, nodeId: 'other' }, []);
    expect(await store.put(before, { ...before, id: other.id }, [])).toBe(false);
    expect([await stored(before), (await stored({ ...before, id: other.id }))?.nodeId]).toEqual([before, 'other']);
  });

  it.each<[string, (record: ConnectionRecord) => Promise<boolean>]>([
    ['opened', (record) => store.put(undefined, { ...record, nodeId: 'other' }, [])],
    ['renewed', (record) => store.put({ ...record, connectedAt: now - 1 }, { ...record, nodeId: 'other' }, [])],
    ['closed', (record) => store.remove({ ...record, connectedAt: now - 1 }, [])],
  ])('are not %s after another request opened them until the same time', async (_, act) => {
    const record = await open();
    expect(await act(record)).toBe(false);
    expect(await stored(record)).toEqual(record);
  });
});
