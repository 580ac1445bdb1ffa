import { describe, expect, it } from 'vitest';
import { events } from '../../lib/aws/dynamodb/events.ts';
import { itemKey } from '../../lib/aws/dynamodb/items.ts';
import { EVENT_RETENTION_MS } from '../../lib/events/events.ts';
import type { Events } from '../../lib/handlers/events.ts';
import { newId, newStoredEvent, now, recordOf } from './builders.ts';
import { companion, stores } from './stores.ts';

describe.each(stores)('events in $name', ({ table, lossy }) => {
  const { publish, get } = events(table) satisfies Events;
  const stored = async (id: string) => recordOf(await get(id));

  it('are stored as they are, with what is also written, until they are old', async () => {
    const event = newStoredEvent({ webhookId: 'whk_1' });
    const { also, isWritten } = companion(table);
    await publish([event], also);
    expect(await stored(event.id)).toEqual(event);
    expect(await isWritten()).toBe(true);
    expect((await table.get(itemKey.event(event.id)))?.expires).toBe(Math.ceil((now + EVENT_RETENTION_MS) / 1000));
  });

  it('keep their body, whatever is in it', async () => {
    const body = JSON.stringify({ text: '\u0000 "漢" \ud83d\ude00 1e400', big: '12345678901234567890' });
    const event = newStoredEvent({ body });
    await publish([event], []);
    expect((await get(event.id))?.body).toBe(body);
  });

  it('are not there before', async () => {
    expect(await get(newId('evt'))).toBeUndefined();
  });

  it('are published 100 at once', async () => {
    const published = Array.from({ length: 100 }, () => newStoredEvent());
    await publish(published, []);
    expect(await Promise.all(published.map(({ id }) => stored(id)))).toEqual(published);
  });

  it('are published all or none', async () => {
    const [taken, ...others] = [newStoredEvent(), newStoredEvent(), newStoredEvent()];
    await publish([taken], []);
    const other = { ...taken, body: 'another' };
    await expect(publish([other, ...others], [])).rejects.toThrow('taken');
    await expect(publish([...others, other], [])).rejects.toThrow('taken');
    expect(await stored(taken.id)).toEqual(taken);
    expect(await Promise.all(others.map(({ id }) => get(id)))).toEqual([undefined, undefined]);
  });

  it('are not published if what is also written is refused', async () => {
    const event = newStoredEvent();
    await expect(publish([event], companion(table, { isRefused: true }).also)).rejects.toThrow();
    expect(await get(event.id)).toBeUndefined();
  });

  it('that an earlier run of the request published stay', async () => {
    const published = [newStoredEvent(), newStoredEvent()];
    await publish(published, []);
    await publish(
      published.map((event) => ({ ...event, at: event.at + 1 })),
      [],
    );
    expect(await Promise.all(published.map(({ id }) => stored(id)))).toEqual(published);
  });

  it('are published also if the response was lost', async () => {
    const [one, two] = [newStoredEvent(), newStoredEvent()];
    const { also, isWritten } = companion(table);
    await events(lossy).publish([one], []);
    await events(lossy).publish([two], also);
    expect([await stored(one.id), await stored(two.id)]).toEqual([one, two]);
    expect(await isWritten()).toBe(true);
  });
});
