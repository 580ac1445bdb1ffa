/** Too many write conflicts. Nothing was changed, and the same request can be repeated. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
}

/**
 * An AWS service throttled a call, timed out or failed internally. The same call can succeed later. It is unknown whether this
 * one took effect.
 */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';

  constructor(cause: unknown) {
    super((cause as Error).message, { cause });
  }
}

/** Not a failure. The message must be received again, because another run is processing it. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError';
}

/** A service rejected the input, so every repetition of the call fails in the same way. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}
