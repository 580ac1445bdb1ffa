import { describe, expect, it } from 'vitest';
import type { ConnectionRecord } from '../../../lib/documents/connections.ts';
import { connections } from '../../../lib/documents/store.ts';
import type { StoredEvent } from '../../../lib/events/event.ts';
import { eventStore } from '../../../lib/events/store.ts';
import { newConnection, newStoredEvent, now, recordOf } from './builders.ts';
import { newStore } from './stores.ts';

const renewed = (before: ConnectionRecord): ConnectionRecord => ({
  ...before,
  ...{ lastSeenAt: now + 1000, expiresAt: before.expiresAt + 1000, nodeId: 'renewed' },
});

const { table } = newStore();

describe('connections', () => {
  const store = connections(table);
  const stored = async (record: ConnectionRecord) => recordOf(await store.get(record, record.id));
  const isPublished = async (event: StoredEvent) => (await eventStore(table).get(event, event.id)) !== undefined;
  async function open(overrides: Partial<ConnectionRecord> = {}): Promise<ConnectionRecord> {
    const record = newConnection(overrides);
    await store.put(undefined, record, []);
    return record;
  }

  describe('put', () => {
    it('replaces the record that was read, with the event of the expired lease', async () => {
      const [before, event] = [await open(), newStoredEvent()];
      const after = renewed(before);
      expect(await store.put(before, after, [event])).toBe(true);
      expect(await stored(after)).toEqual(after);
      expect(await isPublished(event)).toBe(true);
    });

    it('moves the record that was read to another id, with its event', async () => {
      const [before, event] = [await open({ id: 'read#connection' }), newStoredEvent()];
      const after = { ...renewed(before), id: 'connection' };
      expect(await store.put(before, after, [event])).toBe(true);
      expect([await stored(before), await stored(after)]).toEqual([undefined, after]);
      expect(await isPublished(event)).toBe(true);
    });

    it('is false and moves nothing if the record has changed or the other id is taken', async () => {
      const before = await open({ id: 'read#connection' });
      const other = { ...before, id: 'connection' };
      expect(await store.put({ ...before, expiresAt: before.expiresAt - 1 }, other, [])).toBe(false);
      expect(await stored(other)).toBeUndefined();
      await store.put(undefined, { ...other, nodeId: 'other' }, []);
      expect(await store.put(before, other, [])).toBe(false);
      expect([await stored(before), (await stored(other))?.nodeId]).toEqual([before, 'other']);
    });

    it('is false and changes nothing if the id of the event is taken', async () => {
      const [before, event] = [await open(), newStoredEvent()];
      await eventStore(table).publish([event], []);
      expect(await store.put(before, renewed(before), [event])).toBe(false);
      expect(await stored(before)).toEqual(before);
    });

    it('is false and changes nothing if the connection was opened concurrently', async () => {
      const [record, event] = [await open(), newStoredEvent()];
      expect(await store.put(undefined, renewed(record), [event])).toBe(false);
      expect(await stored(record)).toEqual(record);
      expect(await isPublished(event)).toBe(false);
    });
  });

  describe('remove', () => {
    it('removes the record that was read, with its event', async () => {
      const [before, event] = [await open(), newStoredEvent()];
      expect(await store.remove(before, [event])).toBe(true);
      expect(await stored(before)).toBeUndefined();
      expect(await isPublished(event)).toBe(true);
    });

    it('is false and removes nothing if the id of the event is taken', async () => {
      const [before, event] = [await open(), newStoredEvent()];
      await eventStore(table).publish([event], []);
      expect(await store.remove(before, [event])).toBe(false);
      expect(await stored(before)).toEqual(before);
    });
  });

  describe.each<[string, (before: ConnectionRecord) => Promise<boolean>]>([
    ['put', (before) => store.put(before, renewed(before), [])],
    ['remove', (before) => store.remove(before, [])],
  ])('%s', (_, act) => {
    it.each<[string, (before: ConnectionRecord) => Promise<unknown>]>([
      ['renewed', (before) => store.put(before, { ...before, expiresAt: before.expiresAt + 1 }, [])],
      ['opened anew until the same time', (before) => store.put(before, { ...before, connectedAt: now + 1 }, [])],
      ['closed', (before) => store.remove(before, [])],
    ])('is false and changes nothing if it was %s concurrently', async (_, happen) => {
      const before = await open();
      await happen(before);
      const current = await stored(before);
      expect(await act(before)).toBe(false);
      expect(await stored(before)).toEqual(current);
    });

    it('succeeds even if the next check was postponed concurrently', async () => {
      const before = await open();
      await store.put(before, { ...before, checkAt: before.checkAt + 1 }, []);
      expect(await act(before)).toBe(true);
    });
  });
});
