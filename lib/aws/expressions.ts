import type { Item, ItemKey } from './items.ts';
import type { Write } from './writes.ts';

/** A change of a member other than setting or removing it. `of` names its value. */
type Action = (
  name: string,
  of: string,
) => { clause: 'SET' | 'ADD' | 'REMOVE'; expression: string; values?: Record<string, unknown> };

const assigned =
  (value: unknown): Action =>
  (name, of) =>
    value === undefined
      ? { clause: 'REMOVE', expression: name }
      : { clause: 'SET', expression: `${name} = ${of}`, values: { [of]: value } };

/** Sets a member only if it is missing. */
export const initially =
  (value: unknown): Action =>
  (name, of) => ({ clause: 'SET', expression: `${name} = if_not_exists(${name}, ${of})`, values: { [of]: value } });

/** Appends to a list, which can be missing. */
export const appended =
  (entries: readonly unknown[]): Action =>
  (name, of) => ({
    clause: 'SET',
    expression: `${name} = list_append(if_not_exists(${name}, ${of}_none), ${of})`,
    values: { [of]: entries, [`${of}_none`]: [] },
  });

/** Adds to a number, which can be missing. */
export const increased =
  (step: number): Action =>
  (name, of) => ({ clause: 'ADD', expression: `${name} ${of}`, values: { [of]: step } });

/**
 * Removes entries from the start of a list by their position, so concurrently appended entries stay. The last one goes first,
 * which also suits a database that removes them one after another.
 */
export const withoutFirst =
  (count: number): Action =>
  (name) => ({
    clause: 'REMOVE',
    expression: Array.from({ length: count }, (_, i) => `${name}[${count - 1 - i}]`).join(', '),
  });

/** The path of a member, or of an entry of a map as `map.entry`. The expression calls the entry `alias`. */
function pathOf(member: string, alias: string): { path: string; of: string; names: Record<string, string> } {
  const [name = '', entry] = member.split('.');
  const names = { [`#${name}`]: name };
  if (entry === undefined) return { path: `#${name}`, of: name, names };
  return { path: `#${name}.#${alias}`, of: alias, names: { ...names, [`#${alias}`]: entry } };
}

/**
 * Sets the defined members of `values`, removes the undefined ones, and applies special changes. A member can be an entry of a map
 * that exists, as `map.entry`.
 */
export function update(Key: ItemKey, values: Item, condition?: Condition): Write {
  const clauses: Record<string, string[]> = { SET: [], REMOVE: [], ADD: [] };
  const names = { ...condition?.names };
  const given = { ...condition?.values };
  for (const [i, [member, value]] of Object.entries(values).entries()) {
    const action = typeof value === 'function' ? (value as Action) : assigned(value);
    const place = pathOf(member, `entry_${i}`);
    const { clause, expression, values } = action(place.path, `:${place.of}`);
    clauses[clause]?.push(expression);
    Object.assign(names, place.names);
    Object.assign(given, values);
  }
  const UpdateExpression = Object.entries(clauses)
    .flatMap(([clause, parts]) => (parts.length > 0 ? `${clause} ${parts.join(', ')}` : []))
    .join(' ');
  const ConditionExpression = condition && { ConditionExpression: condition.expression };
  return { Update: { Key, UpdateExpression, ...ConditionExpression, ...naming(names, given) } };
}

export const put = (item: Item & ItemKey, condition?: Condition): Write => ({
  Put: { Item: item, ...(condition && conditionOf(condition)) },
});

export const remove = (key: ItemKey, condition: Condition): Write => ({
  Delete: { Key: key, ...conditionOf(condition) },
});

/** Writes nothing. The other writes of its transaction are performed only if the condition is true. */
export const conditionCheck = (key: ItemKey, condition: Condition): Write => ({
  ConditionCheck: { Key: key, ...conditionOf(condition) },
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

/** A member, or an entry of a map as `map.entry`. */
export function isPresent(member: string): Condition {
  const { path, names } = pathOf(member, 'than_entry');
  return { expression: `attribute_exists(${path})`, names, values: {} };
}
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

/** The member is a map with fewer entries. */
export const hasFewerThan = (name: string, entries: number): Condition =>
  about(name, `size(#${name}) < :size_${name}`, { [`:size_${name}`]: entries });

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
  ...naming(names, values),
});

/** The names and values of a request. Without values, it has no map of them, because DynamoDB rejects an empty one. */
const naming = (ExpressionAttributeNames: Record<string, string>, values: Record<string, unknown>) => ({
  ExpressionAttributeNames,
  ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
});
