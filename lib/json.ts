/**
 * The maximum nesting of a body. Deeper bodies are rejected, which limits recursion. Stored JSON can be a few levels deeper, because
 * an event contains the values of a document.
 */
export const MAX_JSON_DEPTH = 200;

/** A number whose text is kept because a double would change it (`12345678901234567890`, `1e400`, `-0`, `1.0`). */
export interface RawNumber {
  readonly rawJSON: string;
}

export type Json = null | boolean | number | string | RawNumber | Json[] | { [key: string]: Json };

// JSON.rawJSON (ECMA-262 proposal, in Node 22 and later) is not yet in TypeScript's library.
const native = JSON as unknown as { rawJSON(text: string): RawNumber; isRawJSON(value: unknown): value is RawNumber };

/** Without a match, every number in a text is an integer of at most 15 digits, which a double represents exactly. */
const MAY_LOSE_DIGITS = /-0|\d[.eE]|\d{16}/;

/**
 * Parses JSON and keeps every digit: `JSON.stringify` of the result prints each number as it was. Throws `SyntaxError`, also if
 * the text is nested deeper than `maxDepth`. Without it, the text must come from the service.
 */
export function parseJson(text: string, maxDepth?: number): Json {
  if (maxDepth !== undefined && depthOf(text) > maxDepth)
    throw new SyntaxError(`nested deeper than ${maxDepth} levels`);
  const parsed = JSON.parse(text);
  return MAY_LOSE_DIGITS.test(text) ? new ExactParser(text).value() : parsed;
}

const [QUOTE, BACKSLASH, COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 44, 91, 93, 123, 125];
/** Whether a character continues a number: a digit, `+`, `-`, `.`, `e` or `E`. */
const isOfNumber = (char: number): boolean =>
  (char >= 48 && char <= 57) || char === 46 || char === 45 || char === 43 || char === 101 || char === 69;

/**
 * Parses a text that is known to be valid JSON. `JSON.parse` with a reviver, which also sees the source of each number, takes six
 * times as long: 190 ms for 1 MiB of decimals.
 */
class ExactParser {
  private at = 0;
  private readonly text: string;
  /** Numbers repeat in large texts, and `JSON.rawJSON` is slow. */
  private readonly numbers = new Map<string, number | RawNumber>();

  constructor(text: string) {
    this.text = text;
  }

  value(): Json {
    this.skipSpace();
    const char = this.text.charCodeAt(this.at);
    if (char === QUOTE) return this.string();
    if (char === OPEN_OBJECT) return this.object();
    if (char === OPEN_ARRAY) return this.array();
    const word = ({ t: true, f: false, n: null } as const)[this.text[this.at] as 't'];
    if (word === undefined) return this.number();
    this.at += String(word).length;
    return word;
  }

  private object(): Json {
    const object: { [key: string]: Json } = {};
    for (this.at++; this.next() !== CLOSE_OBJECT; ) {
      const key = this.string();
      this.next(); // `:`
      this.at++;
      const value = this.value();
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
      else object[key] = value;
      if (this.next() === COMMA) this.at++;
    }
    this.at++;
    return object;
  }

  private array(): Json {
    const array: Json[] = [];
    for (this.at++; this.next() !== CLOSE_ARRAY; ) {
      array.push(this.value());
      if (this.next() === COMMA) this.at++;
    }
    this.at++;
    return array;
  }

  private string(): string {
    const start = this.at;
    let isEscaped = false;
    for (this.at++; this.text.charCodeAt(this.at) !== QUOTE; this.at++) {
      if (this.text.charCodeAt(this.at) !== BACKSLASH) continue;
      isEscaped = true;
      this.at++;
    }
    this.at++;
    return isEscaped ? JSON.parse(this.text.slice(start, this.at)) : this.text.slice(start + 1, this.at - 1);
  }

  private number(): number | RawNumber {
    const start = this.at;
    while (isOfNumber(this.text.charCodeAt(this.at))) this.at++;
    const source = this.text.slice(start, this.at);
    const known = this.numbers.get(source);
    if (known !== undefined) return known;
    const number = Number(source);
    const value = String(number) === source ? number : native.rawJSON(source);
    this.numbers.set(source, value);
    return value;
  }

  /** The next character that is no space. */
  private next(): number {
    this.skipSpace();
    return this.text.charCodeAt(this.at);
  }

  private skipSpace(): void {
    while (this.text.charCodeAt(this.at) <= 32) this.at++;
  }
}

export const isRawNumber = (value: unknown): value is RawNumber => native.isRawJSON(value);

/** An object that is neither an array nor a number in disguise. */
export function isJsonObject(value: unknown): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i++;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x5b || char === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (char === 0x5d || char === 0x7d) depth--;
  }
  return deepest;
}
