import { ConflictError, RefusedError, UnavailableError } from '../errors.ts';

// Errors of the AWS SDK for valid requests that can succeed later.
const TRANSIENT = new Set([
  'InternalServerError',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ServiceUnavailable',
  'ThrottlingException',
  'TimeoutError',
  'TransactionConflictException',
  'TransactionInProgressException',
]);

/** Whether the same request can succeed later. */
function isTransient(error: unknown): boolean {
  const { name, $retryable } = error as { name?: string; $retryable?: unknown };
  return $retryable !== undefined || TRANSIENT.has(name ?? '');
}

// Errors of the AWS SDK that reject the content of a request. Repeating the request cannot help.
const REFUSALS = new Set(['InvalidMessageContents', 'SerializationException', 'ValidationException']);

/** Converts an error of the AWS SDK to the domain error that callers can handle without knowing AWS. */
export function domainError(error: unknown): unknown {
  if (isTransient(error)) return new UnavailableError(error);
  const { name, message } = error as Error;
  return REFUSALS.has(name) ? new RefusedError(message, { cause: error }) : error;
}

/**
 * Whether an error says nothing about the input: AWS failed, was unreachable or denied access, so the same input can succeed
 * later. Rejected inputs and bugs are not outages, because every repetition fails in the same way.
 */
export function isOutage(error: unknown): boolean {
  // TypeErrors of Node have a `code` too.
  if (error instanceof RefusedError || error instanceof TypeError || error instanceof RangeError) return false;
  if (error instanceof UnavailableError || error instanceof ConflictError) return true;
  return error instanceof Error && ('$metadata' in error || 'code' in error); // the SDK's errors and Node's system errors
}
