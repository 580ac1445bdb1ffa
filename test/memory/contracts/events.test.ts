import { beforeAll, describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { EVENT_RETENTION_MS, type StoredEvent } from '../../../lib/events/event.ts';
import { eventStore } from '../../../lib/events/store.ts';
import { EVENT_TYPES } from '../../../lib/events/types.ts';
import { HOUR_MS, newSpace, newStoredEvent, now, recordOf, walk } from './builders.ts';
import { companion, newStore } from './stores.ts';

const { table, short } = newStore();

describe('events', () => {
  const { publish, get, list } = eventStore(table);
  const stored = async (event: StoredEvent) => recordOf(await get(event, event.id));

  it('are stored unchanged until they expire, together with other writes', async () => {
    const event = newStoredEvent({ webhookId: 'whk_1' });
    const { also, isWritten } = companion(table);
    await publish([event], also);
    expect(await stored(event)).toEqual(event);
    expect(await isWritten()).toBe(true);
    expect((await table.get(itemKey.event(event, event.id)))?.expires).toBe(
      Math.ceil((now + EVENT_RETENTION_MS) / 1000),
    );
  });

  it('keep any body', async () => {
    const body = JSON.stringify({ text: '\u0000 "漢" \ud83d\ude00 1e400', big: '12345678901234567890' });
    const event = newStoredEvent({ body });
    await publish([event], []);
    expect((await get(event, event.id))?.body).toBe(body);
  });

  it('are published in a batch of 100', async () => {
    const published = Array.from({ length: 100 }, () => newStoredEvent());
    await publish(published, []);
    expect(await Promise.all(published.map(stored))).toEqual(published);
  });

  it('are published in one transaction', async () => {
    const [taken, ...others] = [newStoredEvent(), newStoredEvent(), newStoredEvent()];
    await publish([taken], []);
    const other = { ...taken, body: 'another' };
    await expect(publish([other, ...others], [])).rejects.toThrow('taken');
    await expect(publish([...others, other], [])).rejects.toThrow('taken');
    expect(await stored(taken)).toEqual(taken);
    expect(await Promise.all(others.map(stored))).toEqual([undefined, undefined]);
  });

  it('are kept if an earlier run of the request published them', async () => {
    const published = [newStoredEvent(), newStoredEvent()];
    await publish(published, []);
    await publish(
      published.map((event) => ({ ...event, at: event.at + 1 })),
      [],
    );
    expect(await Promise.all(published.map(stored))).toEqual(published);
  });

  it('belong to one space', async () => {
    const event = newStoredEvent();
    await publish([event], []);
    expect(await get({ ...event, environment: 'sandbox' }, event.id)).toBeUndefined();
    expect(await get(newSpace(), event.id)).toBeUndefined();
  });

  describe('in a list', () => {
    const space = newSpace();
    const ofType = (i: number) => EVENT_TYPES[i % EVENT_TYPES.length];
    const published = Array.from({ length: 60 }, (_, i) =>
      newStoredEvent({ ...space, at: now - i * 1000, type: ofType(i), documentKey: `d${i % 5}` }),
    );
    const all = async (filter: object, from = list, limit = 7) => {
      const { entries, pages } = await walk(async (after) => {
        const { events: found, next } = await from(space, { limit, after, ...filter });
        return { entries: found.map(({ id }) => id), next };
      });
      expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(limit);
      return entries;
    };
    const idsOf = (isWanted: (event: StoredEvent) => boolean) => published.filter(isWanted).map(({ id }) => id);

    beforeAll(async () => {
      await publish(published, []);
      await publish([newStoredEvent({ ...space, webhookId: 'whk_1' }), newStoredEvent({ at: now - 5000 })], []);
      await publish([newStoredEvent({ ...space, environment: 'sandbox' })], []);
    });

    it('are all events of their space except tests, newest first, once and unchanged', async () => {
      expect(await all({})).toEqual(idsOf(() => true));
      const { events: whole } = await list(space, { limit: 100 });
      expect(whole.map(recordOf)).toEqual(published);
    });

    it('are also found by id, page by page', async () => {
      const onlyIds = async (_: object, page: { limit: number; after?: string | undefined }) => {
        const found = await eventStore(table).ids(space, { ...page, documentKey: 'd3' });
        return { events: found.ids.map((id) => ({ id })), next: found.next };
      };
      expect(await all({}, onlyIds as unknown as typeof list, 5)).toEqual(
        idsOf(({ documentKey }) => documentKey === 'd3'),
      );
    });

    it.each([
      [{ type: 'sync.conflict' }, ({ type }: StoredEvent) => type === 'sync.conflict'],
      [{ documentKey: 'd3' }, ({ documentKey }: StoredEvent) => documentKey === 'd3'],
      [
        { documentKey: 'd2', type: 'document.changed' },
        ({ documentKey, type }: StoredEvent) => documentKey === 'd2' && type === 'document.changed',
      ],
      [{ documentKey: 'none' }, () => false],
      [{ since: now - 9000 }, ({ at }: StoredEvent) => at >= now - 9000],
      [{ until: now - 9000 }, ({ at }: StoredEvent) => at < now - 9000],
      [{ since: now - 9000, until: now - 3000 }, ({ at }: StoredEvent) => at >= now - 9000 && at < now - 3000],
      [{ since: now, until: now - HOUR_MS }, () => false],
    ])('are filtered exactly by %j', async (filter, isWanted) => {
      expect(await all(filter)).toEqual(idsOf(isWanted));
    });

    it('are complete if each query reads little', async () => {
      const { list: little } = eventStore(short);
      expect(await all({}, little)).toEqual(idsOf(() => true));
      expect(await all({ documentKey: 'd1' }, little)).toEqual(idsOf(({ documentKey }) => documentKey === 'd1'));
    });
  });
});
