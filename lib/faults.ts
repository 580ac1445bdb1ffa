// Errors of the AWS SDK that mean "try again": nothing was decided, and nothing is wrong with the request.
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
const TRANSIENT_REASONS = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** Others always came first: nothing was changed, and the same request may go out again. */
export class Contention extends Error {
  override readonly name = 'TransactionConflictException';
}

interface CancellationReason {
  Code?: string | undefined;
}

/** Why a DynamoDB transaction was canceled, one code per item; `null` if the error is another. */
export function cancellationCodes(error: unknown): string[] | null {
  const { name, CancellationReasons } = error as { name?: string; CancellationReasons?: CancellationReason[] };
  if (name !== 'TransactionCanceledException') return null;
  return (CancellationReasons ?? []).map(({ Code }) => Code ?? 'None');
}

/** Whether the same request may well succeed a little later. */
export function isTransient(error: unknown): boolean {
  const { name, $retryable } = error as { name?: string; $retryable?: unknown };
  if ($retryable !== undefined || TRANSIENT.has(name ?? '')) return true;
  const codes = cancellationCodes(error)?.filter((code) => code !== 'None') ?? [];
  return codes.length > 0 && codes.every((code) => TRANSIENT_REASONS.has(code));
}

/** Whether a conditional write of a single item found its condition false. */
export const isConditionFailure = (error: unknown): boolean =>
  (error as { name?: string }).name === 'ConditionalCheckFailedException';
