import { hash } from 'node:crypto';
import * as v from 'valibot';
import { type Caller, may, ownerOf } from '../http/caller.ts';
import { isJsonObject, type Json } from '../json.ts';
import { iso } from '../schema.ts';
import { OVERLAP_MS, READABLE_MS } from './change-log.ts';
import type { PushResult, SyncCycle } from './sync.ts';

/**
 * How long a cycle can push, and how long its requests can be repeated. A push takes effect at most once in this time, and a later
 * request of the cycle pushes nothing.
 */
export const CYCLE_MS = 24 * 60 * 60 * 1000;
/** How long results of pushes are stored. The rest is for the difference between the clocks of two functions. */
export const RESULTS_MS = CYCLE_MS + 60 * 60 * 1000;

/** A cycle walks through the revisions of all its documents, or through the log of changes. */
const WALKS = ['revisions', 'log'] as const;

/** The state of a cycle. Its cursor contains it, and callers cannot change it. Times are in milliseconds since 1970. */
export const Cycle = v.strictObject({
  syncId: v.string(),
  /** When the name was first used. The results of pushes expire some time after it. */
  namedAt: v.number(),
  /**
   * The epoch of the table. In another one, a cycle can only repeat or finish its pushes. It returns no more changes, because the
   * table can lack what earlier pages contained.
   */
  epoch: v.number(),
  /** When this run of the cycle started. */
  startedAt: v.number(),
  /** The number of the page, from 0. */
  page: v.number(),
  pushed: v.number(),
  pulled: v.number(),
  conflicts: v.number(),
  walk: v.picklist(WALKS),
  /** Only changes at this time or later, for a cycle with a checkpoint. */
  since: v.optional(v.number()),
  /** The entries of the walk so far. */
  walked: v.number(),
  /** The number of documents of the patterns in the last cycle that walked through all revisions. */
  documents: v.number(),
  /** The place after which the page starts. */
  after: v.optional(v.string()),
});
export type Cycle = v.InferOutput<typeof Cycle>;

/** The content of a checkpoint: everything before `at` was sent. */
export const Checkpoint = v.strictObject({ epoch: v.number(), at: v.number(), documents: v.number() });
export type Checkpoint = v.InferOutput<typeof Checkpoint>;

/**
 * The most documents whose revisions are always read. The log is longer than that in a busy project, even if none of its entries
 * concerns the cycle.
 */
const FEW_DOCUMENTS = 1000;

/** A run of a cycle, from its first page. */
export function newCycle(
  name: Pick<Cycle, 'syncId' | 'namedAt' | 'epoch'>,
  startedAt: number,
  checkpoint: Checkpoint | undefined,
): Cycle {
  const start = { ...name, startedAt, page: 0, pushed: 0, pulled: 0, conflicts: 0, walked: 0 };
  if (!checkpoint) return { ...start, walk: 'revisions', documents: 0 };
  const { documents } = checkpoint;
  const since = checkpoint.at - OVERLAP_MS;
  const walk = documents > FEW_DOCUMENTS && startedAt - since < READABLE_MS ? 'log' : 'revisions';
  return { ...start, walk, since, documents };
}

/** Whether a cycle can still push. Later, the results of its pushes could be gone. */
export const canPush = ({ namedAt }: Pick<Cycle, 'namedAt'>, nowMs: number): boolean => nowMs - namedAt < CYCLE_MS;

/**
 * The cycle continues with the revisions from their start, if the log has more entries than there are documents, or could lose its
 * oldest entries because the cycle takes long. Documents can appear a second time.
 */
export function withShorterWalk(cycle: Cycle, nowMs: number): Cycle {
  const isLong = cycle.walked > cycle.documents || nowMs - cycle.startedAt > CYCLE_MS;
  return cycle.walk === 'log' && isLong ? { ...cycle, walk: 'revisions', walked: 0, after: undefined } : cycle;
}

/** A page of a cycle: the results of its pushes, the documents that it returned, and where the next page starts. */
interface CyclePage {
  results: readonly Pick<PushResult, 'status' | 'conflicts'>[];
  changes: readonly unknown[];
  walked: number;
  next: string | undefined;
}

/** The state of a cycle after a page. */
export const afterCyclePage = (cycle: Cycle, { results, changes, walked, next }: CyclePage): Cycle => ({
  ...cycle,
  page: cycle.page + 1,
  pushed: cycle.pushed + results.filter(({ status }) => status === 'applied' || status === 'merged').length,
  pulled: cycle.pulled + changes.length,
  conflicts: cycle.conflicts + results.reduce((sum, { conflicts }) => sum + conflicts.length, 0),
  walked: cycle.walked + walked,
  after: next,
});

/** `data` of `sync.completed`. `pattern` is `null` for a cycle with several patterns. */
export const completionData = (
  cycle: Cycle,
  { node_id, pattern, patterns }: Pick<v.InferOutput<typeof SyncCycle>, 'node_id' | 'pattern' | 'patterns'>,
  nowMs: number,
) => ({
  sync_id: cycle.syncId,
  node_id,
  pattern: (patterns?.length === 1 ? patterns[0] : pattern) ?? null,
  ...(patterns && { patterns }),
  pushed: cycle.pushed,
  pulled: cycle.pulled,
  conflicts: cycle.conflicts,
  started_at: iso(cycle.startedAt),
  completed_at: iso(nowMs),
});

/** The checkpoint of a completed cycle. */
export const checkpointOf = ({ epoch, startedAt, walk, walked, documents }: Cycle): Checkpoint => ({
  epoch,
  at: startedAt,
  documents: walk === 'revisions' ? walked : documents,
});

/** The stored record of a cycle with a name. */
export interface CycleRecord {
  /** See `cycleOwner`. */
  owner: string;
  namedAt: number;
  completedAt?: number;
}

/** Who a cycle belongs to: the owner of the credential, and the node. */
export const cycleOwner = (caller: Caller, nodeId: string): string => JSON.stringify([ownerOf(caller), nodeId]);

/** Whether a cycle claims its name. A credential without `write` claims none, because its requests have no effect. */
export const claimsName = (caller: Caller, name: string | undefined): name is string =>
  name !== undefined && may(caller, 'write');

/** Whether a caller can repeat a cycle with this name, or must use another name. */
export const isRepeatable = (stored: CycleRecord, owner: string, nowMs: number): boolean =>
  stored.owner === owner && canPush(stored, nowMs);

/** Identifies the content of a push. A client can serialize its members in another order when it repeats them. */
export const pushFingerprint = (push: unknown): string => hash('sha256', canonical(push as Json), 'base64url');

const canonical = (json: Json): string =>
  JSON.stringify(json, (_name, value: Json) =>
    isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
