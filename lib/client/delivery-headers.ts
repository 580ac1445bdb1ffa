import { isObject } from './arguments.ts';

/** Headers that have `get`, such as those of another implementation of `fetch`. */
interface WithGet {
  get(name: string): unknown;
}

/** The headers of a request: `Headers` of any library, pairs of names and values, or an object such as `request.headers` of Node.js. */
export type DeliveryHeaders =
  | WithGet
  | Iterable<readonly [string, string | readonly string[]]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Returns a function that finds a header by its lowercase name, or `null` if the argument does not contain headers. Libraries have
 * their own `Headers`, so `instanceof` would not recognize them.
 */
export function headerReader(given: unknown): ((name: string) => string | undefined) | null {
  if (!(isObject(given) || Array.isArray(given))) return null;
  const { get, headers } = given as { get?: unknown; headers?: unknown };
  const isIterable = Symbol.iterator in given;
  if (!isIterable && typeof get === 'function') return (name) => firstOf(get.call(given, name));
  if (isObject(headers)) return null; // a request
  const pairs: unknown[] = isIterable ? [...(given as Iterable<unknown>)] : Object.entries(given);
  if (!pairs.every(isPair)) return null;
  return (name) => firstOf(pairs.find(([each]) => each.toLowerCase() === name)?.[1]);
}

const isPair = (value: unknown): value is [string, unknown] => Array.isArray(value) && typeof value[0] === 'string';

/** The first value of a repeated header. */
function firstOf(value: unknown): string | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : undefined;
}
