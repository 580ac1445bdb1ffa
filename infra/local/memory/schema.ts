import type { KeySchemaElement } from '@aws-sdk/client-dynamodb';
import { InvalidRequest } from '../models/invalid-request.ts';
import { type Attributes, requireItemSize, typeOf } from './values.ts';

/** Names of the partition key and of the sort key. Their values are strings. */
export type KeySchema = readonly [partition: string, sort: string];

/** The keys of a table and of its global secondary indexes. */
export interface TableSchema {
  keys: KeySchema;
  indexes: Readonly<Record<string, KeySchema>>;
  /** The attributes of each index that does not contain all. Keys are in every index. */
  projections?: Readonly<Record<string, readonly string[]>>;
}

interface DescribedKeys {
  KeySchema?: readonly KeySchemaElement[] | undefined;
}
interface DescribedIndex extends DescribedKeys {
  IndexName?: string | undefined;
  Projection?: { NonKeyAttributes?: readonly string[] | undefined } | undefined;
}
/** A table in a template, in a request or in a description. */
export interface DescribedTable extends DescribedKeys {
  GlobalSecondaryIndexes?: readonly DescribedIndex[] | undefined;
}

/** The keys of a table and of its indexes, which are sorted by name. */
export function schemaOf({ KeySchema, GlobalSecondaryIndexes = [] }: DescribedTable): TableSchema {
  const names = (schema: readonly KeySchemaElement[] = []) => schema.map(({ AttributeName }) => AttributeName ?? '');
  const sorted = GlobalSecondaryIndexes.toSorted((a, b) => (`${a.IndexName}` < `${b.IndexName}` ? -1 : 1));
  const projections = sorted.flatMap(({ IndexName = '', Projection }) =>
    Projection?.NonKeyAttributes ? [[IndexName, Projection.NonKeyAttributes]] : [],
  );
  return {
    keys: names(KeySchema) as unknown as KeySchema,
    indexes: Object.fromEntries(sorted.map((index) => [index.IndexName, names(index.KeySchema)])),
    projections: Object.fromEntries(projections),
  };
}

/**
 * The maximum bytes of a partition key and of a sort key (DynamoDB Developer Guide, "Quotas": "Partition keys and sort keys").
 * DynamoDB Local also applies the limits of an index to items outside the index.
 */
const MAX_BYTES = [2048, 1024] as const;

/** Throws unless an item has a key, an allowed size and allowed attributes. Returns its bytes. */
export function requireItem(item: Attributes, { keys, indexes }: TableSchema): number {
  for (const name of keys)
    if (!Object.hasOwn(item, name))
      throw new InvalidRequest(`One or more parameter values were invalid: Missing the key ${name} in the item`);
  requireKeyValues(item, keys);
  for (const index of Object.values(indexes)) requireKeyValues(item, index);
  return requireItemSize(item);
}

/** Throws unless a key has exactly the members of the primary key. */
export function requireKey(key: Attributes, { keys }: TableSchema): void {
  requireMembers(key, keys, 'The provided key element does not match the schema');
  requireKeyValues(key, keys);
}

/** Throws unless a query can continue after this key of an item and of the index. */
export function requireStartKey(start: Attributes, { keys, indexes }: TableSchema, index: string | undefined): void {
  const of = index === undefined ? keys : (indexes[index] ?? []);
  requireMembers(start, new Set([...keys, ...of]), 'The provided starting key is invalid');
  requireKeyValues(start, keys);
}

function requireMembers(members: Attributes, wanted: Iterable<string>, message: string): void {
  const names = [...wanted];
  const isMatch = Object.keys(members).length === names.length && names.every((name) => Object.hasOwn(members, name));
  if (!isMatch) throw new InvalidRequest(message);
}

/** Throws if a key attribute is not a string, is empty or is too long. */
function requireKeyValues(attributes: Attributes, schema: KeySchema): void {
  schema.forEach((name, i) => {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    if (value === undefined) return;
    if (typeOf(value) !== 'S')
      throw new InvalidRequest(
        `One or more parameter values were invalid: Type mismatch for key ${name} expected: S actual: ${typeOf(value)}`,
      );
    const bytes = Buffer.byteLength(String(value.S));
    if (bytes === 0)
      throw new InvalidRequest(
        `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
      );
    const max = MAX_BYTES[i] ?? 0;
    if (bytes > max)
      throw new InvalidRequest(
        `One or more parameter values were invalid: Size of key ${name} has exceeded the maximum size limit of ${max} bytes`,
      );
  });
}
