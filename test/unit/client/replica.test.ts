import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyChange, type ChangeEvent, fieldsOf, type Replica } from '../../../lib/client/replica.ts';

type Fields = Record<string, unknown>;
const name = fc.constantFrom('a', 'b', '__proto__');
const value = fc.constantFrom(0, 'x', false, [null], { y: 1 });
/** The fields of a document after a write, or `null` after a deletion. */
const state = fc.option(
  fc.uniqueArray(fc.tuple(name, value), { selector: ([field]) => field }).map((fields) => Object.fromEntries(fields)),
);
const states = fc.array(state, { minLength: 1, maxLength: 5 });

/** Returns the events of a document that gets one state after another. The revision continues across deletions. */
function eventsOf(history: readonly (Fields | null)[]): ChangeEvent[] {
  const events: ChangeEvent[] = [];
  let before: Fields | null = null;
  for (const after of history) {
    const event = eventBetween(before, after, events.length + 1);
    if (event) events.push(event);
    before = after;
  }
  return events;
}

function eventBetween(before: Fields | null, after: Fields | null, revision: number): ChangeEvent | null {
  if (!before && !after) return null;
  if (!before) return { type: 'document.created', data: { revision, fields: after } };
  if (!after) return { type: 'document.deleted', data: { revision } };
  const valueIn = (fields: Fields, field: string) => (Object.hasOwn(fields, field) ? fields[field] : null);
  const changes = ['a', 'b', '__proto__']
    .map((field) => ({ field, old_value: valueIn(before, field), new_value: valueIn(after, field) }))
    .filter(({ old_value, new_value }) => JSON.stringify(old_value) !== JSON.stringify(new_value));
  return changes.length > 0 ? { type: 'document.changed', data: { revision, changes } } : null;
}

const replicaOf = (events: readonly ChangeEvent[]): Replica | undefined =>
  events.reduce<Replica | undefined>(applyChange, undefined);

/** Returns every order of the entries. */
const permutations = <Entry>(entries: readonly Entry[]): Entry[][] =>
  entries.length === 0
    ? [[]]
    : entries.flatMap((entry, i) => permutations(entries.toSpliced(i, 1)).map((rest) => [entry, ...rest]));

describe('a replica', () => {
  it('equals its document after the events in every order', () => {
    const property = fc.property(states, (history) => {
      for (const events of permutations(eventsOf(history))) expect(fieldsOf(replicaOf(events))).toEqual(history.at(-1));
    });
    fc.assert(property);
  });

  it('equals its document after events that arrive several times', () => {
    const twice = states.chain((history) => {
      const events = eventsOf(history);
      const repeated = fc.shuffledSubarray([...events, ...events, ...events], { minLength: 2 * events.length });
      return fc.tuple(
        fc.constant(history),
        repeated.map((some) => [...some, ...events]),
      );
    });
    const property = fc.property(twice, ([history, events]) => {
      expect(fieldsOf(replicaOf(events))).toEqual(history.at(-1));
    });
    fc.assert(property);
  });

  it('does not change with an event that it contains, and is plain JSON', () => {
    const property = fc.property(states, (history) => {
      const events = eventsOf(history);
      const replica = replicaOf(events);
      const stored = replica && JSON.parse(JSON.stringify(replica));
      for (const event of events) expect(applyChange(stored, event)).toEqual(replica);
    });
    fc.assert(property);
  });

  it('contains only the fields of a creation after older fields, as for a document that was read', () => {
    const events = [
      { type: 'document.changed', data: { revision: 3, changes: [{ field: 'a', new_value: 1 }] } },
      { type: 'document.created', data: { revision: 7, fields: { b: 2 } } },
      { type: 'document.changed', data: { revision: 8, changes: [{ field: 'c', new_value: 3 }] } },
    ];
    for (const order of permutations(events)) expect(fieldsOf(replicaOf(order))).toEqual({ b: 2, c: 3 });
  });

  it('changes neither of its arguments', () => {
    const created = { type: 'document.created', data: { revision: 1, fields: { a: 1 } } };
    const deleted = { type: 'document.deleted', data: { revision: 2 } };
    const before = applyChange(undefined, created);
    applyChange(before, deleted);
    expect(fieldsOf(before)).toEqual({ a: 1 });
    expect(created.data.fields).toEqual({ a: 1 });
  });

  it('ignores events that are no changes, and of repeated fields uses the last one', () => {
    const conflict = { type: 'sync.conflict', data: { revision: 9, conflicts: [] } };
    expect(fieldsOf(applyChange(undefined, conflict))).toBeNull();
    const changes = [
      { field: 'a', new_value: 1 },
      { field: 'a', new_value: 2 },
    ];
    const changed = applyChange(undefined, { type: 'document.changed', data: { revision: 1, changes } });
    expect(fieldsOf(changed)).toEqual({ a: 2 });
  });
});
