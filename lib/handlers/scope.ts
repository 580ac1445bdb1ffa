import { intersect, type KeyRange, matchesAny, rangesOf } from '../access/patterns.ts';
import type { Permission } from '../access/tokens.ts';
import { Problem } from '../api/problems.ts';
import type { Caller, Request } from '../http/request.ts';

/** Whether a caller reaches a document: keys reach all of their space, tokens what their patterns match. */
export const reaches = ({ token }: Caller, documentKey: string): boolean =>
  token === undefined || matchesAny(token.documents, documentKey);

export const may = ({ type, token }: Caller, permission: Permission): boolean =>
  token ? token.permissions.includes(permission) : permission === 'read' || type !== 'read';

export const notAllowed = () => new Problem('document_not_allowed', 'Use a token whose patterns match this document.');

/** The ranges of keys that a caller reaches among those that some patterns match. */
export const rangesFor = ({ token }: Caller, patterns: readonly string[]): KeyRange[] => {
  const ranges = rangesOf(patterns);
  return token ? intersect(ranges, rangesOf(token.documents)) : ranges;
};

/** Identifies the credential that opened a connection or sync cycle. A token is a separate credential from its key. */
export const credentialOf = ({ token, keyId }: Caller): string => token?.tokenId ?? keyId;

/** The document key in the path, or the problem, which says nothing else of a document that the token does not reach. */
export function documentKeyOf({ path, caller }: Request): string | Problem {
  const key = path.key ?? '';
  return reaches(caller, key) ? key : notAllowed();
}

/** Who is named as the origin of a change: the node, else the credential. It grants nothing. */
export const originOf = ({ headers, caller }: Request): string => headers['x-node-id'] ?? credentialOf(caller);
