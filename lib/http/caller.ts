import { intersect, type KeyRange, matchesAny, rangesOf } from '../documents/patterns.ts';
import type { Permission } from '../keys/token.ts';
import { documentNotAllowed, type Problem } from './problems.ts';
import type { Caller, Request } from './request.ts';

/** Whether a caller can access a document. Keys can access all of their space, and tokens only matching documents. */
export const reaches = ({ token }: Caller, documentKey: string): boolean =>
  token === undefined || matchesAny(token.documents, documentKey);

export const may = ({ type, token }: Caller, permission: Permission): boolean =>
  token ? token.permissions.includes(permission) : permission === 'read' || type !== 'read';

/** The ranges of keys that match some patterns and that the caller can access. */
export const rangesFor = ({ token }: Caller, patterns: readonly string[]): KeyRange[] => {
  const ranges = rangesOf(patterns);
  return token ? intersect(ranges, rangesOf(token.documents)) : ranges;
};

/** Identifies the credential that opened a connection or sync cycle. A token is a separate credential from its key. */
export const credentialOf = ({ token, keyId }: Caller): string => token?.tokenId ?? keyId;

/** The document key in the path, or a problem that reveals nothing about an inaccessible document. */
export function documentKeyOf({ path, caller }: Request): string | Problem {
  const key = path.key ?? '';
  return reaches(caller, key) ? key : documentNotAllowed();
}

/** The origin of a change, which is the node or the credential. It grants nothing. */
export const originOf = ({ headers, caller }: Request): string => headers['x-node-id'] ?? credentialOf(caller);
