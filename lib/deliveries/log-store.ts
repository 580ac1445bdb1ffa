import { areAsGiven, isAbsent, isAtLeast, isBelow, update, withoutFirst } from '../aws/expressions.ts';
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
import type { EventType } from '../events/types.ts';
import type { RecoveryPosition } from './messages.ts';
import { type DeliveryRecord, KEPT_ATTEMPTS } from './record.ts';
import { isRecoverable, RECOVERED_STATUSES, type RecoveryWindow } from './recovery.ts';
import { type DeliveryStatus, isUnderWay } from './retry-schedule.ts';

/** The members of the key are not stored twice, because each byte is billed for 30 days. */
export function toDelivery(item: Item): DeliveryRecord {
  const [, webhookId] = String(item.pk).split('#');
  return { ...item, webhookId, eventId: item.sk } as unknown as DeliveryRecord;
}

const startOf = (status: DeliveryStatus | undefined): RecoveryPosition | undefined => status && { status };

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

    /** Returns up to `limit` deliveries. `next` is the position of the next page, if there is one. */
    async recoverable(
      webhookId: string,
      { from, limit, ...window }: RecoveryWindow & { limit: number; from?: RecoveryPosition | undefined },
    ): Promise<{ deliveries: DeliveryRecord[]; next: RecoveryPosition | undefined }> {
      let position = from ?? startOf(RECOVERED_STATUSES[0]);
      while (position) {
        const { status }: RecoveryPosition = position;
        const { deliveries, next } = await list(webhookId, { ...window, ...position, limit });
        position =
          next === undefined
            ? startOf(RECOVERED_STATUSES[RECOVERED_STATUSES.indexOf(status) + 1])
            : { status, after: next };
        if (deliveries.length > 0 || next !== undefined) return { deliveries, next: position };
      }
      return { deliveries: [], next: undefined };
    },

    /** Counts the deliveries of a recovery. The count is exact up to 32 MB of the index per status, and a lower bound beyond that. */
    async countRecoverable(webhookId: string, window: RecoveryWindow): Promise<number> {
      const queries = RECOVERED_STATUSES.flatMap((status) => logQueries(webhookId, { status, ...window }));
      const pages = queries.map(({ query }) => table.queryPages({ ...query, Select: 'COUNT' }, COUNTED_PAGES));
      return (await Promise.all(pages)).reduce((sum, { count }) => sum + count, 0);
    },

    /** Starts a new run together with `also`. Its attempts can be recorded first. The latest earlier attempts are kept. */
    async startRun(
      { webhookId, eventId, attempts }: DeliveryRecord,
      run: number,
      nowMs: number,
      also: readonly Write[] = [],
    ): Promise<void> {
      const surplus = attempts.length - KEPT_ATTEMPTS;
      const values = {
        run,
        attempt: 0,
        status: 'pending',
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
    const { status, stuckBefore } = filter;
    if (!indexed(status)) return { deliveries: items.map(toDelivery), next };
    const ids = items.map(({ sk }) => String(sk));
    const current = await ofWebhook(webhookId, ids); // because the index can be late
    const isListed = (delivery: DeliveryRecord): boolean =>
      stuckBefore === undefined ? delivery.status === status : isRecoverable(delivery, stuckBefore);
    return { deliveries: current.filter(isListed), next };
  }

  function ofWebhook(webhookId: string, eventIds: readonly string[]): Promise<DeliveryRecord[]> {
    return read(eventIds.map((id) => itemKey.delivery(webhookId, id)));
  }

  async function read(keys: ItemKey[]): Promise<DeliveryRecord[]> {
    return (await table.batchGet(keys)).flatMap((item) => (item ? [toDelivery(item)] : []));
  }
}

/** The maximum pages of 1 MB per partition for a count. Each has about 5,000 entries. */
const COUNTED_PAGES = 2;

/** Which deliveries of a webhook. The last two members are only for a recovery of one status. */
export interface LogFilter {
  /** Only deliveries of events at this time or later, and before `until`. */
  since?: number | undefined;
  until?: number | undefined;
  status?: DeliveryStatus | undefined;
  type?: EventType | undefined;
  /** Only recoverable deliveries: no tests, and those in progress only if they were due before this time. */
  stuckBefore?: number;
  /** Only deliveries that ended at this time or later. */
  endedSince?: number | undefined;
}

/** The status for which deliveries are read from the index, which does not contain those that succeeded. */
const indexed = (status: DeliveryStatus | undefined) => (status === 'succeeded' ? undefined : status);

/** The queries of the partitions of a log or of the index, eventually consistent at half the price. An empty window has none. */
function logQueries(webhookId: string, { status, type, stuckBefore, endedSince, ...window }: LogFilter) {
  const ofIndex = indexed(status);
  const filters = areAsGiven({ eventType: type, status: ofIndex ? undefined : status });
  if (ofIndex && stuckBefore !== undefined) {
    filters.push(isAbsent('test'));
    if (isUnderWay(ofIndex)) filters.push(isBelow('nextAttemptAt', stuckBefore));
    else if (endedSince !== undefined) filters.push(isAtLeast('endedAt', endedSince));
  }
  const keysOf = logPartitions().map((partition) => {
    const byStatus = ofIndex && statusPartition(webhookId, partition, ofIndex);
    return (id: string) => ({ ...itemKey.deliveryIn(webhookId, partition, id), ...(byStatus && { byStatus }) });
  });
  return idQueries('evt', window, keysOf, filters, { ConsistentRead: false });
}
