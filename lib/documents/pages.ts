import type * as v from 'valibot';
import { createPageBudget } from '../http/page.ts';
import type { Space } from '../space.ts';
import type { DocumentState } from './document.ts';
import { type KeyRange, matchesPattern, rangesOf } from './patterns.ts';
import type { Documents } from './store.ts';
import type { SyncResponse } from './sync.ts';

/** The documents per query after the first one, because most of them may not match. A query reads at most 1 MB. */
const MORE_DOCUMENTS = 1000;
/** The maximum queries of that size in a request. Together they need less than a second. */
const MAX_CUT_QUERIES = 8;

/** The decision about a document: continue, stop after it, or stop before it because it does not fit. */
type Step = 'more' | 'full' | 'no room';

/** A page of the documents in some ranges. */
interface Walk {
  space: Space;
  ranges: readonly KeyRange[];
  limit: number;
  /** The key after which the page starts. */
  after: string | undefined;
}

/**
 * Passes the items of the ranges to `take` in the order of their keys, until `take` stops or enough was read. Returns the
 * position after which the next page starts, or `undefined` at the end.
 */
export async function walkDocuments(
  list: Documents['list'],
  { space, ranges, limit, after }: Walk,
  take: (documentKey: string, item: Readonly<Record<string, unknown>>) => Step,
): Promise<string | undefined> {
  let position = after;
  for (let isFirst = true, cut = 0; ; isFirst = false) {
    const { items, next, isCut } = await list(space, ranges, isFirst ? limit : MORE_DOCUMENTS, position);
    for (const [i, item] of items.entries()) {
      const documentKey = String(item.sk);
      const step = take(documentKey, item);
      if (step === 'no room') return position;
      position = documentKey;
      if (step === 'full') return i === items.length - 1 ? next : position;
    }
    position = next;
    if (isCut) cut++;
    if (next === undefined || cut > MAX_CUT_QUERIES) return next;
  }
}

type Change = v.InferOutput<typeof SyncResponse>['changes'][number];

/** Documents of one read. Those that do not fit on a page are read again for the next one. */
const READ_TOGETHER = 25;

interface Pull extends Omit<Walk, 'ranges'> {
  pattern: string;
  /** Revisions by the keys of documents. */
  known: ReadonlyMap<string, number>;
  bytesMax: number;
}

/**
 * Reads a page of the documents whose revision differs from the known one, including deleted documents. Of other documents, it
 * reads only the revision.
 */
export async function pull(
  documents: Documents,
  { space, pattern, known, limit, after, bytesMax }: Pull,
): Promise<{ changes: Change[]; next: string | undefined }> {
  const keysToRead: string[] = [];
  const ranges = rangesOf([pattern]);
  const next = await walkDocuments(
    documents.revisions,
    { space, ranges, limit, after },
    (documentKey, { revision }) => {
      if (!matchesPattern(pattern, documentKey) || known.get(documentKey) === revision) return 'more';
      return keysToRead.push(documentKey) === limit ? 'full' : 'more';
    },
  );
  const changes: Change[] = [];
  const budget = createPageBudget(bytesMax);
  for (let i = 0; i < keysToRead.length; i += READ_TOGETHER) {
    const keys = keysToRead.slice(i, i + READ_TOGETHER);
    for (const [j, state] of (await documents.getAll(space, keys)).entries()) {
      const change = changeOf(keys[j] ?? '', state);
      if (!budget.takes(change)) return { changes, next: changes.at(-1)?.document_key };
      changes.push(change);
    }
  }
  return { changes, next };
}

/** Reads the current document. Documents are never removed, so every document with a revision exists. */
function changeOf(document_key: string, state: DocumentState | undefined): Change {
  if (!state) throw new Error('A document with a revision is not there');
  const { revision, deleted, fields } = state;
  return { document_key, revision, deleted, fields: deleted ? null : fields };
}
