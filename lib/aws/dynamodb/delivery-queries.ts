import type { DeliveryFilter } from '../../delivery/record.ts';
import { type DeliveryStatus, isUnderWay, UNDELIVERED, UNDER_WAY } from '../../delivery/schedule.ts';
import { BY_STATUS } from '../../deployment.ts';
import { type Condition, is, isAbsent, isAtLeast, isBelow } from './conditions.ts';
import { itemKey, statusIndexEntry } from './items.ts';
import { FILTERED_ITEMS, idRange, rangeQuery } from './queries.ts';
import type { Query, Table } from './table.ts';

/** In which a recovery looks: those that ended, and the stuck among those under way. */
export const RECOVERED_STATUSES: readonly DeliveryStatus[] = [...UNDELIVERED, ...UNDER_WAY];

/** Pages of 1 MB, some 5,000 entries each, that are read to count. */
const COUNTED_PAGES = 32;

/** Which entries of the index by status. */
export interface IndexFilter extends DeliveryFilter {
  webhookId: string;
  status: DeliveryStatus;
  /** Only what a recovery sends again: no tests, and of those under way only the ones that were due before. */
  stuckBefore?: number | undefined;
  /** Of those that ended, only the ones that did so then or later. */
  endedSince?: number | undefined;
}

/** The log of a webhook, newest first; `null` if the window is empty. */
export function logQuery(webhookId: string, { status, type, ...window }: DeliveryFilter): Query | null {
  const range = idRange('evt', window);
  const wanted = [
    ...(status === undefined ? [] : [is('status', status)]),
    ...(type === undefined ? [] : [is('eventType', type)]),
  ];
  const { pk } = itemKey.delivery(webhookId, '');
  return range && { ...rangeQuery({ pk }, range, wanted), ScanIndexForward: false };
}

/** The ids of the events of up to `limit` deliveries with a status, newest first. Each request reads 8,000 entries at most. */
export async function idsByStatus(
  table: Table,
  filter: IndexFilter,
  limit: number,
  after: string | undefined,
): Promise<{ ids: string[]; next: string | undefined }> {
  const query = statusQuery(filter);
  if (!query) return { ids: [], next: undefined };
  const { webhookId, status } = filter;
  const position = after && { ...itemKey.delivery(webhookId, after), ...statusIndexEntry(webhookId, status) };
  const Limit = query.FilterExpression ? FILTERED_ITEMS : limit;
  const { items, next } = await table.queryPages({ ...query, Limit, after: position || undefined }, limit);
  return { ids: items.map(({ sk }) => String(sk)), next: next?.sk };
}

/** How many there are; exact until it has read 32 MB of the index, then at least. */
export async function countByStatus(table: Table, filter: IndexFilter): Promise<number> {
  const query = statusQuery(filter);
  let count = 0;
  let after: object | undefined;
  for (let pages = 0; query && pages < COUNTED_PAGES; pages++) {
    const page = await table.query({ ...query, after, Select: 'COUNT' });
    count += page.count;
    after = page.next;
    if (after === undefined) break;
  }
  return count;
}

function statusQuery({ webhookId, status, type, stuckBefore, endedSince, ...window }: IndexFilter): Query | null {
  const range = idRange('evt', window);
  const { byStatus } = statusIndexEntry(webhookId, status);
  const wanted: Condition[] = type === undefined ? [] : [is('eventType', type)];
  if (stuckBefore !== undefined) {
    wanted.push(isAbsent('test'));
    if (isUnderWay(status)) wanted.push(isBelow('nextAttemptAt', stuckBefore));
    else if (endedSince !== undefined) wanted.push(isAtLeast('endedAt', endedSince));
  }
  return range && { IndexName: BY_STATUS, ...rangeQuery({ byStatus }, range, wanted), ScanIndexForward: false };
}
