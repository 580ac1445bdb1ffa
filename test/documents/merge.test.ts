import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DocumentState, type Fields, ON_CONFLICT, sameJson } from '../../lib/documents/documents.ts';
import { merge, type Write } from '../../lib/documents/merge.ts';
import { type Json, parseJson } from '../../lib/json.ts';

const write = (overrides: Partial<Write>): Write => ({
  op: 'patch',
  documentKey: 'd',
  fields: {},
  baseRevision: undefined,
  onConflict: 'last_write_wins',
  origin: 'node-1',
  syncId: null,
  ...overrides,
});

/** Applies writes one after another, as the table does; returns all that happened. */
function history(writes: Write[]) {
  let state: DocumentState | undefined;
  const merges = writes.map((each, i) => {
    const before = state;
    const merged = merge(before, each, i);
    if (merged.outcome === 'changed') state = merged.state;
    return { write: each, before, merged };
  });
  return { state, merges, events: merges.flatMap(({ merged }) => (merged.outcome === 'changed' ? merged.events : [])) };
}

const field = fc.constantFrom('a', 'b', 'c', '__proto__', '');
const value: fc.Arbitrary<Json> = fc.constantFrom<Json>(null, 1, 2, 'x', { k: [1] }, parseJson('12345678901234567890'));
const fieldsOf = fc.array(fc.tuple(field, value), { maxLength: 4 }).map((all): Fields => Object.fromEntries(all));
const writes = fc.array(
  fc.record({
    op: fc.constantFrom('put' as const, 'patch' as const, 'delete' as const),
    fields: fieldsOf,
    back: fc.option(fc.nat(4), { nil: undefined }),
    onConflict: fc.constantFrom(...ON_CONFLICT),
    origin: fc.constantFrom('n1', 'n2'),
  }),
  { minLength: 1, maxLength: 12 },
);
/** Base revisions some steps behind, as nodes have them that sync now and then. */
const run = (planned: typeof writes extends fc.Arbitrary<infer T> ? T : never) => {
  const made: Write[] = [];
  for (const { back, ...each } of planned) {
    const revision = history(made).state?.revision ?? 0;
    made.push(
      write({
        ...each,
        fields: each.op === 'delete' ? {} : each.fields,
        baseRevision: back === undefined ? undefined : Math.max(0, revision - back),
      }),
    );
  }
  return history(made);
};

describe('the events of a document', () => {
  it('have revisions from 1 on without a gap, across deletion and re-creation', () => {
    fc.assert(
      fc.property(writes, (planned) => {
        const { events, state } = run(planned);
        const revisions = events
          .filter(({ type }) => type !== 'sync.conflict')
          .map(({ data }) => (data as { revision: number }).revision);
        expect(revisions).toEqual(revisions.map((_, i) => i + 1));
        expect(state?.revision ?? 0).toBe(revisions.length);
      }),
    );
  });

  it('give the document when they are folded, each old value being the new value before', () => {
    fc.assert(
      fc.property(writes, (planned) => {
        const { events, state } = run(planned);
        let folded = new Map<string, Json>();
        for (const { type, data } of events) {
          if (type === 'document.created') folded = new Map(Object.entries(data.fields as Fields));
          if (type === 'document.deleted') folded = new Map();
          if (type !== 'document.changed') continue;
          for (const change of data.changes as { field: string; old_value: Json; new_value: Json }[]) {
            expect(sameJson(change.old_value, folded.get(change.field))).toBe(true);
            expect(sameJson(change.old_value, change.new_value)).toBe(false);
            if (change.new_value === null) folded.delete(change.field);
            else folded.set(change.field, change.new_value);
          }
        }
        expect(sameJson(Object.fromEntries(folded), state?.fields ?? {})).toBe(true);
      }),
    );
  });

  it('name every concurrent value that was overwritten in one conflict, and no other', () => {
    fc.assert(
      fc.property(writes, (planned) => {
        for (const { write, before, merged } of run(planned).merges) {
          if (merged.outcome !== 'changed') continue;
          const conflicts = merged.events.filter(({ type }) => type === 'sync.conflict');
          const overwritten = Object.keys({ ...before?.fields, ...write.fields }).filter((name) => {
            const theirs = Object.hasOwn(before?.fields ?? {}, name) ? before?.fields[name] : undefined;
            const ours = Object.hasOwn(merged.state.fields, name) ? merged.state.fields[name] : undefined;
            const mark = (Object.hasOwn(before?.marks ?? {}, name) ? before?.marks[name]?.[0] : before?.floor[0]) ?? 0;
            return write.baseRevision !== undefined && mark > write.baseRevision && !sameJson(theirs, ours);
          });
          if (write.onConflict === 'last_write_wins') {
            expect(merged.conflicts.map((conflict) => conflict.field).sort()).toEqual(overwritten.sort());
          } else expect(overwritten).toEqual([]);
          expect(conflicts).toHaveLength(merged.conflicts.length > 0 ? 1 : 0);
        }
      }),
    );
  });

  it('do not come of a write that is repeated', () => {
    fc.assert(
      fc.property(writes, (planned) => {
        const { merges, state } = run(planned);
        const last = merges.at(-1);
        if (last?.merged.outcome !== 'changed' || last.write.onConflict !== 'last_write_wins') return;
        expect(merge(state, last.write, 99).outcome).toBe('unchanged');
      }),
    );
  });
});

