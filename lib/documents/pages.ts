import type * as v from 'valibot';
import { createPageBudget } from '../http/page.ts';
import type { Space } from '../space.ts';
import { documentAt, placesSince } from './change-log.ts';
import type { Cycle } from './cycle.ts';
import type { DocumentState } from './document.ts';
import { type KeyRange, matchesAny, rangesOf } from './patterns.ts';
import type { DocumentStore } from './store.ts';
import type { SyncResult } from './sync.ts';

/** The documents per query after the first one, because most of them may not match. A query reads at most 1 MB. */
const MORE_DOCUMENTS = 1000;
/** The maximum queries of that size in a request. Together they need less than a second. */
const MAX_CUT_QUERIES = 8;

/** The decision about an item: continue, stop after it, or stop before it because it does not fit. */
type Step = 'more' | 'full' | 'no room';

/** A page of the items in some ranges. */
interface Walk {
  space: Space;
  ranges: readonly KeyRange[];
  limit: number;
  /** The place after which the page starts. The place of a document is its key. */
  after: string | undefined;
}

/**
 * Passes the items of the ranges to `take` in the order of their places, until `take` stops or enough was read. Returns the
 * place after which the next page starts, or `undefined` at the end.
 */
export async function walk(
  list: DocumentStore['list'],
  { space, ranges, limit, after }: Walk,
  take: (place: string, item: Readonly<Record<string, unknown>>) => Step,
): Promise<string | undefined> {
  let position = after;
  for (let isFirst = true, cut = 0; ; isFirst = false) {
    const { items, next, isCut } = await list(space, ranges, isFirst ? limit : MORE_DOCUMENTS, position);
    for (const [i, { place, item }] of items.entries()) {
      const step = take(place, item);
      if (step === 'no room') return position;
      position = place;
      if (step === 'full') return i === items.length - 1 ? next : position;
    }
    position = next;
    if (isCut) cut++;
    if (next === undefined || cut > MAX_CUT_QUERIES) return next;
  }
}

type Change = v.InferOutput<typeof SyncResult>['changes'][number];

/** Documents of one read. Those that do not fit on a page are read again for the next one. */
const READ_TOGETHER = 25;

export interface Pull {
  space: Space;
  patterns: readonly string[];
  /** Revisions by the keys of documents. */
  known: ReadonlyMap<string, number>;
  limit: number;
  bytesMax: number;
}

/** A document that the caller does not have, and its place in the walk of the cycle. */
interface Found {
  place: string;
  documentKey: string;
}

/**
 * Reads a page of the documents that the caller does not have, including deleted documents: those whose revision differs from the
 * known one, or that have changed since the checkpoint, and known ones that do not exist. Of other documents, it reads only the
 * revision. Returns the place after which the next page starts, and the number of entries that the walk read.
 */
export async function pull(
  documents: DocumentStore,
  cycle: Pick<Cycle, 'walk' | 'since' | 'after'>,
  request: Pull,
): Promise<{ changes: Change[]; next: string | undefined; walked: number }> {
  const { found, next, walked } = await find(documents, cycle, request);
  const { space, bytesMax } = request;
  const changes: Change[] = [];
  const budget = createPageBudget(bytesMax);
  for (let i = 0; i < found.length; i += READ_TOGETHER) {
    const some = found.slice(i, i + READ_TOGETHER);
    const states = await documents.getAll(
      space,
      some.map(({ documentKey }) => documentKey),
    );
    for (const [j, { documentKey }] of some.entries()) {
      const change = changeOf(documentKey, states[j]);
      if (!budget.takes(change)) return { changes, next: found[i + j - 1]?.place, walked };
      changes.push(change);
    }
  }
  return { changes, next, walked };
}

async function find(
  documents: DocumentStore,
  { walk: through, since = 0, after }: Pick<Cycle, 'walk' | 'since' | 'after'>,
  { space, patterns, known, limit }: Pull,
): Promise<{ found: Found[]; next: string | undefined; walked: number }> {
  const isLog = through === 'log';
  const ranges = isLog ? placesSince(since) : rangesOf(patterns);
  const existing = new Set<string>();
  const found = new Map<string, string>();
  let walked = 0;
  const next = await walk(
    isLog ? documents.changes : documents.revisions,
    { space, ranges, limit, after },
    (place, item) => {
      walked++;
      const documentKey = isLog ? documentAt(place) : place;
      existing.add(documentKey);
      const isKnown = known.get(documentKey) === item.revision && !isLog;
      const isOld = item.updatedAt !== undefined && Number(item.updatedAt) < since;
      if (isKnown || isOld || found.has(documentKey) || !matchesAny(patterns, documentKey)) return 'more';
      return found.set(documentKey, place).size === limit ? 'full' : 'more';
    },
  );
  const places = [...found].map(([documentKey, place]) => ({ documentKey, place }));
  const missing = [...known].flatMap(([key, revision]) => {
    const isOnPage = (after === undefined || key > after) && (next === undefined || key <= next);
    return isOnPage && revision > 0 && !existing.has(key) && matchesAny(patterns, key)
      ? [{ documentKey: key, place: key }]
      : [];
  });
  if (missing.length === 0) return { found: places, next, walked };
  const all = [...places, ...missing].sort((a, b) => (a.place < b.place ? -1 : 1));
  return { found: all.slice(0, limit), next: all.length > limit ? all[limit - 1]?.place : next, walked };
}

/** A document that does not exist is reported as deleted. */
function changeOf(document_key: string, state: DocumentState | undefined): Change {
  if (!state || state.deleted) return { document_key, revision: state?.revision ?? 0, deleted: true, fields: null };
  return { document_key, revision: state.revision, deleted: false, fields: state.fields };
}
