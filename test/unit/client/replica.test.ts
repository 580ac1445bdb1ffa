import { describe, expect, it } from 'vitest';
import { applyChange, type ChangeEvent, fieldsOf, type Replica } from '../../../lib/client/replica.ts';

const created = (revision: number, fields: object): ChangeEvent => ({
  type: 'document.created',
  data: { revision, fields },
});
const changed = (revision: number, ...changes: [field: string, new_value: unknown][]): ChangeEvent => ({
  type: 'document.changed',
  data: { revision, changes: changes.map(([field, new_value]) => ({ field, new_value })) },
});
const deleted = (revision: number): ChangeEvent => ({ type: 'document.deleted', data: { revision } });
const conflict = { type: 'sync.conflict', data: { revision: 9, conflicts: [] } };

/** Events of documents, each with the fields after it. `unit/site/docs/replica.test.ts` uses random events of the service. */
const HISTORIES: [name: string, [event: ChangeEvent, fields: string][]][] = [
  [
    'its first event',
    [
      [created(1, { a: 1, b: false }), '{"a":1,"b":false}'],
      [changed(2, ['a', null], ['__proto__', 2]), '{"__proto__":2,"b":false}'],
      [deleted(3), 'null'],
      [created(4, { b: 4 }), '{"b":4}'],
      [changed(5, ['c', 'replaced'], ['c', [null]], ['__proto__', 5]), '{"__proto__":5,"b":4,"c":[null]}'],
    ],
  ],
  [
    'a document that was read',
    [
      [changed(3, ['a', 1]), '{"a":1}'],
      [created(7, { b: 2 }), '{"b":2}'],
      [changed(8, ['c', 3]), '{"b":2,"c":3}'],
    ],
  ],
];

/** Returns every order of the entries. */
const permutations = <Entry>(entries: readonly Entry[]): Entry[][] =>
  entries.length === 0
    ? [[]]
    : entries.flatMap((entry, i) => permutations(entries.toSpliced(i, 1)).map((rest) => [entry, ...rest]));

const textOf = (replica: Replica) => {
  const fields = fieldsOf(replica);
  return JSON.stringify(fields && Object.fromEntries(Object.entries(fields).sort()));
};

describe('a replica', () => {
  it.each(HISTORIES)('equals its document after the events since %s in every order, with duplicates', (_, history) => {
    for (const [i, [, fields]] of history.entries()) {
      const events = history.slice(0, i + 1).map(([event]) => event);
      for (const order of permutations(events)) {
        const replica = order.reduce<Replica | undefined>(applyChange, undefined) as Replica;
        expect(textOf(replica), JSON.stringify(order)).toBe(fields);
        const stored = JSON.parse(JSON.stringify(replica));
        for (const event of [...events, conflict]) expect(applyChange(stored, event)).toEqual(replica);
        expect(stored, 'the arguments do not change').toEqual(replica);
      }
    }
  });

  it('does not exist before its first change', () => {
    expect(fieldsOf(applyChange(undefined, conflict))).toBeNull();
  });
});
