import { all, type Condition, initially, is, isNew, isStill, put, remove, update } from '../aws/expressions.ts';
import { enginePartitions, type Item, itemKey, timeToLive } from '../aws/items.ts';
import { rangeQuery } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import { allDone } from '../concurrency.ts';
import { putEvents } from '../events/store.ts';
import type { Random } from '../ids.ts';
import type { Space } from '../space.ts';
import type { checkQueue } from './connection-store.ts';
import { lostEvents } from './connections.ts';
import type { EngineConnection, EngineRecord, EngineSweep } from './engines.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The table deletes the lease of an ended session after a day. */
const LEASE_KEPT_MS = DAY_MS;
/** The longest life of a connection, so that nothing stays forever. */
export const CONNECTION_KEPT_MS = 90 * DAY_MS;

/** Connections of one transaction, which has at most 100 writes (DynamoDB quotas). */
const BATCH = 50;
/** Connections that are read together. */
const PAGE = 250;
/** After this time, no function of an ended session runs anymore. The connections that it opened late are removed then. */
const LATE_SECONDS = 60;

/** A session of an engine. */
type Session = Space & Pick<EngineRecord, 'session'> & { engineId: string };
/** When a session was last seen, and when it was lost. */
type Loss = NonNullable<EngineSweep['lost']>;

const keyOf = ({ engineId, session, ...space }: Session, id: string) =>
  itemKey.engineConnection(space, engineId, session, id);

const toConnection = ({ sk, nodeId, documentKey, user, connectedAt }: Item): EngineConnection =>
  ({ id: String(sk).split('#')[2], nodeId, documentKey, user, connectedAt }) as EngineConnection;

/** The stored leases of engines and their connections. */
export function engines(table: Table) {
  // The record that was read must be unchanged, so one of two concurrent writers succeeds.
  const isUnchanged = ({ session, lastSeenAt, expiresAt, changeId, ended }: EngineRecord): Condition =>
    all(
      is('session', session),
      is('lastSeenAt', lastSeenAt),
      is('expiresAt', expiresAt),
      isStill('changeId', changeId),
      isStill('ended', ended),
    );

  async function remaining(session: Session, ids: readonly string[]): Promise<EngineConnection[]> {
    const items = await table.batchGet(ids.map((id) => keyOf(session, id)));
    return items.flatMap((item) => (item ? [toConnection(item)] : []));
  }

  return {
    async get(space: Space, id: string): Promise<EngineRecord | undefined> {
      return (await table.get(itemKey.engine(space, id))) as EngineRecord | undefined;
    },

    /** Replaces the lease that was read. `false` if it has changed. */
    async put(before: EngineRecord | undefined, record: EngineRecord): Promise<boolean> {
      const expires = timeToLive(record.expiresAt + LEASE_KEPT_MS);
      const item = { ...itemKey.engine(record, record.id), ...record, expires };
      return (await table.write([put(item, before ? isUnchanged(before) : isNew)])).length === 0;
    },

    /** Lets the next request change connections. */
    async release(space: Space, id: string, changeId: string): Promise<void> {
      const values = { changeId: undefined, changingUntil: undefined };
      await table.write([update(itemKey.engine(space, id), values, is('changeId', changeId))]);
    },

    /** Opens connections. A connection that is open stays the same. Each one costs a write of its own, which is half of a transaction. */
    open: (session: Session, opened: readonly Omit<EngineConnection, 'connectedAt'>[], nowMs: number): Promise<void> =>
      allDone(
        opened.map(({ id, ...members }) => {
          const since = { connectedAt: initially(nowMs), expires: timeToLive(nowMs + CONNECTION_KEPT_MS) };
          return table.write([update(keyOf(session, id), { ...members, ...since })]);
        }),
      ),

    /** Closes connections without events. */
    close: (session: Session, ids: readonly string[]): Promise<void> =>
      table.removeAll(ids.map((id) => keyOf(session, id))),

    /** The connections among these that are open. */
    remaining,

    /** Some connections of a session in one partition, and whether they are the last ones. */
    async inPartition(
      session: Session,
      partition: string,
    ): Promise<{ connections: EngineConnection[]; isLast: boolean }> {
      const prefix = `${session.engineId}#${session.session}#`;
      const query = rangeQuery(partition, { first: prefix, last: `${prefix}~` });
      const { items, next } = await table.query({ ...query, Limit: PAGE });
      return { connections: items.map(toConnection), isLast: next === undefined };
    },

    /**
     * Removes connections and publishes their events. One transaction has both, so a connection is lost at most once. The transactions
     * follow each other, because the events of one document have one partition, and lists have one entry for each transaction.
     */
    async lose(
      session: Session,
      lost: readonly EngineConnection[],
      loss: Loss,
      nowMs: number,
      random: Random,
    ): Promise<void> {
      const { lastSeenAt, lostAt: expiresAt } = loss;
      for (let rest = lost; rest.length > 0; ) {
        const batch = rest.slice(0, BATCH);
        const removals = batch.map(({ id, connectedAt }) => remove(keyOf(session, id), is('connectedAt', connectedAt)));
        const ofBatch = batch.map((connection) => ({ ...connection, lastSeenAt, expiresAt }));
        const rejected = await table.write([...removals, ...putEvents(lostEvents(session, ofBatch, nowMs, random))]);
        // A connection that has gone since it was read fails the transaction, which is repeated with the others.
        const gone = new Set(rejected.map(({ index }) => index));
        rest = rejected.length === 0 ? rest.slice(BATCH) : rest.filter((_, i) => !gone.has(i));
      }
    },
  };
}

/**
 * Ends a session: marks it, and then queues the removal of its connections. A run that stops in between is repeated by any run that
 * finds the mark. `false` if the lease has changed since it was read.
 */
export function endingOf(table: Table, send: ReturnType<typeof checkQueue>) {
  const { put } = engines(table);
  return async (record: EngineRecord, how: 'lost' | 'closed'): Promise<boolean> => {
    if (record.isSwept) return true;
    const { id: engineId, projectId, environment, session, lastSeenAt, expiresAt: lostAt } = record;
    const marked = { ...record, ended: record.ended ?? how };
    if (!record.ended && !(await put(record, marked))) return false;
    const lost = marked.ended === 'lost' ? { lastSeenAt, lostAt } : undefined;
    const place = { engineId, session, projectId, environment, lost };
    const sweeps = enginePartitions(place).map((partition): EngineSweep => ({ ...place, partition }));
    await allDone([0, LATE_SECONDS].flatMap((delay) => sweeps.map((sweep) => send(sweep, delay))));
    await put(marked, { ...marked, isSwept: true });
    return true;
  };
}
