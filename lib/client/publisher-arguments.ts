import { requireAccess } from './access.ts';
import { isCount, isObject, isText, requireArgument, requireFunction, requireSeconds } from './arguments.ts';
import type { PublisherOptions } from './publisher-types.ts';

const METHODS = ['add', 'count', 'first', 'assign', 'remove'];

/** Checks the options of a publisher. Throws `TypeError`. */
export function requireOptions(options: unknown): asserts options is PublisherOptions {
  requireAccess(options);
  const { outbox, maxWaitSeconds, maxBuffered, onPublished, onRejected, onRetry }: Partial<PublisherOptions> = options;
  const isOutbox = isObject(outbox) && METHODS.every((name) => typeof outbox[name] === 'function');
  const expected = `outbox as an object with the functions ${METHODS.join(', ')}, such as sqliteOutbox(path)`;
  requireArgument(outbox === undefined || isOutbox, expected, outbox);
  if (maxWaitSeconds !== undefined) requireSeconds('maxWaitSeconds', maxWaitSeconds);
  const isLimit = maxBuffered === undefined || (isCount(maxBuffered) && maxBuffered > 0);
  requireArgument(isLimit, 'maxBuffered as a whole number from 1', maxBuffered);
  for (const [name, value] of Object.entries({ onPublished, onRejected, onRetry })) requireFunction(name, value);
}

/** Returns an event as JSON. Throws `TypeError` if it is no event, or if JSON cannot contain one of its values. */
export function jsonOf(event: unknown): string {
  const isEvent = isObject(event) && isText(event.type) && isObject(event.data);
  requireArgument(isEvent, 'an event as an object with type and data', event);
  try {
    return JSON.stringify(event);
  } catch (error) {
    const expected = 'Pass an event of JSON values, without BigInt values and without an object that contains itself';
    throw new TypeError(expected, { cause: error });
  }
}
