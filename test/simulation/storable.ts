/** Bytes of a partition key and of a sort key, also of an index (DynamoDB quotas). */
const MAX_KEY_BYTES: Readonly<Record<string, number>> = { pk: 2048, sk: 1024, keysOf: 2048, byStatus: 2048 };

/**
 * Throws for what the document client cannot marshal, or DynamoDB refuses. The contract tests compare it with both.
 *
 * @param members of an item, or of its key
 */
export function assertStorable(members: object): void {
  for (const [name, value] of Object.entries(members)) {
    assertMarshallable(value);
    const max = MAX_KEY_BYTES[name];
    if (max !== undefined && value !== undefined) assertKey(name, value, max);
  }
}

function assertKey(name: string, value: unknown, maxBytes: number): void {
  if (typeof value !== 'string') throw new TypeError(`The key attribute ${name} is not a string`);
  const bytes = Buffer.byteLength(value);
  if (bytes === 0 || bytes > maxBytes) throw new RangeError(`The key attribute ${name} has ${bytes} bytes`);
}

// The client asks for the constructor of an object, and assigns its members to another one.
function assertMarshallable(value: unknown): void {
  if (typeof value === 'string' && !value.isWellFormed()) throw new TypeError('A string has a lone surrogate');
  if (typeof value !== 'object' || value === null) return;
  for (const name of ['constructor', '__proto__'])
    if (Object.hasOwn(value, name)) throw new TypeError(`Unsupported type passed: a member is called ${name}`);
  for (const member of Object.values(value)) assertMarshallable(member);
}
