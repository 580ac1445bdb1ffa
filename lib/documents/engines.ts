import * as v from 'valibot';
import { User } from '../credentials.ts';
import { MEANINGS } from '../events/types.ts';
import type { PathParameter } from '../http/path-parameter.ts';
import { list } from '../lists.ts';
import { optional } from '../optional.ts';
import { described, integer, iso, named, pathItem, resource, timestamp, wholeNumber } from '../schema.ts';
import { ENVIRONMENTS, type Space } from '../space.ts';
import { ConnectionId, MAX_LEASE_SECONDS, MIN_LEASE_SECONDS, NodeId } from './connections.ts';
import { DocumentKey } from './document.ts';

/*
 * A sync engine keeps one lease for all its connections. A lease has a session, which ends when the lease expires or is closed. Its
 * connections belong to the session, so a later session of the same engine never has connections of an earlier one.
 */

/** The connections that one request opens and closes. */
export const MAX_CHANGES = 500;

export const engineParameter: PathParameter = {
  resource: 'engine',
  schema: ConnectionId,
  description: 'An id of your choice, new for each start of a process: 1 to 64 of `A-Z a-z 0-9 _ -`.',
  example: 'engine-7f3a',
};

const OpenedConnection = v.strictObject({
  id: described(ConnectionId, 'An id of your choice, unique in the engine. `connection.lost` contains it.'),
  node_id: described(NodeId, MEANINGS.nodeId),
  document_key: optional(
    described(DocumentKey, 'The document that the connection is for. `connection.lost` contains it.'),
  ),
  user: optional(described(User, 'The user who is connected, in your terms. `connection.lost` contains it.')),
});

const ClosedConnection = v.strictObject({
  id: described(ConnectionId, 'The id of the connection. An unknown one is ignored.'),
  lost: optional(described(v.boolean('must be a boolean'), '`true` publishes `connection.lost`.')),
});

/** The largest request is bounded, and no list has an id twice. */
const hasValidChanges = <Changes extends { opened: { id: string }[]; closed: { id: string }[] }>() =>
  v.rawCheck<Changes>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value } = dataset;
    const [longer, other] =
      value.opened.length > value.closed.length ? (['opened', 'closed'] as const) : (['closed', 'opened'] as const);
    if (value.opened.length + value.closed.length > MAX_CHANGES)
      addIssue({
        message: `must have at most ${MAX_CHANGES} entries together with ${other}`,
        path: [pathItem(value, longer)],
      });
    for (const member of ['opened', 'closed'] as const)
      if (new Set(value[member].map(({ id }) => id)).size < value[member].length)
        addIssue({ message: 'must have each id once', path: [pathItem(value, member)] });
  });

export const RenewEngine = named(
  'RenewEngine',
  v.pipe(
    v.strictObject({
      lease_seconds: described(
        integer(MIN_LEASE_SECONDS, MAX_LEASE_SECONDS),
        'Seconds after which all connections of the engine are lost unless the lease is renewed.',
      ),
      opened: v.nullish(
        described(
          list(OpenedConnection, 0, MAX_CHANGES),
          'The connections that opened since the last request. A repetition changes nothing.',
        ),
        [],
      ),
      closed: v.nullish(
        described(
          list(ClosedConnection, 0, MAX_CHANGES),
          'The connections that closed since the last request. A connection in both lists opens and then closes.',
        ),
        [],
      ),
    }),
    hasValidChanges(),
  ),
);

/** The changes of connections in one request. */
export type EngineChanges = Pick<v.InferOutput<typeof RenewEngine>, 'opened' | 'closed'>;

/** Whether changes publish events. Each connection that is opened can be lost. */
export const causesEvents = ({ opened, closed }: EngineChanges): boolean =>
  opened.length > 0 || closed.some(({ lost }) => lost);

/** The changes that the budget of deliveries does not limit. Renewals are not limited either, so that no healthy lease ends. */
export const withoutEvents = ({ closed }: EngineChanges): EngineChanges => ({
  opened: [],
  closed: closed.filter(({ lost }) => !lost),
});

