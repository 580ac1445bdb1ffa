import type { Item, ItemKey } from './items.ts';
import type { Named, Write } from './writes.ts';

/** A change of a member other than setting or removing it. */
class Action {
  readonly clause: 'SET' | 'ADD' | 'REMOVE';
  readonly expression: (name: string, value: string) => string;
  readonly values: (value: string) => Record<string, unknown>;

  constructor(clause: Action['clause'], expression: Action['expression'], values: Action['values'] = () => ({})) {
    this.clause = clause;
    this.expression = expression;
    this.values = values;
  }
}

/** Sets a member only if it is missing. */
export const initially = (value: unknown) =>
  new Action(
    'SET',
    (name, of) => `${name} = if_not_exists(${name}, ${of})`,
    (of) => ({ [of]: value }),
  );

/** Appends to a list, which can be missing. */
export const appended = (entries: readonly unknown[]) =>
  new Action(
    'SET',
    (name, of) => `${name} = list_append(if_not_exists(${name}, ${of}_none), ${of})`,
    (of) => ({ [of]: entries, [`${of}_none`]: [] }),
  );

/** Adds to a number, which can be missing. */
export const increased = (step: number) =>
  new Action(
    'ADD',
    (name, of) => `${name} ${of}`,
    (of) => ({ [of]: step }),
  );

/**
 * Removes entries from the start of a list by their position, so concurrently appended entries stay. The last one goes first,
 * which also suits a database that removes them one after another.
 */
export const withoutFirst = (count: number) =>
  new Action('REMOVE', (name) => Array.from({ length: count }, (_, i) => `${name}[${count - 1 - i}]`).join(', '));

/** Sets the defined members of `values`, removes the undefined ones, and applies special changes. */
function updateOf(key: ItemKey, values: Item, condition?: Condition): Named<'Update'>['Update'] {
  const clauses: Record<Action['clause'], string[]> = { SET: [], REMOVE: [], ADD: [] };
  const ExpressionAttributeNames = { ...condition?.names };
  const ExpressionAttributeValues = { ...condition?.values };
  for (const member in values) {
    const [name, of, value] = [`#${member}`, `:${member}`, values[member]];
    ExpressionAttributeNames[name] = member;
    if (value instanceof Action) {
      clauses[value.clause].push(value.expression(name, of));
      Object.assign(ExpressionAttributeValues, value.values(of));
    } else if (value === undefined) clauses.REMOVE.push(name);
    else {
      clauses.SET.push(`${name} = ${of}`);
      ExpressionAttributeValues[of] = value;
    }
  }
  return {
    Key: key,
    ...(condition && { ConditionExpression: condition.expression }),
    UpdateExpression: Object.entries(clauses)
      .flatMap(([clause, parts]) => (parts.length > 0 ? `${clause} ${parts.join(', ')}` : []))
      .join(' '),
    ExpressionAttributeNames,
    ...withValues(ExpressionAttributeValues),
  };
}

export const update = (key: ItemKey, values: Item, condition?: Condition): Write => ({
  Update: updateOf(key, values, condition),
});

export const put = (item: Item & ItemKey, condition?: Condition): Write => ({
  Put: { Item: item, ...(condition && conditionOf(condition)) },
});

export const remove = (key: ItemKey, condition: Condition): Write => ({
  Delete: { Key: key, ...conditionOf(condition) },
});

/** Writes nothing. The other writes of its transaction are performed only if the condition is true. */
export const check = (key: ItemKey, condition: Condition): Write => ({
  ConditionCheck: { Key: key, ...conditionOf(condition) } as Named<'ConditionCheck'>['ConditionCheck'],
});

/** A condition on the stored item for a write, with the names and values of its expression. */
export interface Condition {
  expression: string;
  names: Record<string, string>;
  values: Record<string, unknown>;
}

const about = (name: string, expression: string, values: Record<string, unknown> = {}): Condition => ({
  expression,
  names: { [`#${name}`]: name },
  values,
});

export const isPresent = (name: string): Condition => about(name, `attribute_exists(#${name})`);
export const isAbsent = (name: string): Condition => about(name, `attribute_not_exists(#${name})`);
export const exists = isPresent('pk');
export const isNew = isAbsent('pk');

/** The value has a separate name, because the write can set another value. */
const compare =
  (operator: '=' | '<' | '<=' | '>=') =>
  (name: string, value: unknown): Condition =>
    about(name, `#${name} ${operator} :than_${name}`, { [`:than_${name}`]: value });
export const is = compare('=');
/** The condition that a member is still as it was read. */
export const isStill = (name: string, value: unknown): Condition =>
  value === undefined ? isAbsent(name) : is(name, value);
/** The condition that each given member has its value. */
export const areAsGiven = (members: Record<string, unknown>): Condition[] =>
  Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [is(name, value)]));
export const isBelow = compare('<');
export const isAtMost = compare('<=');
export const isAtLeast = compare('>=');

/** Its value is one of several. */
export const isOneOf = (name: string, values: readonly unknown[]): Condition => {
  const named = values.map((value, i) => [`:one_${name}${i}`, value] as const);
  return about(name, `#${name} IN (${named.map(([id]) => id).join(', ')})`, Object.fromEntries(named));
};

export const all = (...parts: Condition[]): Condition => joined(parts, ' AND ');
export const any = (...parts: Condition[]): Condition => joined(parts, ' OR ');

/** One value for each name, because a condition compares a member with one value. */
function joined(parts: readonly Condition[], by: string): Condition {
  return {
    expression: parts.map(({ expression }) => `(${expression})`).join(by),
    names: Object.assign({}, ...parts.map(({ names }) => names)),
    values: Object.assign({}, ...parts.map(({ values }) => values)),
  };
}

/** The members of a request that contain a condition. */
const conditionOf = ({ expression, names, values }: Condition) => ({
  ConditionExpression: expression,
  ExpressionAttributeNames: names,
  ...withValues(values),
});

/** The values of a request, or nothing, because DynamoDB rejects an empty map. */
const withValues = (values: Record<string, unknown>) =>
  Object.keys(values).length > 0 && { ExpressionAttributeValues: values };
