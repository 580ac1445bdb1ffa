import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OVERLAP_MS } from '../../../lib/documents/change-log.ts';
import { type Checkpoint, type Cycle, checkpointOf, newCycle, withShorterWalk } from '../../../lib/documents/cycle.ts';
import { pull } from '../../../lib/documents/pages.ts';
import { matchesAny } from '../../../lib/documents/patterns.ts';
import { documents } from '../../../lib/documents/store.ts';
import { newSpace, now as START } from './builders.ts';
import { newStore } from './stores.ts';

const { table, short } = newStore();

/** An entry appears at most this long after its time (documents/change-log.ts). */
const LATEST_MS = 30_000;
const KEYS = ['a:1', 'a:2', 'a:3', 'b:1', 'b:2', 'c'];
const WAITS = [0, 1, 1000, LATEST_MS, OVERLAP_MS - 1, OVERLAP_MS, OVERLAP_MS + 1, 10 * OVERLAP_MS];

/** What happens, in order: documents are written, time passes, and the replica reads a page. */
type Step =
  | { kind: 'write'; key: string; isDeletion: boolean; lateMs: number }
  | { kind: 'wait'; ms: number }
  | { kind: 'page'; limit: number; bytesMax: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    key: fc.constantFrom(...KEYS),
    isDeletion: fc.boolean(),
    lateMs: fc.constantFrom(0, 1, LATEST_MS - 1, LATEST_MS),
  }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(...WAITS) }),
  fc.record({
    kind: fc.constant('page' as const),
    limit: fc.integer({ min: 1, max: 4 }),
    bytesMax: fc.constantFrom(0, 1e6),
  }),
);

/** How the replica says what it has. With `log` and `revisions`, it sends its checkpoint, and the cycle walks through one of them. */
const MODES = ['known', 'log', 'revisions'] as const;
type Mode = (typeof MODES)[number];
const history = fc.record({
  steps: fc.array(step, { maxLength: 40 }),
  patterns: fc.constantFrom(['*'], ['a:*', 'c'], ['b:*'], ['a:2', '*:1']),
  isShort: fc.boolean(),
});

interface Stored {
  revision: number;
  isDeletion: boolean;
  /** The times of all its writes. */
  times: number[];
}

/** Documents, and a replica that is compared with them whenever it completes a cycle. */
class Replica {
  private readonly space = newSpace();
  private readonly stored = new Map<string, Stored>();
  /** The revisions that the replica has. */
  private readonly replica = new Map<string, number>();
  private readonly mode: Mode;
  private readonly patterns: readonly string[];
  private readonly store: ReturnType<typeof documents>;
  private now = START;
  private checkpoint: Checkpoint | undefined;
  private cycle: { state: Cycle; known: Map<string, number>; before: Map<string, number>; sent: string[] } | undefined;

  constructor(mode: Mode, patterns: readonly string[], store: ReturnType<typeof documents>) {
    this.mode = mode;
    this.patterns = patterns;
    this.store = store;
    if (mode === 'known')
      this.replica = new Map([
        ['a:0', 3],
        ['b:0', 1],
      ]); // of another database
  }

  async perform(step: Step): Promise<void> {
    if (step.kind === 'wait') this.now += step.ms;
    else if (step.kind === 'write') await this.write(step);
    else await this.page(step);
  }

  private async write({ key, isDeletion, lateMs }: Extract<Step, { kind: 'write' }>): Promise<void> {
    const { revision: before = 0, times = [] } = this.stored.get(key) ?? {};
    const updatedAt = this.now - lateMs;
    const revision = before + 1;
    const state = {
      revision,
      fields: { revision },
      marks: {},
      floor: [0, ''] as [number, string],
      deleted: isDeletion,
    };
    expect(await this.store.save(this.space, key, before, { ...state, createdAt: 0, updatedAt }, [])).toBe(true);
    this.stored.set(key, { revision, isDeletion, times: [...times, updatedAt] });
  }

  private async page({ limit, bytesMax }: Extract<Step, { kind: 'page' }>): Promise<void> {
    this.cycle ??= this.begin();
    const { known, sent } = this.cycle;
    const state = withShorterWalk(this.cycle.state, this.now);
    const request = { space: this.space, patterns: this.patterns, known, limit, bytesMax };
    const { changes, next, walked } = await pull(this.store, state, request);
    expect(changes.length).toBeLessThanOrEqual(limit);
    for (const { document_key, revision, deleted, fields } of changes) {
      const { revision: current = 0, isDeletion = true, times = [] } = this.stored.get(document_key) ?? {};
      expect([document_key, revision, deleted, fields]).toEqual([
        document_key,
        current,
        isDeletion,
        isDeletion ? null : { revision },
      ]);
      expect(matchesAny(this.patterns, document_key)).toBe(true);
      if (this.mode === 'known') expect(known.get(document_key)).not.toBe(revision);
      if (state.walk === 'revisions' && state.since === undefined) expect(sent).not.toContain(document_key);
      expect(revision === 0 || times.some((time) => time >= (state.since ?? 0))).toBe(true);
      if (revision === 0) this.replica.delete(document_key);
      else this.replica.set(document_key, revision);
      sent.push(document_key);
    }
    const soFar = { ...state, walked: state.walked + walked, after: next };
    if (next === undefined) this.complete(soFar);
    else this.cycle.state = soFar;
  }

  private begin() {
    const state = newCycle({ syncId: 'cycle', namedAt: this.now, epoch: 0 }, this.now, this.checkpoint);
    const walk = this.checkpoint && this.mode === 'log' ? 'log' : 'revisions';
    const before = new Map([...this.stored].map(([key, { revision }]) => [key, revision]));
    const known = new Map(this.mode === 'known' ? this.replica : []);
    return { state: { ...state, walk } as Cycle, known, before, sent: [] };
  }

  /** The replica has every document as it was when the cycle started, or later. */
  private complete(state: Cycle): void {
    for (const [key, revision] of this.cycle?.before ?? [])
      if (matchesAny(this.patterns, key)) expect(this.replica.get(key) ?? 0, key).toBeGreaterThanOrEqual(revision);
    this.checkpoint = this.mode === 'known' ? undefined : checkpointOf(state);
    this.cycle = undefined;
  }

  /** Ends the cycle that runs, and one more. Then the replica has exactly the documents of the table. */
  async converge(): Promise<void> {
    for (let [pages, completed] = [0, this.cycle ? 0 : 1]; completed < 2; ) {
      expect(++pages).toBeLessThan(100);
      await this.page({ kind: 'page', limit: 3, bytesMax: 1e6 });
      if (!this.cycle) completed++;
    }
    const expected = [...this.stored].map(([key, { revision }]): [string, number] => [key, revision]);
    const ofPatterns = (all: Iterable<[string, number]>) =>
      [...all].filter(([key]) => matchesAny(this.patterns, key)).sort();
    const unknown = ['a:0', 'b:0'].filter((key) => !matchesAny(this.patterns, key));
    expect(ofPatterns(this.replica)).toEqual(ofPatterns(expected));
    if (this.mode === 'known') expect([...this.replica.keys()]).toEqual(expect.arrayContaining(unknown));
  }
}

describe('the pages of cycles, with writes that appear up to 30 seconds late', () => {
  it.each(MODES)('miss no document, and contain no other: %s', async (mode) => {
    const property = fc.asyncProperty(history, async ({ steps, patterns, isShort }) => {
      const replica = new Replica(mode, patterns, documents(isShort ? short : table));
      for (const each of steps) await replica.perform(each);
      await replica.converge();
    });
    await fc.assert(property, { numRuns: 200 });
  });
});