export const EngineResource = resource('Engine', {
  engine_id: described(v.string(), 'Identifies the engine.'),
  lease_seconds: described(wholeNumber(), 'Seconds after which all connections are lost unless the lease is renewed.'),
  opened_at: described(
    timestamp,
    'When the lease was opened. If it differs from the last response, that lease has expired and its connections are lost. Open those that are still there again.',
  ),
  last_seen_at: described(timestamp, 'When the lease was last renewed.'),
  expires_at: described(timestamp, 'When the lease expires.'),
});

/** A stored lease of an engine. Times are in milliseconds since 1970. */
export interface EngineRecord extends Space {
  id: string;
  session: string;
  leaseSeconds: number;
  openedAt: number;
  lastSeenAt: number;
  expiresAt: number;
  /** The time of the pending check. A message for an earlier time is outdated. */
  checkAt: number;
  /** The request that is changing connections. Changes of one engine follow each other, so an old request undoes no newer one. */
  changeId?: string | undefined;
  /** When that request has ended in any case, because no function runs longer. */
  changingUntil?: number | undefined;
  /** How the session ended. `lost`: its connections are reported. */
  ended?: 'lost' | 'closed' | undefined;
  /** The removal of its connections is queued, so a repetition does not queue it again. */
  isSwept?: boolean | undefined;
}

/** An open connection of an engine. */
export interface EngineConnection {
  id: string;
  nodeId: string;
  documentKey?: string | undefined;
  user?: string | undefined;
  connectedAt: number;
}

const ofEngine = {
  engineId: v.string(),
  session: v.string(),
  projectId: v.string(),
  environment: v.picklist(ENVIRONMENTS),
};

/** The message that checks a lease when it should have ended. Without `checkAt`, it is never outdated. */
export const EngineCheck = v.strictObject({ ...ofEngine, checkAt: v.optional(v.number()) });
export type EngineCheck = v.InferOutput<typeof EngineCheck>;

/** The message that removes the connections of an ended session from one partition. With `lost`, it publishes their events. */
export const EngineSweep = v.strictObject({
  ...ofEngine,
  partition: v.string(),
  /** How often the table was throttled. */
  tries: v.optional(v.number()),
  lost: v.optional(v.strictObject({ lastSeenAt: v.number(), lostAt: v.number() })),
});
export type EngineSweep = v.InferOutput<typeof EngineSweep>;

export const engineResource = (record: EngineRecord): v.InferOutput<typeof EngineResource> => ({
  engine_id: record.id,
  lease_seconds: record.leaseSeconds,
  opened_at: iso(record.openedAt),
  last_seen_at: iso(record.lastSeenAt),
  expires_at: iso(record.expiresAt),
});

/** Whether a session is over: it was ended, or its lease has expired. */
export const isOver = ({ ended, expiresAt }: EngineRecord, nowMs: number): boolean =>
  ended !== undefined || nowMs >= expiresAt;

/** Whether another request is changing the connections of an engine. */
export const isChanging = ({ changeId, changingUntil = 0 }: EngineRecord, nowMs: number): boolean =>
  changeId !== undefined && nowMs < changingUntil;

/** The lease after a renewal. Without `open`, it is a new session. */
export const renewedLease = (
  open: EngineRecord | undefined,
  lease: Space & Pick<EngineRecord, 'id' | 'session' | 'leaseSeconds'>,
  nowMs: number,
): EngineRecord => {
  const expiresAt = nowMs + lease.leaseSeconds * 1000;
  const isExpected = open !== undefined && open.checkAt > nowMs && open.checkAt <= expiresAt;
  const checkAt = isExpected ? open.checkAt : expiresAt;
  return {
    openedAt: nowMs,
    ...lease,
    ...open,
    leaseSeconds: lease.leaseSeconds,
    lastSeenAt: nowMs,
    expiresAt,
    checkAt,
  };
};
