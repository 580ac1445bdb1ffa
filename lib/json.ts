/** The maximum nesting of a body. Deeper bodies are rejected, which limits recursion. */
const MAX_JSON_DEPTH = 200;

/** A number whose text is kept because a double would change it (`12345678901234567890`, `1e400`, `-0`, `1.0`). */
export interface RawNumber {
  readonly rawJSON: string;
}

export type Json = null | boolean | number | string | RawNumber | Json[] | { [key: string]: Json };

// JSON.parse with source text access (ECMA-262 proposal, in Node 22 and later), not yet in TypeScript's library.
type SourceReviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;
const native = JSON as unknown as {
  parse(text: string, reviver: SourceReviver): Json;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** Without a match, every number in a text is an integer of at most 15 digits, which a double represents exactly. */
const MAY_LOSE_DIGITS = /-0|\d[.eE]|\d{16}/;

/** Parses JSON and keeps every digit: `JSON.stringify` of the result prints each number as it was. Throws `SyntaxError`. */
export function parseJson(text: string): Json {
  if (depthOf(text) > MAX_JSON_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (!MAY_LOSE_DIGITS.test(text)) return JSON.parse(text);
  return native.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? native.rawJSON(source) : value,
  );
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
