import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ConflictError, RefusedError, UnavailableError } from '../errors.ts';
import type { Item } from './items.ts';

// Errors of the AWS SDK for valid requests that can succeed later.
const TRANSIENT = new Set([
  'InternalServerError',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ServiceUnavailable',
  'Throttling',
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
  if (isTransient(error) || isTransientCancellation(error)) return new UnavailableError(error);
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

const TRANSIENT_REASONS = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

interface CancellationReason {
  Code?: string | undefined;
  Item?: Record<string, AttributeValue> | undefined;
}

/** A write whose condition was false, with its index and the stored item, if any. */
export interface Rejected {
  index: number;
  item: Item | undefined;
}

/** The false conditions of a write or a transaction. Other errors have none. */
export function rejectedWrites(error: unknown): Rejected[] {
  const isOne = (error as Error).name === 'ConditionalCheckFailedException';
  const reasons = isOne ? [{ ...(error as CancellationReason), Code: CONDITION_FAILED }] : cancellationReasons(error);
  return reasons.flatMap(({ Code, Item: item }, index) =>
    Code === CONDITION_FAILED ? [{ index, item: item && unmarshall(item) }] : [],
  );
}

const CONDITION_FAILED = 'ConditionalCheckFailed';

/**
 * Whether a write conflicted with a transaction, so nothing was written (DynamoDB Developer Guide, "Transaction conflict
 * handling").
 */
export const isWriteConflict = (error: unknown): boolean =>
  (error as Error).name === 'TransactionConflictException' || isTransientCancellation(error);

/** Why a DynamoDB transaction was canceled, one reason per item. Other errors have none. */
function cancellationReasons(error: unknown): CancellationReason[] {
  const { name, CancellationReasons = [] } = error as { name?: string; CancellationReasons?: CancellationReason[] };
  return name === 'TransactionCanceledException' ? CancellationReasons : [];
}

function isTransientCancellation(error: unknown): boolean {
  const codes = cancellationReasons(error)
    .map(({ Code = 'None' }) => Code)
    .filter((code) => code !== 'None');
  return codes.length > 0 && codes.every((code) => TRANSIENT_REASONS.has(code));
}
