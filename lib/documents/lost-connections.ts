import { newEvent, type StoredEvent } from '../events/event.ts';
import { newEventId } from '../events/placement.ts';
import { type Caller, reaches } from '../http/caller.ts';
import type { Random } from '../ids.ts';
import { keyIdOfToken } from '../keys/token-ids.ts';
import { iso } from '../schema.ts';
import { type ConnectionRecord, publicIdOf } from './connections.ts';

export const isLapsed = ({ expiresAt }: ConnectionRecord, nowMs: number): boolean => nowMs >= expiresAt;

export function lostEvent(record: ConnectionRecord, now: number, random: Random): StoredEvent {
  const { projectId, environment } = record;
  const [type, data] = ['connection.lost', lostData(record)] as const;
  return newEvent({ projectId, environment, id: newEventId(type, data, now, random), at: now, type, data });
}

/** `data` of `connection.lost`. */
function lostData({ id, nodeId, documentKey, user, connectedAt, lastSeenAt, expiresAt }: ConnectionRecord) {
  return {
    connection_id: publicIdOf(id),
    node_id: nodeId,
    ...(documentKey !== undefined && { document_key: documentKey }),
    ...(user !== undefined && { user }),
    connected_at: iso(connectedAt),
    last_seen_at: iso(lastSeenAt),
    lost_at: iso(expiresAt),
  };
}

/*
 * A connection belongs to the credential that renewed it last. The record contains the id of this credential. The id of a token
 * names its parent key, so the record of a token needs no other attribute.
 */

/** Whether a caller can close an open connection. A key can close every connection of its space. */
export const mayClose = ({ token }: Caller, { credentialId }: ConnectionRecord): boolean =>
  token === undefined || token.tokenId === credentialId;

/**
 * Whether a caller can renew an open connection, and becomes its owner. A token can follow another token of the same parent key and
 * node, because clients replace their tokens before they expire. It must also cover the document of the connection.
 */
export function mayRenew(caller: Caller, owned: ConnectionRecord, nodeId: string): boolean {
  if (mayClose(caller, owned)) return true;
  const { credentialId, documentKey } = owned;
  const hasSameParent = credentialId.startsWith('tok_') && keyIdOfToken(credentialId) === caller.keyId;
  const coversDocument = documentKey === undefined || reaches(caller, documentKey);
  return hasSameParent && owned.nodeId === nodeId && coversDocument;
}
