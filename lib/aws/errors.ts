import { UnavailableError } from '../errors.ts';

// Errors of the AWS SDK that mean "try again": nothing is wrong with the request.
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

/** Whether the same request may well succeed a little later. */
function isTransient(error: unknown): boolean {
  const { name, $retryable } = error as { name?: string; $retryable?: unknown };
  return $retryable !== undefined || TRANSIENT.has(name ?? '');
}

/** What an error of the AWS SDK means to those who know nothing of AWS. */
export const domainError = (error: unknown): unknown => (isTransient(error) ? new UnavailableError(error) : error);
