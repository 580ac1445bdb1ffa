import { readFileSync } from 'node:fs';
import { InvalidRequest } from '../invalid-request.ts';
import { type Condition, ExpressionError, type Operand, type Parsed, type Path } from './syntax.ts';
import { type Attributes, type AttributeValue, sizeOf, typeOf } from './values.ts';

/** The placeholders of a request. */
export interface Placeholders {
  ExpressionAttributeNames?: Readonly<Record<string, string>>;
  ExpressionAttributeValues?: Attributes;
}

/** DynamoDB Developer Guide, "Quotas": "Expression parameters". The operator limit is that of updates. */
const MAX_OPERATORS = 300;
const MAX_PLACEHOLDER_BYTES = 255;
const MAX_PLACEHOLDERS_BYTES = 2 * 1024 * 1024;
const ORDERED = new Set(['S', 'N', 'B']);

let reservedWords: ReadonlySet<string> | undefined;

/** DynamoDB Developer Guide, "Reserved words in DynamoDB". */
function isReserved(word: string): boolean {
  reservedWords ??= new Set(readFileSync(new URL('reserved-words.txt', import.meta.url), 'utf8').split(/\s+/));
  return reservedWords.has(word.toUpperCase());
}

/** The expressions of one request. Every used placeholder must be defined, and every defined placeholder must be used. */
export class Usage {
  private readonly names: Readonly<Record<string, string>>;
  private readonly values: Attributes;
  /** The size of all values. */
  readonly valueBytes: number;
  private readonly unusedNames: Set<string>;
  private readonly unusedValues: Set<string>;

  constructor({ ExpressionAttributeNames: names, ExpressionAttributeValues: values }: Placeholders) {
    requirePlaceholders('ExpressionAttributeNames', names);
    requirePlaceholders('ExpressionAttributeValues', values);
    this.names = names ?? {};
    this.values = values ?? {};
    this.unusedNames = new Set(Object.keys(this.names));
    this.unusedValues = new Set(Object.keys(this.values));
    this.valueBytes = sizeOf(this.values);
    let bytes = this.valueBytes;
    for (const key of this.unusedNames) bytes += Buffer.byteLength(key) + Buffer.byteLength(this.names[key] ?? '');
    if (bytes > MAX_PLACEHOLDERS_BYTES)
      throw new InvalidRequest('The expression attribute names and values are larger than 2 MB');
  }

  /** Parses an expression of the request. `member` names it in errors. */
  read<Tree>(member: string, text: string | undefined, parse: (text: string) => Parsed<Tree>): Tree | undefined {
    if (text === undefined) return undefined;
    try {
      const { tree, paths, values, operators } = parse(text);
      for (const path of paths) this.resolve(path);
      for (const value of values) this.value(value);
      if (operators > MAX_OPERATORS)
        throw new ExpressionError(`The expression contains too many operators; operator count: ${operators}`);
      return tree;
    } catch (error) {
      throw error instanceof ExpressionError ? new InvalidRequest(`Invalid ${member}: ${error.message}`) : error;
    }
  }

  /** The names and indexes of a path. */
  resolve(path: Path): (string | number)[] {
    return path.map((part) => {
      if (typeof part === 'number') return part;
      if (part.startsWith('#')) {
        this.unusedNames.delete(part);
        const name = Object.hasOwn(this.names, part) ? this.names[part] : undefined;
        if (name !== undefined) return name;
        throw new ExpressionError(
          `An expression attribute name used in the document path is not defined; attribute name: ${part}`,
        );
      }
      if (isReserved(part))
        throw new ExpressionError(`Attribute name is a reserved keyword; reserved keyword: ${part}`);
      return part;
    });
  }

  value(placeholder: string): AttributeValue {
    this.unusedValues.delete(placeholder);
    const value = Object.hasOwn(this.values, placeholder) ? this.values[placeholder] : undefined;
    if (value) return value;
    throw new ExpressionError(
      `An expression attribute value used in expression is not defined; attribute value: ${placeholder}`,
    );
  }

  valueOf(operand: Operand): AttributeValue | undefined {
    return 'value' in operand ? this.value(operand.value) : undefined;
  }

  /** Throws if a placeholder is unused. */
  finish(): void {
    for (const [member, unused] of [
      ['ExpressionAttributeNames', this.unusedNames],
      ['ExpressionAttributeValues', this.unusedValues],
    ] as const)
      if (unused.size > 0)
        throw new InvalidRequest(
          `Value provided in ${member} unused in expressions: keys: {${[...unused].join(', ')}}`,
        );
  }

  /** Throws if a condition compares values that are not comparable. */
  requireComparable(member: string, condition: Condition): void {
    if ('all' in condition) for (const each of condition.all) this.requireComparable(member, each);
    else if ('any' in condition) for (const each of condition.any) this.requireComparable(member, each);
    else if ('not' in condition) this.requireComparable(member, condition.not);
    else if ('between' in condition) this.requireRange(member, condition.low, condition.high);
    else if ('compare' in condition && !['=', '<>'].includes(condition.compare))
      for (const operand of [condition.left, condition.right]) this.requireOrdered(member, condition.compare, operand);
  }

  private requireRange(member: string, low: Operand, high: Operand): void {
    for (const operand of [low, high]) this.requireOrdered(member, 'BETWEEN', operand);
    const [first, last] = [this.valueOf(low), this.valueOf(high)];
    if (!first || !last) return;
    if (typeOf(first) !== typeOf(last))
      throw new InvalidRequest(
        `Invalid ${member}: The BETWEEN operator requires same data type for lower and upper bounds`,
      );
    if (isAbove(first, last))
      throw new InvalidRequest(
        `Invalid ${member}: The BETWEEN operator requires upper bound to be greater than or equal to lower bound`,
      );
  }

  private requireOrdered(member: string, operator: string, operand: Operand): void {
    const value = this.valueOf(operand);
    if (value && !ORDERED.has(typeOf(value)))
      throw new InvalidRequest(
        `Invalid ${member}: Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${typeOf(value)}`,
      );
  }
}

function requirePlaceholders(member: string, map: object | undefined): void {
  if (!map) return;
  const keys = Object.keys(map);
  if (keys.length === 0) throw new InvalidRequest(`${member} must not be empty`);
  const valid = member === 'ExpressionAttributeNames' ? /^#\w+$/ : /^:\w+$/;
  for (const key of keys) {
    if (!valid.test(key)) throw new InvalidRequest(`${member} contains invalid key: Syntax error; key: "${key}"`);
    if (key.length > MAX_PLACEHOLDER_BYTES)
      throw new InvalidRequest(`${member} contains invalid key: The key is longer than ${MAX_PLACEHOLDER_BYTES} bytes`);
  }
}

function isAbove(first: AttributeValue, last: AttributeValue): boolean {
  if (first.N !== undefined) return Number(first.N) > Number(last.N);
  return Buffer.compare(Buffer.from(String(first.S ?? first.B)), Buffer.from(String(last.S ?? last.B))) > 0;
}
