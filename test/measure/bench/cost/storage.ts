import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** The bytes that DynamoDB adds to every item for indexing (DynamoDB pricing). */
const ITEM_OVERHEAD = 100;

/** The billed storage of an item in bytes (DynamoDB Developer Guide, "DynamoDB item sizes and formats"). */
export const storedBytesOf = (item: Record<string, AttributeValue>): number => ITEM_OVERHEAD + membersOf(item);

const membersOf = (members: Record<string, AttributeValue>): number =>
  Object.entries(members).reduce((total, [name, value]) => total + Buffer.byteLength(name) + bytesOf(value), 0);

function bytesOf({ S, N, L, M }: AttributeValue): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (N !== undefined) return Math.ceil(N.length / 2) + 1;
  // A list or map needs three bytes, and each of its entries one.
  if (L !== undefined) return 3 + L.reduce((total, entry) => total + 1 + bytesOf(entry), 0);
  if (M !== undefined) return 3 + Object.keys(M).length + membersOf(M);
  return 1;
}
