import { marshall } from '@aws-sdk/util-dynamodb';
import { InvalidRequest } from '../models/invalid-request.ts';
import { requireModel } from '../models/models.ts';
import type { Item } from './paths.ts';
import { requireItem, requireKey, requireStartKey, type TableSchema } from './schema.ts';
import { type Attributes, sizeOf } from './values.ts';

/** A command of the document client, with its name without `Command` and its input. */
export interface Command {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: inputs of many shapes
  input: any;
}

/** The operation of each command. */
export const OPERATIONS: Readonly<Record<string, string>> = {
  Get: 'GetItem',
  BatchGet: 'BatchGetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  Query: 'Query',
  Scan: 'Scan',
  TransactWrite: 'TransactWriteItems',
};

/** Members that the document client converts to attribute values. */
const ITEMS = ['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey'];

/** Throws the error of the document client or DynamoDB for an invalid request. */
export function requireValid({ name, input }: Command, schema: TableSchema): void {
  const operation = OPERATIONS[name] ?? name;
  const request = converted(input, marshalled);
  requireModel('dynamodb', operation, request);
  requireItems(request, schema);
}

/** The maximum size of a transaction (DynamoDB Developer Guide, "Quotas"). */
const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024;

interface Request {
  Key?: Attributes;
  Item?: Attributes;
  Keys?: readonly Attributes[];
  IndexName?: string;
  ExclusiveStartKey?: Attributes;
  ExpressionAttributeValues?: Attributes;
  RequestItems?: Readonly<Record<string, Request>>;
  TransactItems?: readonly Readonly<Record<string, Request>>[];
}

/** Throws for invalid keys, items and values. Returns the bytes that a transaction counts. */
function requireItems(request: Request, schema: TableSchema): number {
  const { Key, Item, Keys = [], ExclusiveStartKey, ExpressionAttributeValues = {}, IndexName } = request;
  for (const key of Key ? [Key, ...Keys] : Keys) requireKey(key, schema);
  requireDistinct(Keys, schema, 'Provided list of item keys contains duplicates');
  if (IndexName !== undefined && !schema.indexes[IndexName])
    throw new InvalidRequest(`The table does not have the specified index: ${IndexName}`);
  if (ExclusiveStartKey) requireStartKey(ExclusiveStartKey, schema, IndexName);
  for (const read of Object.values(request.RequestItems ?? {})) requireItems(read, schema);
  const writes = (request.TransactItems ?? []).flatMap((item) => Object.values(item));
  const written = writes.map((write) => write.Item ?? write.Key ?? {});
  const bytesOfWrites = writes.reduce((sum, write) => sum + requireItems(write, schema), 0);
  requireDistinct(written, schema, 'Transaction request cannot include multiple operations on one item');
  if (bytesOfWrites > MAX_TRANSACTION_BYTES)
    throw new InvalidRequest('Transaction request cannot contain more than 4 MB of data');
  return sizeOf(ExpressionAttributeValues) + (Item ? requireItem(Item, schema) : sizeOf(Key ?? {}));
}

function requireDistinct(items: readonly Attributes[], { keys }: TableSchema, message: string): void {
  const ids = items.map((item) => JSON.stringify(keys.map((name) => item[name])));
  if (new Set(ids).size < ids.length) throw new InvalidRequest(message);
}

/** An error of DynamoDB, with the members of its response. */
export class DynamoDbError extends Error {
  [member: string]: unknown;
  constructor(name: string, members: object = {}) {
    super(name);
    this.name = name;
    Object.assign(this, members);
  }
}

export const marshalled = (item: Item): Attributes =>
  marshall(item, { removeUndefinedValues: true }) as unknown as Attributes;

/** Converts the items in a request, and in each of its parts. */
export function converted(
  input: Readonly<Record<string, unknown>>,
  convert: (item: never) => unknown,
): Record<string, unknown> {
  const request: Record<string, unknown> = { ...input };
  const parts = (inputs: object) =>
    Object.fromEntries(Object.entries(inputs).map(([name, part]) => [name, converted(part, convert)]));
  for (const member of ITEMS) if (input[member]) request[member] = convert(input[member] as never);
  if (Array.isArray(input.Keys)) request.Keys = input.Keys.map((key) => convert(key as never));
  if (input.RequestItems) request.RequestItems = parts(input.RequestItems);
  if (Array.isArray(input.TransactItems)) request.TransactItems = input.TransactItems.map(parts);
  return request;
}
