import { isAbsent, isAtLeast, isBelow, isOneOf, update, withoutFirst } from '../aws/expressions.ts';
import {
  type Item,
  type ItemKey,
  itemKey,
  logPartitions,
  statusIndexEntry,
  statusPartition,
  timeToLive,
} from '../aws/items.ts';
import { idQueries, newestOf } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { EVENT_RETENTION_MS } from '../events/event.ts';
import { type DeliveryRecord, type RunId, surplusOf } from './record.ts';
import type { RecoveryPosition } from './recovery-record.ts';
import { isRecoverable, RECOVERED_STATUSES, type RecoveryWindow } from './recovery-window.ts';
import { type DeliveryStatus, isUnderWay } from './retry-schedule.ts';

/** The members of the key are not stored twice, because each byte is billed for 30 days. */
export function toDelivery(item: Item): DeliveryRecord {
  const [, webhookId] = String(item.pk).split('#');
  return { ...item, webhookId, eventId: item.sk } as unknown as DeliveryRecord;
}

const startOf = (status: DeliveryStatus | undefined): RecoveryPosition | undefined => status && { status };

export type DeliveryLog = ReturnType<typeof deliveryLog>;

/** The delivery logs of webhooks, newest first. */
export function deliveryLog(table: Table) {
  return {
    async get(webhookId: string, eventId: string): Promise<DeliveryRecord | undefined> {
      const item = await table.get(itemKey.delivery(webhookId, eventId));
      return item && toDelivery(item);
    },

    /** Reads the deliveries of one event by webhook. */
    async ofEvent(eventId: string, webhookIds: readonly string[]): Promise<Map<string, DeliveryRecord>> {
      const items = await read(webhookIds.map((id) => itemKey.delivery(id, eventId)));
      return new Map(items.map((delivery) => [delivery.webhookId, delivery]));
    },

    /** Reads the deliveries of several events to one webhook, in order. */
    ofWebhook,

    list,

    /** Returns up to `limit` deliveries of a window. `next` is the position of the next page, if there is one. */
    async recoverable(
      webhookId: string,
      window: RecoverableWindow,
      { from, limit }: { from?: RecoveryPosition | undefined; limit: number },
    ): Promise<{ deliveries: DeliveryRecord[]; next: RecoveryPosition | undefined }> {
      let position = from ?? startOf(RECOVERED_STATUSES[0]);
      while (position) {
        const { status }: RecoveryPosition = position;
        const { deliveries, next } = await list(webhookId, {
          ...window,
          statuses: [status],
          after: position.after,
          limit,
        });
        position =
          next === undefined
            ? startOf(RECOVERED_STATUSES[RECOVERED_STATUSES.indexOf(status) + 1])
            : { status, after: next };
        if (deliveries.length > 0 || next !== undefined) return { deliveries, next: position };
      }
      return { deliveries: [], next: undefined };
    },

    /**
     * Counts the deliveries of a window. The count is a lower bound if it is above 10,000, or if more deliveries of one status are
     * undelivered in that time. It reads at most one page for each partition and status, and the newest deliveries first.
     */
    async countRecoverable(webhookId: string, window: RecoverableWindow): Promise<number> {
      let sum = 0;
      for (const status of RECOVERED_STATUSES) {
        const newest = { Select: 'COUNT', Limit: COUNTED_OF_PARTITION, ScanIndexForward: false } as const;
        const queries = logQueries(webhookId, { statuses: [status], ...window }).map(({ query }) => query);
        const pages = await Promise.all(queries.map((query) => table.query({ ...query, ...newest })));
        sum += pages.reduce((total, { count }) => total + count, 0);
        if (sum > COUNTED) break;
      }
      return sum;
    },

    /** Starts a new run together with `also`. Its attempts can be recorded first. The latest earlier attempts are kept. */
    async startRun(
      delivery: DeliveryRecord,
      { run, recovery }: Pick<RunId, 'run' | 'recovery'>,
      nowMs: number,
      also: readonly Write[] = [],
    ): Promise<void> {
      const { webhookId, eventId } = delivery;
      const surplus = surplusOf(delivery);
      const values = {
        run,
        recovery,
        attempt: 0,
        status: 'pending',
        reason: undefined,
        ...statusIndexEntry(webhookId, eventId, 'pending'),
        nextAttemptAt: nowMs,
        retryPending: undefined,
        endedAt: undefined,
        expires: timeToLive(nowMs + EVENT_RETENTION_MS),
        ...(surplus > 0 && { attempts: withoutFirst(surplus) }),
      };
      const start = update(itemKey.delivery(webhookId, eventId), values, isBelow('run', run));
      const rejected = await table.write([start, ...also]);
      if (rejected.length > 0 && also.length > 0) await table.write(also); // started by an earlier run of the request
    },
  };

  /** Lists newest first with limited reads, so a filtered page can be short or empty before the end. */
  async function list(
    webhookId: string,
    { limit, after, ...filter }: LogFilter & { limit: number; after?: string | undefined },
  ): Promise<{ deliveries: DeliveryRecord[]; next: string | undefined }> {
    const { items, next } = await newestOf(table, logQueries(webhookId, filter), { limit, after });
    const { statuses, stuckBefore, recoveryId } = filter;
    if (!indexed(statuses)) return { deliveries: items.map(toDelivery), next };
    const ids = [...new Set(items.map(({ sk }) => String(sk)))]; // the index can have an entry for each of two statuses
    const current = await ofWebhook(webhookId, ids); // because the index can be late
    const isListed = (delivery: DeliveryRecord): boolean =>
      stuckBefore === undefined
        ? statuses?.includes(delivery.status) === true
        : isRecoverable(delivery, { stuckBefore, recoveryId });
    return { deliveries: current.filter(isListed), next };
  }

  function ofWebhook(webhookId: string, eventIds: readonly string[]): Promise<DeliveryRecord[]> {
    return read(eventIds.map((id) => itemKey.delivery(webhookId, id)));
  }

  async function read(keys: ItemKey[]): Promise<DeliveryRecord[]> {
    return (await table.batchGet(keys)).flatMap((item) => (item ? [toDelivery(item)] : []));
  }
}

