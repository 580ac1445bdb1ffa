import { InvalidRequest } from '../models/invalid-request.ts';
import { COMPARISONS, isComparable, isEqual } from './comparisons.ts';
import { copyFor, type Item, type Names, removeAt, setAt, valueAt, valueNamed } from './paths.ts';

type Evaluate = (item: Item, names: Names) => unknown;

const TOKEN = /\s*(<=|>=|<|>|=|[(),]|[#:]?[A-Za-z_]\w*(?:\.#\w+)*(?:\[\d+\])?)/gy;

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

/** A value, a member or the size of a map. */
const operand = (token: string): Evaluate =>
  token.startsWith(':') ? (_item, names) => valueNamed(token, names) : (item, names) => valueAt(item, token, names);
const sizeOf =
  (token: string): Evaluate =>
  (item, names) => {
    const map = valueAt(item, token, names);
    return map === undefined ? undefined : Object.keys(map as object).length;
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
      return (item, names) => (valueAt(item, name, names) !== undefined) === (token === 'attribute_exists');
    }
    const left = token === 'size' ? size() : operand(token);
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
  function size(): Evaluate {
    expect('(');
    const name = next();
    expect(')');
    return sizeOf(name);
  }
});

type Change = (item: Item, before: Item, names: Names) => void;

/** Parses the update expressions of this service. The right sides use the item before the update. */
export const updateOf: (expression: string) => (before: Item, names: Names) => Item = cached((expression) => {
  const tokens = tokensOf(expression);
  const changes: Change[] = [];
  const paths = tokens.filter((token) => token.includes('.'));
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
    const item = copyFor(before, paths, names);
    for (const change of changes) change(item, before, names);
    for (const token of shortened) {
      const list = valueAt(item, token, names) as unknown[];
      setAt(
        item,
        token,
        names,
        list.filter((each) => each !== REMOVED),
      );
    }
    return item;
  };

  function set(): Change {
    const name = next();
    expect('=');
    const value = expressionOf();
    return (item, before, names) => setAt(item, name, names, value(before, names));
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
      if (index === undefined) return removeAt(item, name, names);
      const list = valueAt(item, name, names) as unknown[];
      setAt(
        item,
        name,
        names,
        list.map((each, i) => (i === Number(index) ? REMOVED : each)),
      );
    };
  }
  function add(): Change {
    const name = next();
    const value = operand(next());
    return (item, before, names) => {
      const sum = ((valueAt(before, name, names) as number | undefined) ?? 0) + (value(before, names) as number);
      setAt(item, name, names, sum);
    };
  }
});

const REMOVED = Symbol('removed');
