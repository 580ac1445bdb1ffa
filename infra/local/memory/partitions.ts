import { InvalidRequest } from '../models/invalid-request.ts';
import { conditionOf } from './expressions.ts';
import { type Item, type Names, nameOf, valueNamed } from './paths.ts';
import type { KeySchema } from './schema.ts';

/** A query or a scan in the notation of the document client. */
export interface Read extends Names {
  ConsistentRead?: boolean;
  IndexName?: string;
  KeyConditionExpression?: string;
  FilterExpression?: string;
  ProjectionExpression?: string;
  Select?: string;
  Limit?: number;
  ScanIndexForward?: boolean;
  ExclusiveStartKey?: Item;
}

/** DynamoDB reads at most 1 MB for one page. This counts bytes of JSON, which a page of full items reaches a little earlier. */
const MAX_PAGE_BYTES = 1_048_576;

/** Items by their key in a table or in an index. An index contains only items with its partition key. */
export class Partitions {
  private readonly keys: KeySchema;
  /** The keys after which a page of a read continues. */
  private readonly position: readonly string[];
  /** The attributes that an index contains, or `undefined` for all. */
  private readonly attributes: ReadonlySet<string> | undefined;
  private readonly all = new Map<unknown, Map<string, Item>>();
  private readonly sizes = new WeakMap<Item, number>();

  constructor(keys: KeySchema, keysOfTable: KeySchema = keys, attributes?: readonly string[]) {
    this.keys = keys;
    this.position = [...new Set([...keys, ...keysOfTable])];
    this.attributes = attributes && new Set([...this.position, ...attributes]);
  }

  get(partition: string, id: string): Item | undefined {
    return this.all.get(partition)?.get(id);
  }

  *items(): Generator<Item> {
    for (const partition of this.all.values()) yield* partition.values();
  }

  /** Replaces an item. `id` identifies it within its partition. */
  replace(id: string, before: Item | undefined, after: Item | undefined): void {
    const [left, entered] = [before, after].map((item) => item?.[this.keys[0]]);
    if (left !== undefined && left !== entered) this.remove(left, id);
    if (after === undefined || entered === undefined) return;
    const partition = this.all.get(entered);
    const contained = this.contained(after);
    if (partition) partition.set(id, contained);
    else this.all.set(entered, new Map([[id, contained]]));
  }

  query(input: Read): object {
    const isWanted = conditionOf(input.KeyConditionExpression ?? '');
    const found = [...(this.all.get(this.partitionOf(input))?.values() ?? [])].filter((item) => isWanted(item, input));
    return this.page(found, input);
  }

  /** Reads partition by partition. The order has no meaning, but a position must continue where the page ended. */
  scan(input: Read): object {
    return this.page([...this.items()], input);
  }

  private remove(partition: unknown, id: string): void {
    const items = this.all.get(partition);
    items?.delete(id);
    if (items?.size === 0) this.all.delete(partition);
  }

  private contained(item: Item): Item {
    if (!this.attributes) return item;
    return Object.fromEntries(Object.entries(item).filter(([name]) => this.attributes?.has(name)));
  }

  private page(items: Item[], input: Read): object {
    const { Limit = Number.POSITIVE_INFINITY, ScanIndexForward = true, ExclusiveStartKey, FilterExpression } = input;
    const direction = ScanIndexForward ? 1 : -1;
    const placed = items.map((item) => ({ item, place: this.placeOf(item) }));
    const start = ExclusiveStartKey && this.placeOf(ExclusiveStartKey);
    const rest = placed
      .filter(({ place }) => start === undefined || compare(place, start) === direction)
      .sort((a, b) => compare(a.place, b.place) * direction)
      .map(({ item }) => item);
    const read = rest.slice(0, Math.min(Limit, this.countOfPage(rest)));
    // DynamoDB stops at `Limit`, so the next page can be empty.
    const last = read.length === Limit || read.length < rest.length ? read.at(-1) : undefined;
    const matching = FilterExpression ? read.filter((item) => conditionOf(FilterExpression)(item, input)) : read;
    return {
      ...(input.Select !== 'COUNT' && { Items: matching.map((item) => projected(item, input)) }),
      Count: matching.length,
      ScannedCount: read.length,
      ...(last && { LastEvaluatedKey: Object.fromEntries(this.position.map((name) => [name, last[name]])) }),
    };
  }

  private countOfPage(items: readonly Item[]): number {
    let bytes = 0;
    const end = items.findIndex((item) => {
      const size = this.sizes.get(item) ?? Buffer.byteLength(JSON.stringify(item));
      this.sizes.set(item, size);
      bytes += size;
      return bytes >= MAX_PAGE_BYTES;
    });
    return end < 0 ? items.length : end + 1;
  }

  private placeOf(item: Item): string {
    return [...this.keys, ...this.position].map((name) => String(item[name])).join(' ');
  }

  private partitionOf(input: Read): unknown {
    const [partition] = this.keys;
    for (const [, name = '', value = ''] of (input.KeyConditionExpression ?? '').matchAll(/([#\w]+)\s*=\s*(:\w+)/g))
      if (nameOf(name, input) === partition) return valueNamed(value, input);
    throw new InvalidRequest(`Query condition missed key schema element: ${partition}`);
  }
}

/** A copy of an item for a reader, with the attributes that the reader wants. */
export function projected(item: Item, input: Pick<Read, 'ProjectionExpression' | 'ExpressionAttributeNames'>): Item {
  if (input.ProjectionExpression === undefined) return { ...item };
  const names = new Set(input.ProjectionExpression.split(',').map((name) => nameOf(name.trim(), input)));
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name)));
}

const compare = (a: string, b: string): number => (a === b ? 0 : a > b ? 1 : -1);
