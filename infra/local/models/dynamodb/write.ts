import { InvalidRequest } from '../invalid-request.ts';
import { parseCondition, parseUpdate } from './expression.ts';
import { requireApart } from './query.ts';
import { requireIndexKey, requireItem, requireKey, type TableSchema } from './schema.ts';
import type { Action, Operand } from './syntax.ts';
import { type Placeholders, Usage } from './usage.ts';
import { type Attributes, sizeOf, typeOf } from './values.ts';

export interface WriteInput extends Placeholders {
  TableName?: string;
  Item?: Attributes;
  Key?: Attributes;
  ConditionExpression?: string;
  UpdateExpression?: string;
}

/** Throws unless DynamoDB accepts a write of one item. Returns the bytes of the request. */
export function requireWrite(write: WriteInput, schema: TableSchema): number {
  const { Item, Key = {}, ConditionExpression, UpdateExpression } = write;
  const usage = new Usage(write);
  const condition = usage.read('ConditionExpression', ConditionExpression, parseCondition);
  if (condition) usage.requireComparable('ConditionExpression', condition);
  const actions = usage.read('UpdateExpression', UpdateExpression, parseUpdate) ?? [];
  requireUpdate(actions, usage, schema);
  usage.finish();
  if (Item) return requireItem(Item, schema);
  requireKey(Key, schema);
  return sizeOf(Key) + usage.valueBytes;
}

function requireUpdate(actions: readonly Action[], usage: Usage, schema: TableSchema): void {
  const { keys } = schema;
  const paths = actions.map(({ path }) => usage.resolve(path));
  for (const [name] of paths)
    if (keys.includes(String(name)))
      throw new InvalidRequest(
        `One or more parameter values were invalid: Cannot update attribute ${name}. This attribute is part of the key`,
      );
  requireApart('UpdateExpression', paths);
  actions.forEach(({ clause, operand }, i) => {
    if (!operand) return;
    requireOperand(clause, operand, usage);
    const [name, ...inside] = paths[i] ?? [];
    const value = inside.length === 0 ? usage.valueOf(operand) : undefined;
    if (value) requireIndexKey(String(name), value, schema);
  });
}

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  ADD: ['N', 'SS', 'NS', 'BS'],
  DELETE: ['SS', 'NS', 'BS'],
  '+': ['N'],
  '-': ['N'],
  list_append: ['L'],
};

function requireOperand(operator: string, operand: Operand, usage: Usage): void {
  const value = usage.valueOf(operand);
  if (value && ALLOWED[operator] && !ALLOWED[operator].includes(typeOf(value)))
    throw new InvalidRequest(
      `Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${typeOf(value)}`,
    );
  if ('sum' in operand) for (const each of [operand.left, operand.right]) requireOperand(operand.sum, each, usage);
  if ('call' in operand) for (const each of operand.operands) requireOperand(operand.call, each, usage);
}
