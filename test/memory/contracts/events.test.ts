import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../../lib/events/event.ts';
import { eventStore } from '../../../lib/events/store.ts';
import { newStoredEvent, recordOf } from './builders.ts';
import { newStore } from './stores.ts';

const { table } = newStore();

describe('events', () => {
  const { publish, get } = eventStore(table);
  const stored = async (event: StoredEvent) => recordOf(await get(event, event.id));

  it('are published in one transaction', async () => {
    const [taken, ...others] = [newStoredEvent(), newStoredEvent(), newStoredEvent()];
    await publish([taken], []);
    const other = { ...taken, body: 'another' };
    await expect(publish([other, ...others], [])).rejects.toThrow('taken');
    await expect(publish([...others, other], [])).rejects.toThrow('taken');
    expect(await stored(taken)).toEqual(taken);
    expect(await Promise.all(others.map(stored))).toEqual([undefined, undefined]);
  });
});
