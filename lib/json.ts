import { isDeepStrictEqual } from 'node:util';

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

// `JSON.parse` with source text access (ECMA-262 proposal, in V8 11.4 and later) is not yet in TypeScript's library.
const native = JSON as unknown as {
  parse(text: string, reviver: (member: string, value: Json, context: { source?: string }) => Json): Json;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** Without a match, every number in a text is an integer of at most 15 digits, which a double represents exactly. */
const MAY_LOSE_DIGITS = /-0|\d[.eE]|\d{16}/;

/**
 * Parses JSON and keeps every digit: `JSON.stringify` of the result prints each number as it was. Throws `SyntaxError`, also if
 * the text is nested deeper than `maxDepth`. Without it, the text must come from the service.
 */
export function parseJson(text: string, maxDepth?: number): Json {
  if (maxDepth !== undefined && depthOf(text) > maxDepth)
    throw new SyntaxError(`nested deeper than ${maxDepth} levels`);
  return MAY_LOSE_DIGITS.test(text) ? parseExactly(text) : JSON.parse(text);
}

/** Parses with the source of each number. Numbers repeat in large texts, and `JSON.rawJSON` is slow. */
function parseExactly(text: string): Json {
  const numbers = new Map<string, RawNumber>();
  return native.parse(text, (_member, value, { source }) => {
    if (source === undefined || typeof value !== 'number' || String(value) === source) return value;
    const number = numbers.get(source) ?? native.rawJSON(source);
    numbers.set(source, number);
    return number;
  });
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

/** Returns the given members of a change whose values differ from the current ones. */
export function changedMembers<Change extends object>(change: Change, current: Record<string, unknown>): Change {
  const changed = Object.entries(change).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(value, current[name]),
  );
  return Object.fromEntries(changed) as Change;
}
