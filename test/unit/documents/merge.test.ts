import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DocumentState, type Fields, ON_CONFLICT, sameJson } from '../../../lib/documents/document.ts';
import type { DocumentWrite } from '../../../lib/documents/document-write.ts';
import { merge } from '../../../lib/documents/merge.ts';
import { type Json, parseJson } from '../../../lib/json.ts';
import { textsOfBytes } from '../../support/adversarial.ts';

const write = (overrides: Partial<DocumentWrite>): DocumentWrite => ({
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
function history(writes: DocumentWrite[]) {
  let state: DocumentState | undefined;
  const merges = writes.map((each, i) => {
    const before = state;
    const merged = merge(before, each, i, 0);
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
  const made: DocumentWrite[] = [];
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
  it('add up to the document in consecutive revisions, and each old value is the previous new value', () => {
    fc.assert(
      fc.property(writes, (planned) => {
        const { events, state } = run(planned);
        let folded = new Map<string, Json>();
        let revision = 0;
        for (const { type, data } of events) {
          if (type !== 'sync.conflict') expect(data.revision).toBe(++revision);
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
        expect(state?.revision ?? 0).toBe(revision);
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
        expect(merge(state, last.write, 99, 0).outcome).toBe('unchanged');
      }),
    );
  });
});

const patch = (fields: Fields, more: Partial<DocumentWrite> = {}): Partial<DocumentWrite> => ({ fields, ...more });
const put = (fields: Fields, more: Partial<DocumentWrite> = {}): Partial<DocumentWrite> => ({
  op: 'put',
  fields,
  ...more,
});
const remove = (more: Partial<DocumentWrite> = {}): Partial<DocumentWrite> => ({ op: 'delete', ...more });
/** Returns the result of the last write after other writes. */
const last = (...all: Partial<DocumentWrite>[]) => history(all.map(write)).merges.at(-1)?.merged;

describe('a write', () => {
  const edited = [put({ a: 1, b: 1 }), patch({ a: 2 }, { origin: 'node-2' })];
  const deleted = [put({ a: 1 }), remove({ origin: 'node-2' })];
  const stale = { baseRevision: 1 };
  const keepingServer = { ...stale, onConflict: 'keep_server' } as const;
  const theirs = { value: 2, origin: 'node-2', revision: 2 };
  const won = { field: 'a', winner: { value: 3, origin: 'node-1', revision: 3 }, loser: theirs };
  const kept = { field: 'a', winner: theirs, loser: { value: 3, origin: 'node-1', revision: 1 } };
  const many = (count: number): Fields => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 0]));
  const ofBytes = (bytes: number): Fields => ({ a: textsOfBytes(bytes - '{"a":""}'.length).at(-1) ?? '' });
  const [changed, unchanged] = [{ outcome: 'changed' }, { outcome: 'unchanged' }];
  const created = { ...changed, created: true };
  const nothing = { ...unchanged, state: undefined, conflicts: [] };
  const merged = (fields: Fields, conflicts: object[]) => ({ ...changed, conflicts, state: { revision: 3, fields } });

  it.each<[string, Partial<DocumentWrite>[], object]>([
    ['merges with an edit of another field', [...edited, patch({ b: 5 }, stale)], merged({ a: 2, b: 5 }, [])],
    ['has no conflict about an equal value', [...edited, patch({ a: 2 }, stale)], { ...unchanged, conflicts: [] }],
    ['replaces a concurrent value', [...edited, patch({ a: 3, b: 3 }, stale)], merged({ a: 3, b: 3 }, [won])],
    ['keeps it with keep_server', [...edited, patch({ a: 3, b: 3 }, keepingServer)], merged({ a: 2, b: 3 }, [kept])],
    [
      'changes nothing if keep_server keeps every value',
      [...edited, patch({ a: 3 }, keepingServer)],
      { ...unchanged, conflicts: [kept] },
    ],
    [
      'is rejected with reject',
      [...edited, patch({ a: 3, b: 3 }, { ...stale, onConflict: 'reject' })],
      { outcome: 'conflict', conflicts: [kept] },
    ],
    ['has no conflict at the same revision', [...edited, put({ a: 3 }, { baseRevision: 2 })], merged({ a: 3 }, [])],
    ['is rejected at a later revision', [...edited, put({ a: 3 }, { baseRevision: 3 })], { outcome: 'future_base' }],
    ['creates no document at revision 1', [put({ a: 1 }, { baseRevision: 1 })], { outcome: 'future_base' }],
    [
      'has no conflict without a base revision',
      [...edited, put({ a: 3 }, { onConflict: 'reject' })],
      merged({ a: 3 }, []),
    ],
    ['creates a missing document by an empty put', [put({})], created],
    ['creates no document by an empty patch', [patch({})], nothing],
    ['deletes concurrent values', [...edited, remove(stale)], changed],
    ['deletes known values with keep_server', [...edited, remove({ ...keepingServer, baseRevision: 2 })], changed],
    [
      'has a conflict with a deletion, which a put replaces',
      [...deleted, put({ a: 3 }, stale)],
      { ...created, ...merged({ a: 3 }, [{ ...won, loser: { ...theirs, value: null } }]) },
    ],
    ['keeps a deletion from a put with keep_server', [...deleted, put({ a: 3 }, keepingServer)], unchanged],
    ['is rejected with more fields', [put(many(1000)), patch({ more: 1 })], { outcome: 'too_large' }],
    ['can replace one of a thousand fields', [put(many(1000)), patch({ more: 1, f0: null })], changed],
    ['has at most 128 KB of fields', [put(ofBytes(128 * 1024))], changed],
    ['is rejected with more bytes', [put(ofBytes(128 * 1024 + 1))], { outcome: 'too_large' }],
  ])('%s', (_, all, expected) => {
    expect(last(...all)).toMatchObject(expected);
  });

  it('publishes its conflicts and their resolution', () => {
    const resolution = { base_revision: 1, sync_id: 'syn_1', resolution: 'last_write_wins', conflicts: [won] };
    expect(last(...edited, patch({ a: 3 }, { ...stale, syncId: 'syn_1' }))).toMatchObject({
      events: [
        { type: 'document.changed' },
        { type: 'sync.conflict', data: { document_key: 'd', revision: 3, ...resolution } },
      ],
    });
  });

  it('publishes one event for each creation, replacement, patch and deletion', () => {
    const [document_key, origin] = ['d', 'node-1'];
    const change = (revision: number, old_value: Json, new_value: Json) => ({
      type: 'document.changed',
      data: { document_key, changes: [{ field: 'a', old_value, new_value, origin }], revision },
    });
    expect(history([put({}), put({ a: 1 }), { fields: { a: null } }, remove()].map(write)).events).toEqual([
      { type: 'document.created', data: { document_key, revision: 1, fields: {}, origin } },
      change(2, null, 1),
      change(3, 1, null),
      { type: 'document.deleted', data: { document_key, revision: 4, origin } },
    ]);
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
        ...history([write(put({ o1: 1, o2: 1, o3: 1 }))]).state,
        revision: 10,
        marks: { ...present, ...marks },
        floor: [4, 'n'],
      }) as unknown as DocumentState;
    const written = (marks: object) => {
      const merged = merge(stored(marks), write({ fields: { b: 1 } }), 0, 0);
      return merged.outcome === 'changed' ? merged.state : undefined;
    };

    it('keeps the marks of existing fields, and the newer half of those of removed fields', () => {
      const { marks = {}, floor } = written(removed) ?? {};
      expect(Object.keys(marks).map((name) => name.slice(0, 2))).toEqual(['o1', 'o2', 'o3', 'b', 'r8', 'r7']);
      expect(floor).toEqual([6, 'n']);
    });

    it('keeps all marks of existing fields', () => {
      const large = { o1: [1, 'x'.repeat(MAX_MARKS_BYTES)] };
      expect(written(large)?.marks).toEqual({ ...present, ...large, b: [11, 'node-1'] });
      expect(written(large)?.floor).toEqual([4, 'n']);
    });

    it('drops marks over the limit in bytes', () => {
      const all = { ...present, '': [5, 'n'], b: [11, 'node-1'] };
      const room = MAX_MARKS_BYTES - Buffer.byteLength(JSON.stringify(all));
      const kept = (bytes: number) =>
        Object.keys(written({ [textsOfBytes(bytes).at(-1) ?? '']: [5, 'n'] })?.marks ?? {}).length;
      expect([kept(room), kept(room + 1)]).toEqual([5, 4]);
    });
  });
});
