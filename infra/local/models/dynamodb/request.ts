import { InvalidRequest } from '../invalid-request.ts';
import { type QueryInput, requireProjection, requireQuery, requireScan } from './query.ts';
import { requireKey, type TableSchema } from './schema.ts';
import { Usage } from './usage.ts';
import type { Attributes } from './values.ts';
import { requireWrite, type WriteInput } from './write.ts';

interface ReadInput extends QueryInput {
  Key?: Attributes;
  Keys?: readonly Attributes[];
}

interface Input extends ReadInput, WriteInput {
  RequestItems?: Readonly<Record<string, ReadInput>>;
  TransactItems?: readonly Readonly<Record<string, WriteInput>>[];
}

/** The maximum size of a transaction, and the maximum entries of a batch of reads (DynamoDB Developer Guide, "Quotas"). */
const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024;
const MAX_READS = 100;

const RULES: Readonly<Record<string, (request: Input, schema: TableSchema) => unknown>> = {
  GetItem: (request, schema) => requireReads({ ...request, Keys: [request.Key ?? {}] }, schema),
  BatchGetItem: (request, schema) => requireBatchGet(Object.entries(request.RequestItems ?? {}), schema),
  Query: requireQuery,
  Scan: requireScan,
  PutItem: requireWrite,
  UpdateItem: requireWrite,
  DeleteItem: requireWrite,
  TransactWriteItems: (request, schema) => requireTransaction(request.TransactItems ?? [], schema),
};

/**
 * Throws `InvalidRequest` where DynamoDB rejects a request for reasons outside its service model: expressions, keys, sizes and
 * repeated items. The input must match the model. Checks only the operations that functions use.
 */
export function requireDynamoDbRequest(operation: string, input: object, schema: TableSchema): void {
  RULES[operation]?.(input as Input, schema);
}

function requireReads(read: ReadInput, schema: TableSchema): void {
  const usage = new Usage(read);
  requireProjection(usage, read.ProjectionExpression);
  usage.finish();
  for (const key of read.Keys ?? []) requireKey(key, schema);
}

function requireBatchGet(tables: readonly [string, ReadInput][], schema: TableSchema): void {
  for (const [, read] of tables) requireReads(read, schema);
  const keys = tables.flatMap(([name, { Keys = [] }]) => Keys.map((key) => idOf(name, key, schema)));
  if (keys.length > MAX_READS) throw new InvalidRequest('Too many items requested for the BatchGetItem call');
  requireDistinct(keys, 'Provided list of item keys contains duplicates');
}

function requireTransaction(items: readonly Readonly<Record<string, WriteInput>>[], schema: TableSchema): void {
  let bytes = 0;
  const keys = items.map((item) => {
    const [write, ...others] = Object.values(item);
    if (!write || others.length > 0)
      throw new InvalidRequest('TransactItems can only contain one of Check, Put, Update or Delete');
    bytes += requireWrite(write, schema);
    return idOf(write.TableName ?? '', write.Item ?? write.Key ?? {}, schema);
  });
  requireDistinct(keys, 'Transaction request cannot include multiple operations on one item');
  if (bytes > MAX_TRANSACTION_BYTES)
    throw new InvalidRequest('Transaction request cannot contain more than 4 MB of data');
}

const idOf = (table: string, item: Attributes, { keys }: TableSchema): string =>
  JSON.stringify([table, ...keys.map((name) => item[name])]);

function requireDistinct(ids: readonly string[], message: string): void {
  if (new Set(ids).size < ids.length) throw new InvalidRequest(message);
}
