import * as v from 'valibot';
import { User } from '../credentials.ts';
import { newEvents, type StoredEvent } from '../events/event.ts';
import { MEANINGS } from '../events/types.ts';
import { type Caller, ownerOf } from '../http/caller.ts';
import type { PathParameter } from '../http/path-parameter.ts';
import type { Random } from '../ids.ts';
import { optional } from '../optional.ts';
import { described, integer, iso, request, resource, timestamp, type Violation, wholeNumber } from '../schema.ts';
import { ENVIRONMENTS, type Space } from '../space.ts';
import { reaches } from './access.ts';
import { DocumentKey } from './document.ts';

/** The maximum lease in seconds, which is the maximum delay of a queue. */
export const MAX_LEASE_SECONDS = 900;
export const MIN_LEASE_SECONDS = 10;
const DEFAULT_LEASE_SECONDS = 300;

export const ConnectionId = v.pipe(v.string('must be a string'), v.regex(/^[A-Za-z0-9_-]{1,64}$/));

export const connectionParameter: PathParameter = {
  resource: 'connection',
  schema: ConnectionId,
  description: 'An id of your choice: 1 to 64 of `A-Z a-z 0-9 _ -`.',
  example: 'laptop-1',
};

/** The prefix of stored ids of connections that credentials without `write` opened. Ids of callers do not contain `#`. */
const READERS = 'read#';

/**
 * The stored id of a connection. Credentials without `write` have a separate namespace, because a public token must not take the
 * connection ids of others.
 */
export const storedConnectionId = (id: string, mayWrite: boolean): string => (mayWrite ? id : READERS + id);
const publicIdOf = (storedId: string): string => storedId.replace(READERS, '');

/** Identifies a replica. Any printable text. */
export const NodeId = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(64, 'must have at most 64 characters'),
  v.regex(/^[\x20-\x7e]*$/, 'must be printable ASCII'),
);

export const RenewConnection = request('RenewConnection', {
  node_id: described(NodeId, MEANINGS.nodeId),
  document_key: optional(
    described(
      DocumentKey,
      'The document that the connection is for. `connection.lost` contains it. A renewal without it removes it.',
    ),
  ),
  user: optional(
    described(
      User,
      'The user who is connected, in your terms. `connection.lost` contains it. A renewal without it removes it. If the token has a `user`, omit it or send the same one, because the connection always has that of the token.',
    ),
  ),
  lease_seconds: v.nullish(
    described(
      integer(MIN_LEASE_SECONDS, MAX_LEASE_SECONDS),
      'Seconds after which the connection is lost unless it is renewed.',
    ),
    DEFAULT_LEASE_SECONDS,
  ),
});

export const ConnectionResource = resource('Connection', {
  connection_id: described(v.string(), 'Identifies the connection.'),
  node_id: described(v.string(), MEANINGS.nodeId),
  document_key: described(v.nullable(v.string()), 'The document that the connection is for.'),
  user: described(v.nullable(v.string()), 'The user who is connected.'),
  lease_seconds: described(wholeNumber(), 'Seconds after which the connection is lost unless it is renewed.'),
  connected_at: described(timestamp, 'When the connection was opened.'),
  last_seen_at: described(timestamp, 'When the lease was last renewed.'),
  expires_at: described(timestamp, 'When the lease expires.'),
});

/** A stored connection. Times are in milliseconds since 1970. */
export interface ConnectionRecord extends Space {
  /** See `storedConnectionId`. */
  id: string;
  /** Who renewed it last. See `ownerOf`. */
  owner: string;
  nodeId: string;
  documentKey?: string | undefined;
  user?: string | undefined;
  leaseSeconds: number;
  connectedAt: number;
  lastSeenAt: number;
  /** When the lease runs out. */
  expiresAt: number;
  /** The time of the pending check. A message for an earlier time is outdated. */
  checkAt: number;
}

/** The message that checks a connection when its lease should have ended. */
export const CheckMessage = v.strictObject({
  connectionId: v.string(),
  projectId: v.string(),
  environment: v.picklist(ENVIRONMENTS),
  /** The `checkAt` of the record that it was sent for. Checks of a copied table have none, so they are never outdated. */
  checkAt: v.optional(v.number()),
});
export type CheckMessage = v.InferOutput<typeof CheckMessage>;

export function connectionResource(record: ConnectionRecord): v.InferOutput<typeof ConnectionResource> {
  return {
    connection_id: publicIdOf(record.id),
    node_id: record.nodeId,
    document_key: record.documentKey ?? null,
    user: record.user ?? null,
    lease_seconds: record.leaseSeconds,
    connected_at: iso(record.connectedAt),
    last_seen_at: iso(record.lastSeenAt),
    expires_at: iso(record.expiresAt),
  };
}

export const isLapsed = ({ expiresAt }: ConnectionRecord, nowMs: number): boolean => nowMs >= expiresAt;

/**
 * The record of a connection that a caller opens, or renews if it is open. One check is pending at a time, and it runs when the
 * lease ends or earlier. After a renewal it schedules another one. `needsCheck`: none is pending that comes in time.
 */
export function renewed(
  open: ConnectionRecord | undefined,
  caller: Caller,
  { id, ...space }: Space & Pick<ConnectionRecord, 'id'>,
  body: v.InferOutput<typeof RenewConnection>,
  now: number,
): { record: ConnectionRecord; needsCheck: boolean } {
  const expiresAt = now + body.lease_seconds * 1000;
  const isExpected = open?.id === id && open.checkAt > now && open.checkAt <= expiresAt;
  const record: ConnectionRecord = {
    ...space,
    id,
    owner: ownerOf(caller),
    nodeId: body.node_id,
    documentKey: body.document_key,
    user: caller.token?.user ?? body.user,
    leaseSeconds: body.lease_seconds,
    connectedAt: open?.connectedAt ?? now,
    lastSeenAt: now,
    expiresAt,
    checkAt: isExpected ? open.checkAt : expiresAt,
  };
  return { record, needsCheck: !isExpected };
}

/** What an event about a lost connection needs. */
type LostConnection = Omit<ConnectionRecord, keyof Space | 'owner' | 'leaseSeconds' | 'checkAt'>;

/** The events about connections of one space, which one transaction stores. */
export const lostEvents = (space: Space, lost: readonly LostConnection[], now: number, random: Random): StoredEvent[] =>
  newEvents(
    { ...space, at: now },
    lost.map((connection) => ({ type: 'connection.lost', data: lostData(connection) })),
    random,
  );

/** `data` of `connection.lost`. */
function lostData({ id, nodeId, documentKey, user, connectedAt, lastSeenAt, expiresAt }: LostConnection) {
  return {
    connection_id: publicIdOf(id),
    node_id: nodeId,
    document_key: documentKey,
    user,
    connected_at: iso(connectedAt),
    last_seen_at: iso(lastSeenAt),
    lost_at: iso(expiresAt),
  };
}

/** The violation of a request for a user other than that of its token. */
export function userViolation({ token }: Caller, user: string | undefined): Violation | undefined {
  const isOther = token?.user !== undefined && user !== undefined && user !== token.user;
  return isOther ? { field: 'user', detail: 'must be the user of the token, or absent' } : undefined;
}

/**
 * Whether a caller can renew or close an open connection. A key can use every connection of its space, and becomes the owner of those
 * that it renews. A token can use the connections of its owner, if it covers their document.
 */
export const mayUse = (caller: Caller, { owner, documentKey }: ConnectionRecord): boolean =>
  caller.token === undefined ||
  (ownerOf(caller) === owner && (documentKey === undefined || reaches(caller, documentKey)));
