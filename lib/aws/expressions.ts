import { type Condition, conditionOf, withValues } from './conditions.ts';
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
