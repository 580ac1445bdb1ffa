import type { Space } from '../space.ts';
import type { DocumentState } from './document.ts';
import type { KeyRange } from './patterns.ts';

/**
 * The maximum bytes of documents in a response. A Lambda function can return 6,291,556 bytes of JSON (Lambda quotas), in which
 * the body is a string with escaped quotes.
 */
export const MAX_PAGE_BYTES = 5 * 1024 * 1024;

/** The documents per query after the first one, because most of them may not match. A query reads at most 1 MB. */
const MORE_DOCUMENTS = 1000;
/** The maximum queries of that size in a request. Together they need less than a second. */
const MAX_CUT_QUERIES = 8;

/** A document in a list. `read` parses it, so that only needed documents are parsed. */
export interface FoundDocument {
  documentKey: string;
  deleted: boolean;
  read(): DocumentState;
}

/** The revision of a document, also of a deleted one. */
export interface FoundRevision {
  documentKey: string;
  revision: number;
}

/**
 * Reads the next documents after `after` from one of the ranges, at most `limit` or 1 MB. The ranges are in order. `next` is the
 * position of the next page, if there is one, and `isCut` says that it is in the same range.
 */
type List<Found> = (
  space: Space,
  ranges: readonly KeyRange[],
  limit: number,
  after?: string,
) => Promise<{ found: Found[]; next: string | undefined; isCut: boolean }>;

export interface DocumentList {
  list: List<FoundDocument>;
}

/** The revisions of documents, which show changes in few bytes. */
export interface RevisionList {
  revisions: List<FoundRevision>;
  /** Lists documents in the order of their keys, including deleted ones. */
  getAll(space: Space, documentKeys: readonly string[]): Promise<(DocumentState | undefined)[]>;
}

/** The decision about a document: continue, stop after it, or stop before it because it does not fit. */
export type Step = 'more' | 'full' | 'no room';

/**
 * Passes the documents of the ranges to `take` in the order of their keys, until `take` stops or enough was read. Returns the
 * position after which the next page starts, or `undefined` at the end.
 */
export async function walkDocuments<Found extends { documentKey: string }>(
  list: List<Found>,
  {
    space,
    ranges,
    limit,
    after,
  }: { space: Space; ranges: readonly KeyRange[]; limit: number; after?: string | undefined },
  take: (document: Found) => Step,
): Promise<string | undefined> {
  let position = after;
  for (let isFirst = true, cut = 0; ; isFirst = false) {
    const { found, next, isCut } = await list(space, ranges, isFirst ? limit : MORE_DOCUMENTS, position);
    for (const [i, document] of found.entries()) {
      const step = take(document);
      if (step === 'no room') return position;
      position = document.documentKey;
      if (step === 'full') return i === found.length - 1 ? next : position;
    }
    position = next;
    if (isCut) cut++;
    if (next === undefined || cut > MAX_CUT_QUERIES) return next;
  }
}

/** Adds up the bytes of a response. */
export function createPageBudget(bytesMax = MAX_PAGE_BYTES) {
  let bytes = 0;
  return {
    bytes: () => bytes,
    /** Whether another resource fits. If so, it is counted. The first one always fits. */
    takes(resource: unknown): boolean {
      const more = bytesSent(resource);
      if (bytes > 0 && bytes + more > bytesMax) return false;
      bytes += more;
      return true;
    },
  };
}

/** Bytes of a resource in a response, as Lambda counts them. */
export const bytesSent = (resource: unknown): number => Buffer.byteLength(JSON.stringify(JSON.stringify(resource)));
