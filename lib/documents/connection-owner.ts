import { type Caller, reaches } from '../http/caller.ts';
import { keyIdOfToken } from '../keys/token-ids.ts';
import type { ConnectionRecord } from './connections.ts';

/*
 * A connection belongs to the credential that renewed it last. The record contains the id of this credential. The id of a token
 * names its parent key, so the record of a token needs no other attribute.
 */

type Owned = Pick<ConnectionRecord, 'credentialId' | 'nodeId' | 'documentKey'>;

/** Whether a caller can close an open connection. A key can close every connection of its space. */
export const mayClose = ({ token }: Caller, { credentialId }: Owned): boolean =>
  token === undefined || token.tokenId === credentialId;

/**
 * Whether a caller can renew an open connection, and becomes its owner. A token can follow another token of the same parent key and
 * node, because clients replace their tokens before they expire. It must also cover the document of the connection.
 */
export function mayRenew(caller: Caller, owned: Owned, nodeId: string): boolean {
  if (mayClose(caller, owned)) return true;
  const { credentialId, documentKey } = owned;
  const hasSameParent = credentialId.startsWith('tok_') && keyIdOfToken(credentialId) === caller.keyId;
  const coversDocument = documentKey === undefined || reaches(caller, documentKey);
  return hasSameParent && owned.nodeId === nodeId && coversDocument;
}
