import { describe, expect, it } from 'vitest';
import type { Table } from '../../../lib/aws/table.ts';
import { newEvents, type StoredEvent } from '../../../lib/events/event.ts';
import { eventStore } from '../../../lib/events/store.ts';
import { EVENT_TYPES, type EventType } from '../../../lib/events/types.ts';
import { bucketOf, derivedFrom } from '../../../lib/ids.ts';
import { newSpace, now } from './builders.ts';
import { newStore } from './stores.ts';

const { table, short } = newStore();
const space = newSpace();
const PREFIXES = ['org:acme', 'org:acm', 'org:other'];
const publications = Array.from({ length: 36 }, (_, n) => publicationOf(n));
const all = publications.flat();
for (const events of publications) await eventStore(table).publish(events, []);

/** One to 100 events of any types and documents. Several publications are in one millisecond. */
function publicationOf(n: number): StoredEvent[] {
  const pick = (what: string, choices: number) => bucketOf(`${n} ${what}`, choices);
  const events = Array.from({ length: pick('is a batch', 3) === 0 ? 100 : 1 + pick('count', 3) }, (_, i) => {
    const hasDocument = pick(`document ${i}`, 9) > 0;
    const document_key = `${PREFIXES[pick(`prefix ${i}`, 3)]}:doc-${pick(`document ${i}`, 9)}`;
    return {
      type: EVENT_TYPES[pick(`type ${i}`, 6)] as EventType,
      data: { ...(hasDocument && { document_key }) },
      ...(pick('is a test', 9) === 0 && { webhookId: 'whk_1' }),
    };
  });
  return newEvents({ ...space, at: now + Math.floor(n / 3) }, events, derivedFrom(`publication ${n}`));
}

const newestFirst = (events: readonly StoredEvent[]) =>
  events
    .filter(({ webhookId }) => webhookId === undefined)
    .map(({ id }) => id)
    .sort()
    .reverse();

async function pagesOf(of: Table, filter: object, limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const { events, next } = await eventStore(of).list(space, { ...filter, limit, after });
    pages.push(events.map(({ id }) => id));
    after = next;
  } while (after !== undefined);
  return pages;
}

const FILTERS: Record<string, [filter: object, isListed: (event: StoredEvent) => boolean]> = {
  'all events': [{}, () => true],
  'a type': [{ types: ['sync.conflict'] }, ({ type }) => type === 'sync.conflict'],
  'two types': [
    { types: ['sync.completed', 'document.deleted'] },
    ({ type }) => ['sync.completed', 'document.deleted'].includes(type),
  ],
  'a document': [{ documentKey: 'org:acme:doc-1' }, ({ documentKey }) => documentKey === 'org:acme:doc-1'],
  'a document and type': [
    { documentKey: 'org:acme:doc-2', types: ['document.changed'] },
    ({ documentKey, type }) => documentKey === 'org:acme:doc-2' && type === 'document.changed',
  ],
  'a prefix': [{ prefix: 'org:acme' }, ({ documentKey }) => documentKey?.startsWith('org:acme:') === true],
  'a whole key as prefix': [{ prefix: 'org:acm:doc-3' }, ({ documentKey }) => documentKey === 'org:acm:doc-3'],
  'a prefix and a type': [
    { prefix: 'org', types: ['connection.lost'] },
    ({ documentKey, type }) => documentKey !== undefined && type === 'connection.lost',
  ],
  'a prefix that no event has': [{ prefix: 'org:ac' }, () => false],
  'a document within a prefix': [
    { documentKey: 'org:acme:doc-1', prefix: 'org:acme' },
    ({ documentKey }) => documentKey === 'org:acme:doc-1',
  ],
  'a document outside a prefix': [{ documentKey: 'org:acme:doc-1', prefix: 'org:acm' }, () => false],
  'a time': [{ since: now + 3, until: now + 9 }, ({ at }) => at >= now + 3 && at < now + 9],
  'a document and time': [
    { documentKey: 'org:acme:doc-1', since: now + 3, until: now + 9 },
    ({ documentKey, at }) => documentKey === 'org:acme:doc-1' && at >= now + 3 && at < now + 9,
  ],
};

describe.each(Object.entries(FILTERS))('the list of %s', (_, [filter, isListed]) => {
  const expected = newestFirst(all.filter(isListed));

  it.each([3, 100])('contains each event once, newest first, in pages of %d', async (limit) => {
    const pages = await pagesOf(table, filter, limit);
    expect(pages.flat()).toEqual(expected);
    if (expected.length > 0) expect(pages[0]).toHaveLength(Math.min(limit, expected.length));
  });

  it('does so if each query reads few entries', async () => {
    expect((await pagesOf(short, filter, 50)).flat()).toEqual(expected);
  });
});

it('contains no test events and no events of other spaces', async () => {
  expect(newestFirst(all).length).toBeLessThan(all.length);
  const { events } = await eventStore(table).list({ ...space, environment: 'sandbox' }, { limit: 10 });
  expect(events).toEqual([]);
});
