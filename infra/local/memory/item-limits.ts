import type { Item, Names } from './expressions.ts';
import { marshalled } from './requests.ts';
import { requireItem, type TableSchema } from './schema.ts';
import { MAX_ITEM_BYTES } from './values.ts';

/** The maximum UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_OF_CHARACTER = 3;

/** Checks the items that updates create. Calculates the exact size of an item only when it can exceed the limit. */
export class ItemLimits {
  private readonly atMostBytes = new WeakMap<Item, number>();
  private readonly schema: TableSchema;
  private readonly keysOfIndexes: readonly string[];

  constructor(schema: TableSchema) {
    this.schema = schema;
    this.keysOfIndexes = Object.values(schema.indexes).flat();
  }

  /** Throws if an update makes an item too large, or a key of an index invalid. */
  requireUpdated(before: Item, after: Item, write: Names): void {
    const { ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = write;
    const added = JSON.stringify([ExpressionAttributeNames, ExpressionAttributeValues]).length * MAX_BYTES_OF_CHARACTER;
    const known = this.atMostBytes.get(before);
    const bytes = (known ?? 0) + added;
    const changesIndex = this.keysOfIndexes.some((name) => after[name] !== before[name]);
    const isExact = known === undefined || bytes > MAX_ITEM_BYTES || changesIndex;
    this.atMostBytes.set(after, isExact ? requireItem(marshalled(after), this.schema) : bytes);
  }
}
