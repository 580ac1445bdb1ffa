import { isBelow } from '../aws/conditions.ts';
import { update, withoutFirst } from '../aws/expressions.ts';
import { type Item, type ItemKey, itemKey, statusIndexEntry, timeToLive } from '../aws/items.ts';
import { newestOf } from '../aws/merged.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { EVENT_RETENTION_MS } from '../events/event.ts';
import { countByStatus, idsByStatus, logQueries, RECOVERED_STATUSES } from './query-store.ts';
import { type DeliveryFilter, type DeliveryRecord, isRecoverable } from './record.ts';
import type { RecoveryPosition, RecoveryWindow } from './recovery.ts';
import type { DeliveryStatus } from './statuses.ts';

/** The members of the key are not stored twice, because each byte is billed for 30 days. */
export function toDelivery(item: Item): DeliveryRecord {
  const [, webhookId] = String(item.pk).split('#');
  return { ...item, webhookId, eventId: item.sk } as unknown as DeliveryRecord;
}

/** The attempts of earlier runs that remain in the record after a new run. */
const KEPT_ATTEMPTS = 24;

const startOf = (status: DeliveryStatus | undefined): RecoveryPosition | undefined => status && { status };

export interface DeliveryPage {
  deliveries: DeliveryRecord[];
  next: string | undefined;
}

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

    ofWebhook,

    async list(
      webhookId: string,
      { limit, after, ...filter }: DeliveryFilter & { limit: number; after?: string | undefined },
    ): Promise<DeliveryPage> {
      const { status } = filter;
      if (status !== undefined && status !== 'succeeded') {
        const { ids, next } = await idsByStatus(table, { webhookId, status, ...filter }, limit, after);
        const items = await ofWebhook(webhookId, ids); // the current records, because the index can be late
        return { deliveries: items.filter((delivery) => delivery.status === status), next };
      }
      const { items, next } = await newestOf(table, logQueries(webhookId, filter), { limit, after });
      return { deliveries: items.map(toDelivery), next };
    },

    async recoverable(
      webhookId: string,
      { from, limit, ...window }: RecoveryWindow & { limit: number; from?: RecoveryPosition | undefined },
    ): Promise<{ deliveries: DeliveryRecord[]; next: RecoveryPosition | undefined }> {
      let position = from ?? startOf(RECOVERED_STATUSES[0]);
      while (position) {
        const { status, after }: RecoveryPosition = position;
        const { ids, next } = await idsByStatus(table, { webhookId, status, ...window }, limit, after);
        const isLastPage = next === undefined;
        position = isLastPage
          ? startOf(RECOVERED_STATUSES[RECOVERED_STATUSES.indexOf(status) + 1])
          : { status, after: next };
        if (isLastPage && ids.length === 0) continue;
        const found = await ofWebhook(webhookId, ids);
        const deliveries = found.filter((delivery) => isRecoverable(delivery, window.stuckBefore));
        return { deliveries, next: position };
      }
      return { deliveries: [], next: undefined };
    },

    async countRecoverable(webhookId: string, window: RecoveryWindow): Promise<number> {
      const counts = RECOVERED_STATUSES.map((status) => countByStatus(table, { webhookId, status, ...window }));
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    },

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

  /** Reads the deliveries of several events to one webhook, in order. */
  function ofWebhook(webhookId: string, eventIds: readonly string[]): Promise<DeliveryRecord[]> {
    return read(eventIds.map((id) => itemKey.delivery(webhookId, id)));
  }

  async function read(keys: ItemKey[]): Promise<DeliveryRecord[]> {
    return (await table.batchGet(keys)).flatMap((item) => (item ? [toDelivery(item)] : []));
  }
}
