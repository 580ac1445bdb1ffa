import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DocumentState, type Fields, ON_CONFLICT, sameJson } from '../../../lib/documents/document.ts';
import { merge, type Write } from '../../../lib/documents/merge.ts';
import { type Json, parseJson } from '../../../lib/json.ts';

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

/** Applies writes in order, like the table, and returns all results. */
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
/** Base revisions that are some steps old, like those of nodes that sync rarely. */
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
  it('have consecutive revisions from 1, across deletion and re-creation', () => {
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

  it('add up to the document, and each old value is the previous new value', () => {
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

  it('contain every overwritten concurrent value in one conflict, and no others', () => {
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

  it('are not published for a repeated write', () => {
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

  it('has no conflict for disjoint or equal edits', () => {
    expect(merge(state, write({ fields: { b: 5 }, baseRevision: 1 }), 2)).toMatchObject({
      outcome: 'changed',
      conflicts: [],
    });
    expect(merge(state, write({ fields: { a: 2 }, baseRevision: 1 }), 2)).toMatchObject({
      outcome: 'unchanged',
      conflicts: [],
    });
  });

  it('applies the conflict rule', () => {
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

  it('reports a conflict for an edit of a deleted document', () => {
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

  it('rejects a document that becomes too large', () => {
    const fields = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
    expect(merge(undefined, write({ op: 'put', fields: fields(128 * 1024) }), 0).outcome).toBe('changed');
    expect(merge(undefined, write({ op: 'put', fields: fields(128 * 1024 + 1) }), 0).outcome).toBe('too_large');
  });
});

describe('a document and a write of it', () => {
  /** Returns the result of the last write after other writes. */
  function last(...all: Partial<Write>[]) {
    const { merges, state } = history(all.map((each) => write(each)));
    return { merged: merges.at(-1)?.merged, state };
  }
  const put = (fields: Fields, more: Partial<Write> = {}): Partial<Write> => ({ op: 'put', fields, ...more });
  const remove = (more: Partial<Write> = {}): Partial<Write> => ({ op: 'delete', ...more });

  it('merge without a conflict only at the same revision', () => {
    expect(last(put({ a: 1 }), put({ a: 2 }, { baseRevision: 1 })).merged).toMatchObject({ outcome: 'changed' });
    expect(last(put({ a: 1 }), put({ a: 2 }, { baseRevision: 2 })).merged).toEqual({ outcome: 'future_base' });
    expect(last(put({ a: 1 }, { baseRevision: 0 })).merged).toMatchObject({ outcome: 'changed', created: true });
    expect(last(put({ a: 1 }, { baseRevision: 1 })).merged).toEqual({ outcome: 'future_base' });
  });

  it('have no conflict without a base revision, for any conflict rule', () => {
    for (const onConflict of ON_CONFLICT)
      expect(last(put({ a: 1 }), put({ a: 2 }, { onConflict })).merged).toMatchObject({
        conflicts: [],
        outcome: 'changed',
      });
  });

  it('publish one event for each creation, replacement, patch and deletion', () => {
    expect(history([put({}), put({ a: 1 }), { fields: { a: null } }, remove()].map(write)).events).toEqual([
      { type: 'document.created', data: { document_key: 'd', revision: 1, fields: {}, origin: 'node-1' } },
      {
        type: 'document.changed',
        data: {
          document_key: 'd',
          changes: [{ field: 'a', old_value: null, new_value: 1, origin: 'node-1' }],
          revision: 2,
        },
      },
      {
        type: 'document.changed',
        data: {
          document_key: 'd',
          changes: [{ field: 'a', old_value: 1, new_value: null, origin: 'node-1' }],
          revision: 3,
        },
      },
      { type: 'document.deleted', data: { document_key: 'd', revision: 4, origin: 'node-1' } },
    ]);
  });

  it('create a missing document by an empty put, but not by an empty patch or a deletion', () => {
    expect(last(put({})).merged).toMatchObject({ outcome: 'changed', created: true });
    expect(last({ fields: {} }).merged).toEqual({ outcome: 'unchanged', state: undefined, conflicts: [] });
    expect(last({ fields: { a: 1 } }).merged).toMatchObject({ outcome: 'changed', created: true });
    expect(last(remove()).merged).toEqual({ outcome: 'unchanged', state: undefined, conflicts: [] });
    expect(last(put({ a: 1 }), remove(), remove()).merged).toMatchObject({ outcome: 'unchanged' });
  });

  it('record the origin and time of a deletion, and start a new document after it', () => {
    const deleted = last(put({ a: 1 }), remove({ origin: 'node-2', fields: { a: 2 } })).state;
    expect(deleted).toEqual({
      revision: 2,
      fields: {},
      marks: {},
      floor: [2, 'node-2'],
      deleted: true,
      createdAt: 0,
      updatedAt: 1,
    });
    expect(last(put({ a: 1 }), remove(), put({ b: 1 })).state).toEqual({
      revision: 3,
      fields: { b: 1 },
      marks: { b: [3, 'node-1'] },
      floor: [2, 'node-1'],
      deleted: false,
      createdAt: 2,
      updatedAt: 2,
    });
  });

  it('resolve or reject different values by the rule, and publish the resolution', () => {
    const stale = { baseRevision: 1, origin: 'node-2', syncId: 'syn_1' };
    const before = [put({ a: 1, b: 1 }), put({ a: 2, b: 1 })];
    const won = { value: 3, origin: 'node-2', revision: 3 };
    const stored = { value: 2, origin: 'node-1', revision: 2 };
    const kept = { field: 'a', winner: stored, loser: { ...won, revision: 1 } };
    const decided = last(...before, { fields: { a: 3 }, ...stale });
    expect(decided.merged).toMatchObject({
      outcome: 'changed',
      events: [
        { type: 'document.changed' },
        {
          type: 'sync.conflict',
          data: {
            document_key: 'd',
            revision: 3,
            base_revision: 1,
            sync_id: 'syn_1',
            resolution: 'last_write_wins',
            conflicts: [{ field: 'a', winner: won, loser: stored }],
          },
        },
      ],
    });
    expect(last(...before, { fields: { a: 3 }, ...stale, onConflict: 'reject' }).merged).toEqual({
      outcome: 'conflict',
      conflicts: [kept],
    });
    const server = { ...stale, onConflict: 'keep_server' } as const;
    expect(last(...before, { fields: { a: 3 }, ...server }).merged).toMatchObject({
      outcome: 'unchanged',
      conflicts: [kept],
    });
    expect(last(...before, { fields: { a: 3, b: 2 }, ...server }).state).toMatchObject({
      revision: 3,
      fields: { a: 2, b: 2 },
    });
    expect(last(...before, { op: 'delete', ...server }).merged).toMatchObject({ outcome: 'unchanged' });
    expect(last(...before, { op: 'delete', ...server, baseRevision: 2 }).merged).toMatchObject({ outcome: 'changed' });
    expect(last(...before, { op: 'delete', ...stale }).merged).toMatchObject({ outcome: 'changed' });
  });

  it('do not create a deleted document again with keep_server', () => {
    const deleted = [put({ a: 1 }), remove()];
    const stale = put({ a: 2 }, { baseRevision: 1, onConflict: 'keep_server' });
    expect(last(...deleted, stale).merged).toMatchObject({ outcome: 'unchanged' });
    expect(last(...deleted, { ...stale, baseRevision: 2 }).merged).toMatchObject({ outcome: 'changed', created: true });
  });

  it('are rejected with more than a thousand fields', () => {
    const many = (from: number, count: number): Fields =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${from + i}`, 0]));
    expect(last(put(many(0, 1000))).merged).toMatchObject({ outcome: 'changed' });
    expect(last(put(many(0, 1000)), { fields: { more: 1 } }).merged).toEqual({ outcome: 'too_large' });
    expect(last(put(many(0, 1000)), { fields: { more: 1, f0: null } }).merged).toMatchObject({ outcome: 'changed' });
  });

  describe('with too many marks', () => {
    const MAX_MARKS_BYTES = 214 * 1024;
    const long = (name: string) => `${name}:${'x'.repeat(MAX_MARKS_BYTES / 4)}`;
    const present = { o1: [1, 'n'], o2: [2, 'n'], o3: [3, 'n'] } as const;
    const removed = Object.fromEntries(
      [5, 6, 7, 8].map((revision) => [long(`r${revision}`), [revision, 'n'] as const]),
    );
    const stored = (marks: object) =>
      ({
        ...last(put({ o1: 1, o2: 1, o3: 1 })).state,
        revision: 10,
        marks: { ...present, ...marks },
        floor: [4, 'n'],
      }) as unknown as DocumentState;
    const written = (marks: object) => {
      const merged = merge(stored(marks), write({ fields: { b: 1 } }), 0);
      return merged.outcome === 'changed' ? merged.state : undefined;
    };

    it('keep the marks of existing fields, and the newer half of those of removed fields', () => {
      const { marks = {}, floor } = written(removed) ?? {};
      expect(Object.keys(marks).map((name) => name.slice(0, 2))).toEqual(['o1', 'o2', 'o3', 'b', 'r8', 'r7']);
      expect(floor).toEqual([6, 'n']);
    });

    it('keep all marks of existing fields', () => {
      const large = { o1: [1, 'x'.repeat(MAX_MARKS_BYTES)] };
      expect(written(large)?.marks).toEqual({ ...present, ...large, b: [11, 'node-1'] });
      expect(written(large)?.floor).toEqual([4, 'n']);
    });

    it('drop marks over the limit in bytes', () => {
      const all = { ...present, '': [5, 'n'], b: [11, 'node-1'] };
      const room = MAX_MARKS_BYTES - Buffer.byteLength(JSON.stringify(all));
      const kept = (length: number) => Object.keys(written({ ['x'.repeat(length)]: [5, 'n'] })?.marks ?? {}).length;
      expect([kept(room), kept(room + 1)]).toEqual([5, 4]);
    });
  });

  it('drop the marks of the fields that were removed first', () => {
    const removals = Array.from({ length: 120 }, (_, i): Partial<Write>[] => {
      const name = `${i}:${'x'.repeat(2000)}`;
      return [{ fields: { kept: i, [name]: 1 } }, { fields: { [name]: null } }];
    }).flat();
    const { state } = history(removals.map(write));
    const marks = Object.entries(state?.marks ?? {});
    expect(Buffer.byteLength(JSON.stringify(state?.marks))).toBeLessThanOrEqual(214 * 1024);
    expect(state?.marks.kept).toEqual([239, 'node-1']);
    const removed = marks.filter(([name]) => name !== 'kept').map(([, [revision]]) => revision);
    expect(Math.min(...removed)).toBe((state?.floor[0] ?? 0) + 2);
    expect(Math.max(...removed)).toBe(240);
    expect(new Set(removed).size).toBe(removed.length);
    expect(removed.length).toBeGreaterThan(50);
  });
});
