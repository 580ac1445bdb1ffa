export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };
export type Fields = { [name: string]: Json };

/** A number whose text is kept. `JSON.stringify` prints it unchanged. */
interface RawNumber {
  readonly rawJSON: string;
}
/** `JSON.parse` with source text access (ECMA-262), which the library of TypeScript lacks. */
const native = JSON as unknown as {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** The service accepts 200 levels in a request, and the text around a value has at most 6. */
export const MAX_DEPTH = 190;
const MAX_NAME_LENGTH = 1024;

/**
 * A reviver for `JSON.parse` that keeps each number that a double would change, such as `219587039534784511` and `1e400`. `JSON.stringify`
 * prints them unchanged.
 */
export function exactNumbers(_member: string, value: unknown, { source }: { source?: string } = {}): unknown {
  const isExact = typeof value !== 'number' || source === undefined || String(value) === source;
  return isExact ? value : native.rawJSON(source);
}

export const parse = (text: string): Json => JSON.parse(text, exactNumbers as never);

interface Conversion {
  /** Replaces a value of an engine by plain values, which can contain further ones. */
  plain?(value: object): unknown;
  /** Reports why a part of a value is published as `null` or not at all. */
  onLoss(reason: string): void;
}

/**
 * Returns the JSON of any value: bytes in base64, a BigInt as its digits, a date in ISO 8601, NaN and Infinity as `null`. Values that are
 * no data, such as functions, are `undefined`. The nesting of the value is no limit for the stack.
 */
export function jsonOf(
  value: unknown,
  conversion: Conversion,
  path: ReadonlySet<object> = new Set(),
): Json | undefined {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object') return undefined;
  if (native.isRawJSON(value)) return value as unknown as Json;
  if (value instanceof ArrayBuffer) return base64(new Uint8Array(value));
  if (ArrayBuffer.isView(value)) return base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (path.size >= MAX_DEPTH || path.has(value)) {
    conversion.onLoss(path.has(value) ? 'a value contains itself' : `it is nested deeper than ${MAX_DEPTH} levels`);
    return null;
  }
  const inner = new Set(path).add(value);
  const plain = conversion.plain?.(value);
  if (plain !== undefined) return jsonOf(plain, conversion, path);
  if ('toJSON' in value && typeof value.toJSON === 'function') return jsonOf(value.toJSON(), conversion, inner);
  if (Array.isArray(value)) return value.map((entry) => jsonOf(entry, conversion, inner) ?? null);
  return Object.fromEntries(membersOf(value, conversion, inner));
}

/** Returns the fields of a document. A field can be called `__proto__`. */
export function fieldsOf(document: unknown, conversion: Conversion): Fields {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new TypeError('The fields of a document must be an object.');
  if ('then' in document && typeof document.then === 'function')
    throw new TypeError('The fields of a document must be an object, and no promise of one.');
  const fields = membersOf(document, conversion, new Set());
  const [kept, tooLong] = [fields.filter(hasShortName), fields.filter((field) => !hasShortName(field))];
  if (tooLong.length > 0) conversion.onLoss(`the name of a field has over ${MAX_NAME_LENGTH} characters`);
  return Object.fromEntries(kept);
}

const hasShortName = ([name]: [string, Json]): boolean => name.length <= MAX_NAME_LENGTH;

function membersOf(value: object, conversion: Conversion, path: ReadonlySet<object>): [string, Json][] {
  return Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    const json = jsonOf(member, conversion, path);
    return json === undefined ? [] : [[name.toWellFormed(), json]];
  });
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Whether two values mean the same, whatever the order of their members and the notation of their numbers. */
export function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (a === null || b === null || a === undefined || b === undefined) return false;
  const [first, second] = [numberIn(a), numberIn(b)];
  if (first !== null || second !== null) return first !== null && first === second;
  if (typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) !== Array.isArray(b)) return false;
  const [own, other] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return (
    own.size === other.size && [...own].every(([name, value]) => other.has(name) && isEqual(value, other.get(name)))
  );
}

/** Returns a number as its significant digits and its exponent, so that `1.50`, `1.5` and `15e-1` are the same. */
function numberIn(value: Json): string | null {
  const text = typeof value === 'number' ? String(value) : native.isRawJSON(value) ? value.rawJSON : '';
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (sign === undefined) return null;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
