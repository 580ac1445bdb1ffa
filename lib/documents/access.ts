import { type Caller, credentialOf } from '../http/caller.ts';
import { documentNotAllowed, type Problem } from '../http/problems.ts';
import { intersect, type KeyRange, matchesAny, rangesOf } from './patterns.ts';

/** A request about a document. The names of headers are in lower case. */
interface Sent {
  caller: Caller;
  path: Readonly<Record<'key', string>>;
  headers: Readonly<Record<string, string>>;
}

/** Whether a caller can access a document. Keys can access all of their space, and tokens only matching documents. */
export const reaches = ({ token }: Caller, documentKey: string): boolean =>
  token === undefined || matchesAny(token.documents, documentKey);

/** The ranges of keys that match some patterns and that the caller can access. */
export const rangesFor = ({ token }: Caller, patterns: readonly string[]): KeyRange[] => {
  const ranges = rangesOf(patterns);
  return token ? intersect(ranges, rangesOf(token.documents)) : ranges;
};

/** The document key in the path, or a problem that reveals nothing about an inaccessible document. */
export const documentKeyOf = ({ path: { key }, caller }: Sent): string | Problem =>
  reaches(caller, key) ? key : documentNotAllowed();

/** The origin of a change, which is the node or the credential. It is public and proves nothing. */
export const originOf = ({ headers, caller }: Sent): string => headers['x-node-id'] ?? credentialOf(caller);
