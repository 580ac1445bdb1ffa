import { InvalidRequest } from '../invalid-request.ts';
import { parseCondition, parseProjection } from './expression.ts';
import { type KeySchema, requireStartKey, type TableSchema } from './schema.ts';
import type { Condition, Operand } from './syntax.ts';
import { type Placeholders, Usage } from './usage.ts';
import { type Attributes, type AttributeValue, typeOf } from './values.ts';

export interface QueryInput extends Placeholders {
  IndexName?: string;
  ConsistentRead?: boolean;
  Select?: string;
  KeyConditionExpression?: string;
  FilterExpression?: string;
  ProjectionExpression?: string;
  ExclusiveStartKey?: Attributes;
}

const SORT_COMPARATORS = ['=', '<', '<=', '>', '>='];

/** Throws unless DynamoDB accepts the query (API Reference, "Query"). */
export function requireQuery(input: QueryInput, schema: TableSchema): void {
  const keys = requireReadable(input, schema);
  const usage = new Usage(input);
  const condition = usage.read('KeyConditionExpression', input.KeyConditionExpression, parseCondition);
  if (!condition)
    throw new InvalidRequest(
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
    );
  usage.requireComparable('KeyConditionExpression', condition);
  const partition = requireKeyCondition(condition, keys, usage);
  requireReadExpressions(input, keys, usage);
  if (!input.ExclusiveStartKey) return;
  requireStartKey(input.ExclusiveStartKey, schema, input.IndexName);
  if (input.ExclusiveStartKey[keys[0]]?.S !== partition.S)
    throw new InvalidRequest('The provided starting key is outside query boundaries based on provided conditions');
}

/** Throws unless DynamoDB accepts the scan. */
export function requireScan(input: QueryInput, schema: TableSchema): void {
  const keys = requireReadable(input, schema);
  requireReadExpressions(input, [], new Usage(input));
  if (input.ExclusiveStartKey)
    requireStartKey(input.ExclusiveStartKey, schema, keys === schema.keys ? undefined : input.IndexName);
}

function requireReadable({ IndexName, ConsistentRead, Select, ProjectionExpression }: QueryInput, schema: TableSchema) {
  const keys = IndexName === undefined ? schema.keys : schema.indexes[IndexName];
  if (!keys) throw new InvalidRequest(`The table does not have the specified index: ${IndexName}`);
  if (IndexName !== undefined && ConsistentRead)
    throw new InvalidRequest('Consistent reads are not supported on global secondary indexes');
  if (ProjectionExpression !== undefined && Select !== undefined && Select !== 'SPECIFIC_ATTRIBUTES')
    throw new InvalidRequest(`Cannot specify the ProjectionExpression when choosing to get ${Select}`);
  return keys;
}

function requireReadExpressions(input: QueryInput, keys: readonly string[], usage: Usage): void {
  const { FilterExpression, ProjectionExpression } = input;
  const filter = usage.read('FilterExpression', FilterExpression, (text) => {
    const parsed = parseCondition(text);
    const name = parsed.paths.map((path) => String(usage.resolve(path)[0])).find((each) => keys.includes(each));
    if (name !== undefined)
      throw new InvalidRequest(
        `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${name}`,
      );
    return parsed;
  });
  if (filter) usage.requireComparable('FilterExpression', filter);
  requireProjection(usage, ProjectionExpression);
  usage.finish();
}

/** Throws if a projection names an attribute twice. */
export function requireProjection(usage: Usage, text: string | undefined): void {
  const paths = usage.read('ProjectionExpression', text, parseProjection)?.map((path) => usage.resolve(path)) ?? [];
  requireApart('ProjectionExpression', paths);
}

/** Throws if one path equals or contains another one. */
export function requireApart(member: string, paths: readonly (readonly (string | number)[])[]): void {
  const sorted = paths.map((path) => path.map((part) => JSON.stringify(part)).join()).sort();
  const overlap = sorted.find((path, i) => `${sorted[i + 1]},`.startsWith(`${path},`));
  if (overlap !== undefined)
    throw new InvalidRequest(
      `Invalid ${member}: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [${overlap}]`,
    );
}

/** Returns the value of the partition key. Throws unless there is one condition on it and at most one on the sort key. */
function requireKeyCondition(condition: Condition, [partitionKey, sortKey]: KeySchema, usage: Usage): AttributeValue {
  const parts = 'all' in condition ? condition.all : [condition];
  let partition: AttributeValue | undefined;
  const seen = new Set<string>();
  for (const part of parts) {
    const { name, operator, values } = keyTerm(part, usage);
    if (seen.has(name)) throw new InvalidRequest('KeyConditionExpressions must only contain one condition per key');
    seen.add(name);
    const isPartition = name === partitionKey && operator === '=';
    if (!isPartition && name !== sortKey) throw new InvalidRequest('Query key condition not supported');
    for (const value of values) {
      if (typeOf(value) !== 'S')
        throw new InvalidRequest(
          'One or more parameter values were invalid: Condition parameter type does not match schema type',
        );
      if (value.S === '')
        throw new InvalidRequest(
          `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
        );
    }
    if (isPartition) partition = values[0];
  }
  if (!partition) throw new InvalidRequest(`Query condition missed key schema element: ${partitionKey}`);
  return partition;
}

function keyTerm(condition: Condition, usage: Usage): { name: string; operator: string; values: AttributeValue[] } {
  const of = (operator: string, left: Operand | undefined, right: readonly Operand[]) => {
    const values = right.map((each) => usage.valueOf(each)).filter((each) => each !== undefined);
    const path = left && 'path' in left ? usage.resolve(left.path) : [];
    if (path.length !== 1 || values.length < right.length) throw unsupported();
    return { name: String(path[0]), operator, values };
  };
  if ('between' in condition) return of('BETWEEN', condition.between, [condition.low, condition.high]);
  if ('compare' in condition && SORT_COMPARATORS.includes(condition.compare))
    return of(condition.compare, condition.left, [condition.right]);
  if ('call' in condition && condition.call === 'begins_with')
    return of(condition.call, condition.operands[0], condition.operands.slice(1));
  throw unsupported();
}

const unsupported = (): InvalidRequest => new InvalidRequest('Invalid operator used in KeyConditionExpression');
