import type { DeliveryFilter, DeliveryRecord } from '../../delivery/record.ts';
import { EVENT_RETENTION_MS } from '../../events/events.ts';
import { earliestId } from '../../ids.ts';
import type { TransactionPart } from '../../transaction.ts';
import { isBelow } from './conditions.ts';
import { update, withoutFirst } from './expressions.ts';
import { type Item, itemKey, timeToLive } from './items.ts';
import type { Table } from './table.ts';

export const toDelivery = (item: Item): DeliveryRecord => item as unknown as DeliveryRecord;

/** Attempts of earlier runs that a new run leaves in the record. */
const KEPT_ATTEMPTS = 24;

/** Items that one query reads where a filter may leave out most of them. */
const FILTERED_ITEMS = 1000;

/** Pages of 1 MB that are read to count. */
const COUNTED_PAGES = 32;

/** The delivery logs of webhooks, newest first. */
export function deliveryLog(table: Table) {
  return {
    async get(webhookId: string, eventId: string): Promise<DeliveryRecord | undefined> {
      const item = await table.get(itemKey.delivery(webhookId, eventId));
      return item && toDelivery(item);
    },

    async list(
      webhookId: string,
      { limit, after, ...filter }: DeliveryFilter & { limit: number; after?: string | undefined },
    ): Promise<{ deliveries: DeliveryRecord[]; next: string | undefined }> {
      const query = queryOf(webhookId, filter);
      if (!query) return { deliveries: [], next: undefined };
      const position = after === undefined ? undefined : itemKey.delivery(webhookId, after);
      const Limit = filter.statuses ? FILTERED_ITEMS : limit;
      const { items, next } = await table.queryPages({ ...query, Limit, after: position }, limit);
      return { deliveries: items.map(toDelivery), next: next?.sk };
    },

    async count(webhookId: string, filter: DeliveryFilter): Promise<number> {
      const query = queryOf(webhookId, filter);
      let count = 0;
      let after: object | undefined;
      for (let pages = 0; query && pages < COUNTED_PAGES; pages++) {
        const page = await table.query({ ...query, after, Select: 'COUNT' });
        count += page.count;
        after = page.next;
        if (after === undefined) break;
      }
      return count;
    },

    async startRun(
      { webhookId, eventId, attempts }: DeliveryRecord,
      run: number,
      nowMs: number,
      also: readonly TransactionPart[] = [],
    ): Promise<void> {
      const surplus = attempts.length - KEPT_ATTEMPTS;
      const values = {
        run,
        attempt: 0,
        status: 'retrying',
        nextAttemptAt: nowMs,
        retryPending: undefined,
        expires: timeToLive(nowMs + EVENT_RETENTION_MS),
        ...(surplus > 0 && { attempts: withoutFirst(surplus) }),
      };
      const start = update(itemKey.delivery(webhookId, eventId), values, isBelow('run', run));
      const rejected = await table.write([start, ...also]);
      if (rejected.length > 0 && also.length > 0) await table.write(also); // started by an earlier run of the request
    },
  };
}

/** `null` if the window is empty. */
function queryOf(webhookId: string, { since = 0, until, statuses, stuckBefore }: DeliveryFilter) {
  const first = earliestId('evt', since);
  const last = until === undefined ? 'evt_~' : earliestId('evt', until);
  if (first > last) return null; // DynamoDB refuses a range from its end to its beginning
  const names = statuses?.map((_, i) => `:status${i}`).join(', ');
  const isStuck = '#status = :retrying AND nextAttemptAt < :stuckBefore';
  return {
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
    ExpressionAttributeValues: {
      ':pk': itemKey.delivery(webhookId, '').pk,
      ':first': first,
      ':last': last,
      ...Object.fromEntries((statuses ?? []).map((value, i) => [`:status${i}`, value])),
      ...(stuckBefore !== undefined && { ':stuckBefore': stuckBefore, ':retrying': 'retrying' }),
    },
    ...(names && {
      FilterExpression: `#status IN (${names})${stuckBefore === undefined ? '' : ` OR (${isStuck})`}`,
      ExpressionAttributeNames: { '#status': 'status' },
    }),
    ScanIndexForward: false,
  };
}
