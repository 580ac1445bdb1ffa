/**
 * Checks an argument, because JavaScript callers have no types. Throws one sentence that says what to pass, such as "Pass baseUrl as …,
 * not undefined". It contains no text of the caller, because that can be a secret.
 */
export function requireArgument(
  isCorrect: boolean,
  argument: string,
  value: unknown,
  ErrorClass: new (message: string) => Error = TypeError,
): asserts isCorrect {
  if (!isCorrect) throw new ErrorClass(`Pass ${argument}, not ${nameOf(value)}`);
}

function nameOf(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'empty text' : 'this text';
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'this array';
  return value instanceof Promise ? 'a promise, which needs await' : 'this object';
}

/** Whether a value has members. Arrays and promises have others than those that a caller means. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Promise);
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Timers do not support longer times than 24 days. */
const MAX_SECONDS = 86_400;
/** Throws if a value is no time for a timer. */
export function requireSeconds(name: string, value: unknown): asserts value is number {
  const isCorrect = typeof value === 'number' && value >= 0 && value <= MAX_SECONDS;
  requireArgument(isCorrect, `${name} as a number of seconds from 0 to ${MAX_SECONDS}`, value);
}

/** Throws if an optional function is something else. */
export function requireFunction(name: string, value: unknown): void {
  requireArgument(value === undefined || typeof value === 'function', `${name} as a function`, value);
}
