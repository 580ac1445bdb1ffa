import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { UnavailableError } from '../errors.ts';
import { domainError as awsDomainError } from './domain-errors.ts';

const TRANSIENT_REASONS = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** An item in DynamoDB's own notation. */
type AttributeValues = Record<string, AttributeValue>;

interface CancellationReason {
  Code?: string | undefined;
  Item?: AttributeValues | undefined;
}

/** A write whose condition was false, with its index and the stored item, if any. */
export interface FailedCondition {
  index: number;
  item: AttributeValues | undefined;
}

/** The false conditions of a write or a transaction. Other errors have none. */
export function failedConditions(error: unknown): FailedCondition[] {
  const { name, Item } = error as { name?: string; Item?: AttributeValues };
  if (name === 'ConditionalCheckFailedException') return [{ index: 0, item: Item }];
  return (cancellationReasons(error) ?? []).flatMap(({ Code, Item: item }, index) =>
    Code === 'ConditionalCheckFailed' ? [{ index, item }] : [],
  );
}

/**
 * Whether a write conflicted with a transaction, so nothing was written (DynamoDB Developer Guide, "Transaction conflict
 * handling").
 */
export const isWriteConflict = (error: unknown): boolean =>
  (error as Error).name === 'TransactionConflictException' || isTransientCancellation(error);

/** Why a DynamoDB transaction was canceled, one reason per item; `null` if the error is another. */
function cancellationReasons(error: unknown): CancellationReason[] | null {
  const { name, CancellationReasons } = error as { name?: string; CancellationReasons?: CancellationReason[] };
  return name === 'TransactionCanceledException' ? (CancellationReasons ?? []) : null;
}

/** Converts an error of DynamoDB to the domain error that callers can handle without knowing DynamoDB. */
export const domainError = (error: unknown): unknown =>
  isTransientCancellation(error) ? new UnavailableError(error) : awsDomainError(error);

function isTransientCancellation(error: unknown): boolean {
  const codes = (cancellationReasons(error) ?? []).map(({ Code }) => Code ?? 'None').filter((code) => code !== 'None');
  return codes.length > 0 && codes.every((code) => TRANSIENT_REASONS.has(code));
}