/** A count is exact up to this number of deliveries of each status. */
const COUNTED = 10_000;
/** The entries that a count reads of a partition. Hashing spreads 10,000 deliveries evenly enough, by five standard deviations. */
const COUNTED_OF_PARTITION = 750;

/** The deliveries that a recovery redelivers. */
export interface RecoverableWindow extends RecoveryWindow {
  /** Those in progress are included only if they were due before this time. */
  stuckBefore: number;
  /** The recovery. Without it, the deliveries that it started are included. */
  recoveryId?: string | undefined;
}

/** Which deliveries of a webhook. With `stuckBefore`, only those that a recovery redelivers. */
export interface LogFilter extends Partial<RecoverableWindow> {
  statuses?: readonly DeliveryStatus[] | undefined;
}

/** The statuses for which deliveries are read from the index, which does not contain those that succeeded. */
const indexed = (statuses: readonly DeliveryStatus[] | undefined) =>
  statuses?.includes('succeeded') ? undefined : statuses;

/** The queries of the partitions of a log or of the index, eventually consistent at half the price. An empty window has none. */
function logQueries(webhookId: string, filter: LogFilter) {
  const { statuses, stuckBefore, endedSince, types, since, until } = filter;
  const ofIndex = indexed(statuses);
  const ofTypes = types ? [isOneOf('eventType', types)] : [];
  if (!ofIndex) {
    const filters = [...ofTypes, ...(statuses ? [isOneOf('status', statuses)] : [])];
    const keysOf = logPartitions().map((partition) => (id: string) => itemKey.deliveryIn(webhookId, partition, id));
    return idQueries('evt', { since, until }, keysOf, filters, { ConsistentRead: false });
  }
  return ofIndex.flatMap((status) => {
    const filters = [...ofTypes];
    if (stuckBefore !== undefined) {
      filters.push(isAbsent('test'));
      if (isUnderWay(status)) filters.push(isBelow('nextAttemptAt', stuckBefore));
      else if (endedSince !== undefined) filters.push(isAtLeast('endedAt', endedSince));
    }
    const keysOf = logPartitions().map((partition) => {
      const byStatus = statusPartition(webhookId, partition, status);
      return (id: string) => ({ ...itemKey.deliveryIn(webhookId, partition, id), byStatus });
    });
    return idQueries('evt', { since, until }, keysOf, filters, { ConsistentRead: false });
  });
}
