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
export const conditionOf = ({ expression, names, values }: Condition) => ({
  ConditionExpression: expression,
  ExpressionAttributeNames: names,
  ...withValues(values),
});

/** The values of a request, or nothing, because DynamoDB rejects an empty map. */
export const withValues = (values: Record<string, unknown>) =>
  Object.keys(values).length > 0 && { ExpressionAttributeValues: values };
