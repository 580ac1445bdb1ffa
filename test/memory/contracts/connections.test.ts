import { expect, it } from 'vitest';
import { connections } from '../../../lib/documents/store.ts';
import { newConnection, recordOf } from './builders.ts';
import { newStore } from './stores.ts';

it('a connection is not moved to an id that is taken', async () => {
  const { get, put } = connections(newStore().table);
  const before = newConnection({ id: 'read#connection' });
  const taken = { ...before, id: 'connection', nodeId: 'other' };
  for (const record of [before, taken]) await put(undefined, record, []);
  expect(await put(before, { ...before, id: taken.id }, [])).toBe(false);
  for (const record of [before, taken]) expect(recordOf(await get(record, record.id))).toEqual(record);
});

it('a connection is renewed and closed although its next check was postponed concurrently', async () => {
  const { get, put, remove } = connections(newStore().table);
  const before = newConnection();
  await put(undefined, before, []);
  await put(before, { ...before, checkAt: before.checkAt + 1 }, []);
  expect(await put(before, before, [])).toBe(true);
  await put(before, { ...before, checkAt: before.checkAt + 1 }, []);
  expect([await remove(before, []), await get(before, before.id)]).toEqual([true, undefined]);
});
