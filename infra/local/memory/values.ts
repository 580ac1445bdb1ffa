import { InvalidRequest } from '../models/invalid-request.ts';

/** An attribute value in DynamoDB JSON, as the document client creates it. */
export type AttributeValue = Readonly<Record<string, unknown>>;
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** DynamoDB Developer Guide, "Quotas": "Items", "Attributes" and "Data types". */
const MAX_ITEM_BYTES = 409_600;
/** The maximum number of levels around a value. DynamoDB Local accepts 31 nested lists and rejects 32. */
const MAX_DEPTH = 31;

/**
 * Returns the bytes of an item, including names (DynamoDB Developer Guide, "DynamoDB item sizes and formats"). Throws if a value
 * is invalid, or of a type that the service does not use.
 */
export function sizeOf(attributes: Attributes): number {
  let bytes = 0;
  for (const name of Object.keys(attributes))
    bytes += Buffer.byteLength(name) + sizeOfValue(attributes[name] as AttributeValue, 0);
  return bytes;
}

export function requireItemSize(attributes: Attributes): number {
  const bytes = sizeOf(attributes);
  if (bytes > MAX_ITEM_BYTES) throw new InvalidRequest('Item size has exceeded the maximum allowed size');
  return bytes;
}

/** Returns the type of a value. */
export const typeOf = (value: AttributeValue): string => Object.keys(value)[0] ?? '';

/** `depth` is the number of lists and maps around the value. */
function sizeOfValue(attribute: AttributeValue, depth: number): number {
  const type = typeOf(attribute);
  const value = attribute[type];
  switch (type) {
    case 'S':
      return sizeOfText(String(value));
    case 'N':
      return sizeOfNumber(String(value));
    case 'BOOL':
    case 'NULL':
      return 1;
    case 'L': {
      const inside = deeper(depth);
      return (value as AttributeValue[]).reduce((sum, each) => sum + 1 + sizeOfValue(each, inside), 3);
    }
    case 'M': {
      const inside = deeper(depth);
      let bytes = 3;
      // Includes inherited members, because the SDK sends them. `marshall` turns a member `__proto__` into an inherited one.
      for (const name in value as Attributes)
        bytes += 1 + Buffer.byteLength(name) + sizeOfValue((value as Attributes)[name] as AttributeValue, inside);
      return bytes;
    }
    default:
      throw new InvalidRequest(`The database in memory does not support the type ${type}`);
  }
}

function deeper(depth: number): number {
  if (depth === MAX_DEPTH)
    throw new InvalidRequest(
      'Nesting Levels have exceeded supported limits: Attributes have nested levels beyond supported limit',
    );
  return depth + 1;
}

function sizeOfText(text: string): number {
  if (!text.isWellFormed())
    throw new InvalidRequest('The type of an attribute value is not that of its name', 'SerializationException');
  return Buffer.byteLength(text);
}

/** One byte for every two significant digits, plus one. */
function sizeOfNumber(text: string): number {
  const digits = text.replace(/e.*/i, '').replace(/\D/g, '');
  return Math.ceil(digits.replace(/^0+|0+$/g, '').length / 2) + 1;
}
