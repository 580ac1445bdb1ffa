import { isDocumentKey, matchesAny } from '../patterns.ts';
import { notFound, Refusal } from '../problem.ts';
import type { Caller, Request } from '../request.ts';
import type { Permission } from '../tokens.ts';

/** Whether a caller reaches a document: keys reach all of their space, tokens what their patterns match. */
export const reaches = ({ token }: Caller, documentKey: string): boolean =>
  token === undefined || matchesAny(token.documents, documentKey);

export const may = ({ type, token }: Caller, permission: Permission): boolean =>
  token ? token.permissions.includes(permission) : permission === 'read' || type !== 'read';

export const notAllowed = () =>
  new Refusal('document_not_allowed', 'The patterns of the token do not match this document.');

/** The document key in the path, or the refusal: of a document that a token does not reach it says nothing else. */
export function documentKeyOf({ path, caller }: Request): string | Refusal {
  const key = path.key ?? '';
  if (!isDocumentKey(key)) return notFound('document');
  return reaches(caller, key) ? key : notAllowed();
}

/** Who is named as the origin of a change: the node, else the credential. It grants nothing. */
export const originOf = ({ headers, caller }: Request): string =>
  headers['x-node-id'] ?? caller.token?.tokenId ?? caller.keyId;