describe('a merge', () => {
  const base = merge(undefined, write({ op: 'put', fields: { a: 1, b: 1 } }), 0);
  const current =
    base.outcome === 'changed' ? merge(base.state, write({ fields: { a: 2 }, origin: 'node-2' }), 1) : base;
  const state = current.outcome === 'changed' ? current.state : undefined;
  const conflict = {
    field: 'a',
    winner: { value: 3, origin: 'node-1', revision: 3 },
    loser: { value: 2, origin: 'node-2', revision: 2 },
  };

  it('of disjoint or equal edits has no conflict', () => {
    expect(merge(state, write({ fields: { b: 5 }, baseRevision: 1 }), 2)).toMatchObject({
      outcome: 'changed',
      conflicts: [],
    });
    expect(merge(state, write({ fields: { a: 2 }, baseRevision: 1 }), 2)).toMatchObject({
      outcome: 'unchanged',
      conflicts: [],
    });
  });

  it('decides as it is told', () => {
    const edit = { fields: { a: 3, b: 3 }, baseRevision: 1 };
    expect(merge(state, write(edit), 2)).toMatchObject({
      outcome: 'changed',
      conflicts: [conflict],
      state: { fields: { a: 3, b: 3 } },
    });
    const kept = merge(state, write({ ...edit, onConflict: 'keep_server' }), 2);
    expect(kept).toMatchObject({ outcome: 'changed', state: { fields: { a: 2, b: 3 } } });
    expect(kept).toMatchObject({
      conflicts: [{ field: 'a', winner: conflict.loser, loser: { value: 3, origin: 'node-1', revision: 1 } }],
    });
    expect(merge(state, write({ ...edit, onConflict: 'reject' }), 2)).toMatchObject({ outcome: 'conflict' });
    expect(merge(state, write({ ...edit, baseRevision: 3 }), 2)).toEqual({ outcome: 'future_base' });
  });

  it('of an edit and a deletion is a conflict of its fields', () => {
    const deleted = merge(state, write({ op: 'delete', origin: 'node-2' }), 2);
    const stub = deleted.outcome === 'changed' ? deleted.state : undefined;
    const edit = write({ fields: { a: 3 }, baseRevision: 2 });
    expect(merge(stub, edit, 3)).toMatchObject({
      outcome: 'changed',
      created: true,
      state: { revision: 4, fields: { a: 3 } },
      conflicts: [{ loser: { value: null, origin: 'node-2', revision: 3 } }],
    });
    expect(merge(stub, { ...edit, onConflict: 'keep_server' }, 3)).toMatchObject({ outcome: 'unchanged' });
  });

  it('refuses a document that grows too large', () => {
    const fields = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
    expect(merge(undefined, write({ op: 'put', fields: fields(128 * 1024) }), 0).outcome).toBe('changed');
    expect(merge(undefined, write({ op: 'put', fields: fields(128 * 1024 + 1) }), 0).outcome).toBe('too_large');
  });
});
