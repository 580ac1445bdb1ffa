import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextEvent, type Published } from '../../../../lib/client/engine/changes.ts';
import type { Fields } from '../../../../lib/client/engine/json-values.ts';
import type { NewEvent } from '../../../../lib/client/publisher-types.ts';
import { applyChange, fieldsOf, type Replica } from '../../../../lib/client/replica.ts';

const NOTHING: Published = { revision: 0, fields: null };
const KEY = 'org:a';

/** Returns every event on the way to some fields, and the document after them. */
function path(from: Published, to: Fields | null) {
  const events: NewEvent[] = [];
  let published = from;
  for (let next = nextEvent(KEY, from, to, 'engine'); next; next = nextEvent(KEY, published, to, 'engine')) {
    events.push(next.event);
    published = next.published;
  }
  return { events, published };
}
const large = (letter: string, kilobytes = 200) => letter.repeat(kilobytes * 1024);
const changesIn = (events: NewEvent[]) =>
  events.flatMap(({ data }) => (data as { changes?: { field: string; omitted?: string[] }[] }).changes ?? []);

describe('the next event of a document', () => {
  it('creates, changes and deletes it, with one revision more each time', () => {
    const created = path(NOTHING, { a: 1, b: null });
    expect(created.events).toEqual([
      {
        type: 'document.created',
        data: { document_key: KEY, revision: 1, fields: { a: 1, b: null }, origin: 'engine' },
      },
    ]);
    const changed = path(created.published, { a: 2, constructor: 'c' } as Fields);
    expect(changed.events).toEqual([
      {
        type: 'document.changed',
        data: {
          document_key: KEY,
          revision: 2,
          changes: [
            { field: 'a', old_value: 1, new_value: 2, origin: 'engine' },
            { field: 'b', old_value: null, new_value: null, origin: 'engine' },
            { field: 'constructor', old_value: null, new_value: 'c', origin: 'engine' },
          ],
        },
      },
    ]);
    const deleted = path(changed.published, null);
    expect(deleted.events).toEqual([
      { type: 'document.deleted', data: { document_key: KEY, revision: 3, origin: 'engine' } },
    ]);
    expect(path(deleted.published, { a: 1 }).events).toMatchObject([
      { type: 'document.created', data: { revision: 4 } },
    ]);
  });

  it('does not exist without a change', () => {
    const { published } = path(NOTHING, { map: { x: 1, y: [{ p: 1, q: 2 }] }, n: 1 });
    expect(path(published, { n: 1, map: { y: [{ q: 2, p: 1 }], x: 1 } }).events).toEqual([]);
    expect(path(NOTHING, null).events).toEqual([]);
    expect(path(NOTHING, {}).events).toEqual([]);
  });

  it('contains as many fields as fit, so that each large field has its own event', () => {
    const fields = { a: large('a'), title: 'T', b: large('b'), c: large('c') };
    const { events, published } = path(NOTHING, fields);
    expect(events.map(({ type }) => type)).toEqual(['document.created', 'document.changed', 'document.changed']);
    expect(events[0]?.data).toMatchObject({ fields: { title: 'T' } });
    expect(published.fields).toEqual(fields);
    const next = path(published, { ...fields, a: large('x', 40), b: large('y', 40), title: 'U' });
    expect(next.events.length).toBeLessThan(4);
    expect(changesIn(next.events).filter(({ omitted }) => omitted)).toEqual([]);
  });

  it('leaves out values that fit into no event, names them, and delays no later change', () => {
    const { published } = path(NOTHING, { text: large('a'), title: 'T' });
    const replaced = path(published, { text: large('b'), title: 'U' });
    expect(changesIn(replaced.events)).toMatchObject([
      { field: 'text', old_value: null, new_value: large('b'), omitted: ['old_value'] },
      { field: 'title', old_value: 'T', new_value: 'U' },
    ]);
    const grown = path(replaced.published, { text: large('c', 300), title: 'V' });
    expect(changesIn(grown.events)).toMatchObject([
      { field: 'text', old_value: null, new_value: null, omitted: ['old_value', 'new_value'] },
      { field: 'title', old_value: 'U', new_value: 'V' },
    ]);
    expect(path(grown.published, { text: large('c', 300), title: 'V' }).events).toEqual([]);
    expect(changesIn(path(NOTHING, { text: large('c', 300) }).events)).toMatchObject([{ omitted: ['new_value'] }]);
    expect(changesIn(path(grown.published, { title: 'V' }).events)).toMatchObject([
      { field: 'text', new_value: null, omitted: ['old_value'] },
    ]);
  });

  it('leads to the fields in events of at most 256 KiB, whatever they contain', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.integer({ min: 1, max: 400 }).map((size) => 'é'.repeat(size * 512)),
    );
    const fields = fc.dictionary(fc.string({ maxLength: 5 }), value, { maxKeys: 6 }) as fc.Arbitrary<Fields>;
    fc.assert(
      fc.property(fc.array(fc.option(fields), { maxLength: 4 }), (versions) => {
        let published = NOTHING;
        let replica: Replica | undefined;
        const hidden = new Set<string>();
        for (const version of versions) {
          const { events, published: after } = path(published, version);
          for (const [place, event] of events.entries()) {
            expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(256 * 1024 - 512);
            expect(event.data).toMatchObject({ revision: published.revision + place + 1 });
            replica = applyChange(replica, event);
          }
          published = after;
          for (const { field, omitted = [] } of changesIn(events)) if (omitted.includes('new_value')) hidden.add(field);
          const known = (all: object | null) =>
            Object.fromEntries(Object.entries(all ?? {}).filter(([name, json]) => json !== null && !hidden.has(name)));
          expect(known(fieldsOf(replica))).toEqual(known(version));
        }
      }),
      { numRuns: 60 },
    );
  });
});
