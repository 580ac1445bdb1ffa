import type { AttributeValue } from '@aws-sdk/client-dynamodb';

// Errors of the AWS SDK that mean "try again": nothing is wrong with the request. After some of them (a time-out, an
// internal error) nobody knows whether it was carried out.
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

/** Gave up after too many write conflicts: nothing was changed, and the same request may be sent again. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
}

/** An item in DynamoDB's own notation. */
type AttributeValues = Record<string, AttributeValue>;

interface CancellationReason {
  Code?: string | undefined;
  Item?: AttributeValues | undefined;
}

/** A write whose condition was false: its place among the writes, and the item as it is stored, if there is one. */
export interface FailedCondition {
  index: number;
  item: AttributeValues | undefined;
}

/** The conditions that a single write or a transaction found false; empty if the error is about something else. */
export function failedConditions(error: unknown): FailedCondition[] {
  const { name, Item } = error as { name?: string; Item?: AttributeValues };
  if (name === 'ConditionalCheckFailedException') return [{ index: 0, item: Item }];
  return (cancellationReasons(error) ?? []).flatMap(({ Code, Item: item }, index) =>
    Code === 'ConditionalCheckFailed' ? [{ index, item }] : [],
  );
}

/** Whether a write ran into a transaction that held one of its items: nothing was done (DynamoDB Developer Guide, "Transaction conflict handling"). */
export const isWriteConflict = (error: unknown): boolean =>
  (error as Error).name === 'TransactionConflictException' ||
  (cancellationReasons(error) !== null && isTransient(error));

/** Why a DynamoDB transaction was canceled, one reason per item; `null` if the error is another. */
function cancellationReasons(error: unknown): CancellationReason[] | null {
  const { name, CancellationReasons } = error as { name?: string; CancellationReasons?: CancellationReason[] };
  return name === 'TransactionCanceledException' ? (CancellationReasons ?? []) : null;
}

/** Whether the same request may well succeed a little later. */
export function isTransient(error: unknown): boolean {
  const { name, $retryable } = error as { name?: string; $retryable?: unknown };
  if ($retryable !== undefined || TRANSIENT.has(name ?? '')) return true;
  const codes = (cancellationReasons(error) ?? []).map(({ Code }) => Code ?? 'None').filter((code) => code !== 'None');
  return codes.length > 0 && codes.every((code) => TRANSIENT_REASONS.has(code));
}
