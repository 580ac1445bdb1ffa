import { BY_PROJECT } from '../deployment.ts';
import { earliestId, type IdPrefix } from '../ids.ts';
import { all, type Condition } from './conditions.ts';
import type { Query } from './table.ts';

/** Sort keys from `first` to `last`, both included. */
export interface SortKeyRange {
  first: string;
  last: string;
}

/** The name and the value of a partition key, of the table or of an index. */
type Partition = { pk: string } | { byStatus: string | undefined };

/** The items that one request reads with a filter, which can remove most of them. A request reads at most 1 MB. */
export const FILTERED_ITEMS = 1000;

/**
 * The range of ids that were created at `since` or later and before `until` (milliseconds since 1970). `null` for an empty range,
 * because DynamoDB rejects it.
 */
export function idRange(
  prefix: IdPrefix,
  { since = 0, until }: { since?: number | undefined; until?: number | undefined },
): SortKeyRange | null {
  const first = earliestId(prefix, since);
  const last = until === undefined ? `${prefix}_~` : earliestId(prefix, until);
  return first > last ? null : { first, last };
}

/** A query of all items of a partition. */
export const wholePartition = (pk: string): Query => ({
  KeyConditionExpression: 'pk = :pk',
  ExpressionAttributeValues: { ':pk': pk },
});

/** A query of the API keys of a project. */
export const keysQuery = (projectId: string): Query => ({
  IndexName: BY_PROJECT,
  KeyConditionExpression: 'keysOf = :project',
  ExpressionAttributeValues: { ':project': projectId },
});

/** A query of the items of a partition in a range that meet every condition. */
export function rangeQuery(
  partition: Partition,
  { first, last }: SortKeyRange,
  conditions: readonly Condition[] = [],
): Query {
  const [[name, value]] = Object.entries(partition) as [[string, string]];
  const query = {
    KeyConditionExpression: `${name} = :partition AND sk BETWEEN :first AND :last`,
    ExpressionAttributeValues: { ':partition': value, ':first': first, ':last': last },
  };
  return conditions.length > 0 ? filtered(query, all(...conditions)) : query;
}

/** The same query with a filter. Items that the filter removes are read and billed too. */
export const filtered = (query: Query, { expression, names, values }: Condition): Query => ({
  ...query,
  FilterExpression: expression,
  ExpressionAttributeNames: { ...query.ExpressionAttributeNames, ...names },
  ExpressionAttributeValues: { ...query.ExpressionAttributeValues, ...values },
});
