import { InvalidRequest } from '../models/invalid-request.ts';
import { isObject } from '../models/shapes.ts';

/** An attribute value in DynamoDB JSON. */
export type AttributeValue = Readonly<Record<string, unknown>>;
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** DynamoDB Developer Guide, "Quotas": "Items", "Attributes" and "Data types". */
export const MAX_ITEM_BYTES = 409_600;
/** The maximum number of levels around a value. DynamoDB Local accepts 31 nested lists and rejects 32. */
const MAX_DEPTH = 31;
const MAX_DIGITS = 38;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?$/;

/**
 * Returns the bytes of an item, including names (DynamoDB Developer Guide, "DynamoDB item sizes and formats"). Throws if a value
 * is invalid.
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
export function typeOf(value: AttributeValue): string {
  const types = isObject(value) ? Object.keys(value) : [];
  if (types.length > 1)
    throw new InvalidRequest(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    );
  if (types[0] === undefined)
    throw new InvalidRequest('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes');
  return types[0];
}

/** `depth` is the number of lists and maps around the value. */
function sizeOfValue(attribute: AttributeValue, depth: number): number {
  const type = typeOf(attribute);
  const value = attribute[type];
  switch (type) {
    case 'S':
      return sizeOfText(value);
    case 'N':
      return sizeOfNumber(value);
    case 'B':
      return sizeOfBytes(value);
    case 'BOOL':
      if (typeof value !== 'boolean') throw wrongType();
      return 1;
    case 'NULL':
      if (value !== true)
        throw new InvalidRequest(
          'One or more parameter values were invalid: Null attribute value types must have the value of true',
        );
      return 1;
    case 'SS':
      return sizeOfSet(value, sizeOfText);
    case 'NS':
      return sizeOfSet(value, sizeOfNumber);
    case 'BS':
      return sizeOfSet(value, sizeOfBytes);
    case 'L': {
      if (!Array.isArray(value)) throw wrongType();
      const inside = deeper(depth);
      return value.reduce((sum: number, each: AttributeValue) => sum + 1 + sizeOfValue(each, inside), 3);
    }
    case 'M': {
      if (!isObject(value)) throw wrongType();
      const inside = deeper(depth);
      let bytes = 3;
      // Includes inherited members, because the SDK sends them. `marshall` turns a member `__proto__` into an inherited one.
      for (const name in value)
        bytes += 1 + Buffer.byteLength(name) + sizeOfValue(value[name] as AttributeValue, inside);
      return bytes;
    }
    default:
      throw new InvalidRequest('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes');
  }
}

function deeper(depth: number): number {
  if (depth === MAX_DEPTH)
    throw new InvalidRequest(
      'Nesting Levels have exceeded supported limits: Attributes have nested levels beyond supported limit',
    );
  return depth + 1;
}

function sizeOfText(value: unknown): number {
  if (typeof value !== 'string' || !value.isWellFormed()) throw wrongType();
  return Buffer.byteLength(value);
}

function sizeOfBytes(value: unknown): number {
  return Buffer.byteLength(String(value), 'base64');
}

/** One byte for every two significant digits, plus one. */
function sizeOfNumber(value: unknown): number {
  if (typeof value !== 'string') throw wrongType();
  const [, digits = '', exponent = '0'] = NUMBER.exec(value) ?? [];
  if (digits === '') throw new InvalidRequest(`The parameter cannot be converted to a numeric value: ${value}`);
  const [whole = '', fraction = ''] = digits.split('.');
  const leading = (whole + fraction).replace(/^0+/, '');
  const significant = leading.replace(/0+$/, '').length;
  if (significant > MAX_DIGITS)
    throw new InvalidRequest('Attempting to store more than 38 significant digits in a Number');
  const magnitude = leading.length - fraction.length + Number(exponent) - 1;
  if (significant > 0 && magnitude > 125)
    throw new InvalidRequest(
      'Number overflow. Attempting to store a number with magnitude larger than supported range',
    );
  if (significant > 0 && magnitude < -130)
    throw new InvalidRequest(
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    );
  return Math.ceil(significant / 2) + 1;
}

function sizeOfSet(value: unknown, sizeOfEntry: (entry: unknown) => number): number {
  if (!Array.isArray(value)) throw wrongType();
  if (value.length === 0) throw new InvalidRequest('One or more parameter values were invalid: A set may not be empty');
  if (new Set(value).size < value.length)
    throw new InvalidRequest('One or more parameter values were invalid: Input collection contains duplicates.');
  return value.reduce((sum: number, entry) => sum + sizeOfEntry(entry), 0);
}

const wrongType = (): InvalidRequest =>
  new InvalidRequest('The type of an attribute value is not that of its name', 'SerializationException');
