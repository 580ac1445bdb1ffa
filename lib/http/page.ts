import { DEFAULT_PAGE } from './operation.ts';
import { Problem } from './problems.ts';
import type { Request } from './request.ts';

/**
 * The maximum bytes of resources in a response. A Lambda function can return 6,291,556 bytes of JSON (Lambda quotas), in which
 * the body is a string with escaped quotes.
 */
export const MAX_PAGE_BYTES = 5 * 1024 * 1024;

export interface PageOf<Resource> {
  data: Resource[];
  next_cursor: string | null;
}

/** Cursors of lists: positions that callers cannot read. */
export interface Cursors {
  seal(projectId: string, scope: string, position: string): Promise<string>;
  /** The position, or `null` if the service did not create the cursor for this project and scope. */
  open(projectId: string, scope: string, cursor: string): Promise<string | null>;
}

type PageRequest = Request<{ limit?: number | undefined; cursor?: string | undefined }>;

/**
 * One page of a list. `load` reads up to `limit` items after a position and returns the next position, if there is more. A page
 * whose response would be too large is read again with half of the limit. A cursor works only for the list, space and filters
 * that it was made for.
 */
export async function page<Resource>(
  request: PageRequest,
  cursors: Cursors,
  load: (limit: number, after: string | undefined) => Promise<{ data: Resource[]; next: string | undefined }>,
): Promise<{ body: PageOf<Resource> } | Problem> {
  const { limit = DEFAULT_PAGE, cursor, ...filters } = request.query;
  const scope = JSON.stringify([request.route, request.space, request.path, filters]);
  const { projectId } = request.space;
  const after = cursor === undefined ? undefined : await cursors.open(projectId, scope, cursor);
  if (after === null)
    return new Problem(
      'invalid_cursor',
      'Pass next_cursor exactly as you received it, or start again without a cursor.',
    );
  const { data, next } = await fittingPage(limit, (count) => load(count, after));
  const next_cursor = next === undefined ? null : await cursors.seal(projectId, scope, next);
  return { body: { data, next_cursor } };
}

/** Halves the limit until the response fits or contains one item. */
async function fittingPage<Page extends { data: unknown[] }>(
  limit: number,
  load: (limit: number) => Promise<Page>,
): Promise<Page> {
  const loaded = await load(limit);
  return limit === 1 || bytesSent(loaded.data) <= MAX_PAGE_BYTES ? loaded : fittingPage(Math.floor(limit / 2), load);
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
