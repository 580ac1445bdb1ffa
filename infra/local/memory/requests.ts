import { marshall } from '@aws-sdk/util-dynamodb';
import { requireDynamoDbRequest } from '../models/dynamodb/request.ts';
import { requireItem, type TableSchema } from '../models/dynamodb/schema.ts';
import type { Attributes } from '../models/dynamodb/values.ts';
import { requireModel } from '../models/models.ts';
import type { Item } from './expressions.ts';

/** A command of the document client, with its name without `Command` and its input. */
export interface Command {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: inputs of many shapes
  input: any;
}

const OPERATIONS: Readonly<Record<string, string>> = {
  Get: 'GetItem',
  BatchGet: 'BatchGetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  TransactWrite: 'TransactWriteItems',
};

/** Members that the document client converts to attribute values. */
const ITEMS = ['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey'];

/** Throws the error of the document client or DynamoDB for an invalid request. */
export function requireValid({ name, input }: Command, schema: TableSchema): void {
  const operation = OPERATIONS[name] ?? name;
  const request = requestOf(input);
  requireModel('dynamodb', operation, request);
  requireDynamoDbRequest(operation, request, schema);
}

/** Throws the error of DynamoDB if a write would store an invalid item. */
export const requireStorable = (item: Item, schema: TableSchema): number => requireItem(marshalled(item), schema);

export const marshalled = (item: Item): Attributes =>
  marshall(item, { removeUndefinedValues: true }) as unknown as Attributes;

// biome-ignore lint/suspicious/noExplicitAny: inputs of many shapes
function requestOf(input: any): Record<string, unknown> {
  const request: Record<string, unknown> = { ...input };
  for (const member of ITEMS) if (input[member]) request[member] = marshalled(input[member]);
  if (input.Keys) request.Keys = input.Keys.map(marshalled);
  if (input.RequestItems) request.RequestItems = mapped(input.RequestItems);
  if (input.TransactItems) request.TransactItems = input.TransactItems.map(mapped);
  return request;
}

const mapped = (inputs: Record<string, object>): object =>
  Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, requestOf(input)]));
