import type * as v from 'valibot';
import type { Space } from '../space.ts';
import type { DocumentState } from './document.ts';
import { createPageBudget, type RevisionList, walkDocuments } from './pages.ts';
import { matchesPattern, rangesOf } from './patterns.ts';
import type { SyncResponse } from './sync.ts';

type Change = v.InferOutput<typeof SyncResponse>['changes'][number];

/** Documents of one read. Those that do not fit on a page are read again for the next one. */
const READ_TOGETHER = 25;

export interface Pull {
  space: Space;
  pattern: string;
  /** Revisions by the keys of documents. */
  known: ReadonlyMap<string, number>;
  limit: number;
  /** The key after which the page starts. */
  after: string | undefined;
  bytesMax: number;
}

/**
 * Reads a page of the documents whose revision differs from the known one, including deleted documents. Of other documents, it
 * reads only the revision.
 */
export async function pull(
  documents: RevisionList,
  { space, pattern, known, limit, after, bytesMax }: Pull,
): Promise<{ changes: Change[]; next: string | undefined }> {
  const keysToRead: string[] = [];
  const ranges = rangesOf([pattern]);
  const next = await walkDocuments(documents.revisions, { space, ranges, limit, after }, (found) => {
    const { documentKey, revision } = found;
    if (!matchesPattern(pattern, documentKey) || known.get(documentKey) === revision) return 'more';
    return keysToRead.push(documentKey) === limit ? 'full' : 'more';
  });
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
