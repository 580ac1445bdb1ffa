import { areAsGiven, isAbsent, isAtLeast, isBelow } from '../aws/conditions.ts';
import { itemKey, statusPartition } from '../aws/items.ts';
import { newestOf, type PartitionQuery } from '../aws/merged.ts';
import { idRange, rangeQuery } from '../aws/queries.ts';
import type { Query, Table } from '../aws/table.ts';
import { BY_STATUS } from '../deployment.ts';
import { logPartitions } from './log-partitions.ts';
import type { DeliveryFilter } from './record.ts';
import { type DeliveryStatus, isUnderWay, UNDELIVERED, UNDER_WAY } from './statuses.ts';

/** The statuses that a recovery reads: ended deliveries, and stuck ones in progress. */
export const RECOVERED_STATUSES: readonly DeliveryStatus[] = [...UNDELIVERED, ...UNDER_WAY];

/** The maximum pages of 1 MB per partition for a count. Each has about 5,000 entries. */
const COUNTED_PAGES = 2;

/** Which entries of the index by status. */
export interface IndexFilter extends DeliveryFilter {
  webhookId: string;
  status: DeliveryStatus;
  /** Only recoverable deliveries: no tests, and those in progress only if they were due before `stuckBefore`. */
  stuckBefore?: number | undefined;
  /** Only deliveries that ended at this time or later. */
  endedSince?: number | undefined;
}

/** The queries of the partitions of a webhook's log, eventually consistent at half the price. An empty window has no queries. */
export function logQueries(webhookId: string, { status, type, ...window }: DeliveryFilter): PartitionQuery[] {
  const range = idRange('evt', window);
  if (!range) return [];
  const filters = areAsGiven({ status, eventType: type });
  return logPartitions().map((partition) => {
    const keyOf = (eventId: string) => itemKey.deliveryIn(webhookId, partition, eventId);
    return { query: { ...rangeQuery({ pk: keyOf('').pk }, range, filters), ConsistentRead: false }, keyOf };
  });
}

/** The ids of the events of up to `limit` deliveries with a status, newest first. */
export async function idsByStatus(
  table: Table,
  filter: IndexFilter,
  limit: number,
  after: string | undefined,
): Promise<{ ids: string[]; next: string | undefined }> {
  const { items, next } = await newestOf(table, statusQueries(filter), { limit, after });
  return { ids: items.map(({ sk }) => String(sk)), next };
}

/** Counts deliveries. The count is exact up to 32 MB of the index, and a lower bound beyond that. */
export async function countByStatus(table: Table, filter: IndexFilter): Promise<number> {
  const counts = statusQueries(filter).map(({ query }) => count(table, query));
  return (await Promise.all(counts)).reduce((sum, some) => sum + some, 0);
}

async function count(table: Table, query: Query): Promise<number> {
  let sum = 0;
  let after: object | undefined;
  for (let pages = 0; pages < COUNTED_PAGES; pages++) {
    const page = await table.query({ ...query, after, Select: 'COUNT' });
    sum += page.count;
    after = page.next;
    if (after === undefined) break;
  }
  return sum;
}

/** The queries of the partitions of the index. An empty window has no queries. */
function statusQueries(filter: IndexFilter): PartitionQuery[] {
  const { webhookId, status, type, stuckBefore, endedSince, ...window } = filter;
  const range = idRange('evt', window);
  if (!range) return [];
  const filters = areAsGiven({ eventType: type });
  if (stuckBefore !== undefined) {
    filters.push(isAbsent('test'));
    if (isUnderWay(status)) filters.push(isBelow('nextAttemptAt', stuckBefore));
    else if (endedSince !== undefined) filters.push(isAtLeast('endedAt', endedSince));
  }
  return logPartitions().map((partition) => {
    const byStatus = statusPartition(webhookId, partition, status);
    const keyOf = (eventId: string) => ({ ...itemKey.deliveryIn(webhookId, partition, eventId), byStatus });
    return { query: { IndexName: BY_STATUS, ...rangeQuery({ byStatus }, range, filters) }, keyOf };
  });
}
