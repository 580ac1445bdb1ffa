import { InvalidRequest } from '../models/invalid-request.ts';

/** An item in the notation of the document client. */
export type Item = Record<string, unknown>;

export interface Names {
  ExpressionAttributeNames?: Record<string, string> | undefined;
  ExpressionAttributeValues?: Record<string, unknown> | undefined;
}

type Evaluate = (item: Item, names: Names) => unknown;

const TOKEN = /\s*(<=|>=|<|>|=|[(),]|[#:]?[A-Za-z_][\w]*(?:\[\d+\])?)/gy;

const unsupported = (expression: string): InvalidRequest =>
  new InvalidRequest(`The database in memory does not support the expression ${expression}`);

function tokensOf(expression: string): string[] {
  const tokens = [...expression.matchAll(TOKEN)].map(([, token = '']) => token);
  if (tokens.join('') !== expression.replace(/\s+/g, '')) throw unsupported(expression);
  return tokens;
}

/** Caches parsed expressions, because there are few and they repeat. */
function cached<Parsed>(parse: (expression: string) => Parsed): (expression: string) => Parsed {
  const known = new Map<string, Parsed>();
  return (expression) => {
    const parsed = known.get(expression) ?? parse(expression);
    known.set(expression, parsed);
    return parsed;
  };
}

export const nameOf = (token: string, { ExpressionAttributeNames }: Names): string => {
  if (!token.startsWith('#')) return token;
  const name = ExpressionAttributeNames?.[token];
  if (name === undefined) throw new InvalidRequest(`The name ${token} is not defined`);
  return name;
};
export const valueNamed = (token: string, { ExpressionAttributeValues }: Names): unknown => {
  const value = ExpressionAttributeValues?.[token];
  if (value === undefined) throw new InvalidRequest(`The value ${token} is not defined`);
  return value;
};
const operand = (token: string): Evaluate =>
  token.startsWith(':') ? (_item, names) => valueNamed(token, names) : (item, names) => item[nameOf(token, names)];

const isEqual = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b));
const isComparable = (a: unknown, b: unknown): boolean =>
  (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string');
const COMPARISONS: Record<string, (a: never, b: never) => boolean> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Parses the condition, key condition and filter expressions of this service. */
export const conditionOf: (expression: string) => (item: Item, names: Names) => boolean = cached((expression) => {
  const tokens = tokensOf(expression);
  let at = 0;
  const next = (): string => tokens[at++] ?? '';
  const expect = (token: string): void => {
    if (next() !== token) throw unsupported(expression);
  };
  const any = either();
  if (at !== tokens.length) throw unsupported(expression);
  return (item, names) => any(item, names) === true;

  function either(): Evaluate {
    const parts = separatedBy('OR', both);
    return (item, names) => parts.some((part) => part(item, names));
  }
  function both(): Evaluate {
    const parts = separatedBy('AND', single);
    return (item, names) => parts.every((part) => part(item, names));
  }
  function separatedBy(keyword: string, parse: () => Evaluate): Evaluate[] {
    const parts = [parse()];
    while (tokens[at] === keyword) {
      at++;
      parts.push(parse());
    }
    return parts;
  }
  function single(): Evaluate {
    const token = next();
    if (token === '(') {
      const inner = either();
      expect(')');
      return inner;
    }
    if (token === 'attribute_exists' || token === 'attribute_not_exists') {
      expect('(');
      const name = next();
      expect(')');
      return (item, names) => (item[nameOf(name, names)] !== undefined) === (token === 'attribute_exists');
    }
    const left = operand(token);
    const operator = next();
    if (operator === 'BETWEEN') {
      const first = operand(next());
      expect('AND');
      const last = operand(next());
      return (item, names) => {
        const [lower, upper] = [first(item, names) as string, last(item, names) as string];
        if (lower > upper) throw new InvalidRequest('The lower bound of BETWEEN is above the upper bound');
        const value = left(item, names) as string;
        return value >= lower && value <= upper;
      };
    }
    if (operator === 'IN') {
      expect('(');
      const options = separatedBy(',', () => operand(next()));
      expect(')');
      return (item, names) => options.some((option) => isEqual(left(item, names), option(item, names)));
    }
    const right = operand(next());
    if (operator === '=') return (item, names) => isEqual(left(item, names), right(item, names));
    const compare = COMPARISONS[operator];
    if (!compare) throw unsupported(expression);
    return (item, names) => {
      const [a, b] = [left(item, names), right(item, names)];
      return isComparable(a, b) && compare(a as never, b as never);
    };
  }
});

type Change = (item: Item, before: Item, names: Names) => void;

/** Parses the update expressions of this service. The right sides use the item before the update. */
export const updateOf: (expression: string) => (before: Item, names: Names) => Item = cached((expression) => {
  const tokens = tokensOf(expression);
  const changes: Change[] = [];
  const shortened = new Set<string>();
  let at = 0;
  const next = (): string => tokens[at++] ?? '';
  const expect = (token: string): void => {
    if (next() !== token) throw unsupported(expression);
  };
  while (at < tokens.length) {
    const clause = next();
    const parse = { SET: set, REMOVE: remove, ADD: add }[clause];
    if (!parse) throw unsupported(expression);
    do changes.push(parse());
    while (tokens[at] === ',' && ++at);
  }
  return (before, names) => {
    const item = { ...before };
    for (const change of changes) change(item, before, names);
    for (const token of shortened) {
      const name = nameOf(token, names);
      item[name] = (item[name] as unknown[]).filter((each) => each !== REMOVED);
    }
    return item;
  };

  function set(): Change {
    const name = next();
    expect('=');
    const value = expressionOf();
    return (item, before, names) => {
      item[nameOf(name, names)] = value(before, names);
    };
  }
  function expressionOf(): Evaluate {
    const token = next();
    if (token !== 'if_not_exists' && token !== 'list_append') return operand(token);
    expect('(');
    const first = expressionOf();
    expect(',');
    const second = expressionOf();
    expect(')');
    return token === 'if_not_exists'
      ? (item, names) => (first(item, names) === undefined ? second(item, names) : first(item, names))
      : (item, names) => [...(first(item, names) as unknown[]), ...(second(item, names) as unknown[])];
  }
  function remove(): Change {
    const [, name = '', index] = /^([^[]+)(?:\[(\d+)\])?$/.exec(next()) ?? [];
    if (index !== undefined) shortened.add(name);
    return (item, _before, names) => {
      const key = nameOf(name, names);
      if (index === undefined) delete item[key];
      else item[key] = (item[key] as unknown[]).map((each, i) => (i === Number(index) ? REMOVED : each));
    };
  }
  function add(): Change {
    const name = next();
    const value = operand(next());
    return (item, before, names) => {
      const key = nameOf(name, names);
      item[key] = ((before[key] as number | undefined) ?? 0) + (value(before, names) as number);
    };
  }
});

const REMOVED = Symbol('removed');
