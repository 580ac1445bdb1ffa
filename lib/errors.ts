/** Gave up after too many write conflicts: nothing was changed, and the same request may be sent again. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
}

/**
 * A service that this one stands on was throttled, timed out or failed inside. The same call may well succeed a little later;
 * nobody knows whether this one took effect.
 */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';

  constructor(cause: unknown) {
    super((cause as Error).message, { cause });
  }
}

/** Not a failure: the message must come again, because somebody else is at work on it. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError';
}

/** A service refused the input itself: the same call fails in the same way however often it is repeated. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}
