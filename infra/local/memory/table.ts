import { BY_PROJECT, BY_STATUS } from '../../../lib/deployment.ts';
import type { TableSchema } from '../models/dynamodb/schema.ts';
import { MAX_ITEM_BYTES } from '../models/dynamodb/values.ts';
import { conditionOf, type Item, type Names, updateOf } from './expressions.ts';
import { type Command, marshalled, requireStorable, requireValid } from './requests.ts';

/** A write in the format of the document client. */
interface Write extends Names {
  Item?: Item;
  Key?: Item;
  ConditionExpression?: string;
  UpdateExpression?: string;
  ReturnValues?: string;
  ReturnValuesOnConditionCheckFailure?: string;
}
type Kind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck';
type TransactItem = Partial<Record<Kind, Write>>;

/** The filters of a read. */
interface Read {
  ConsistentRead?: boolean;
  IndexName?: string;
}

/** An item before and after a write. */
interface Change {
  key: { pk: string; sk: string };
  before: Item | undefined;
  after: Item | undefined;
}

class DynamoDbError extends Error {
  [member: string]: unknown;
  constructor(name: string, members: object = {}) {
    super(name);
    this.name = name;
    Object.assign(this, members);
  }
}

const QUERY_PAGE = 1000;
/** The maximum UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_OF_CHARACTER = 3;

/** The schema of the table in the template (infra/data.ts). */
export const SCHEMA: TableSchema = {
  keys: ['pk', 'sk'],
  indexes: { [BY_PROJECT]: ['keysOf', 'pk'], [BY_STATUS]: ['byStatus', 'sk'] },
};

/** Items by their key in the table or in an index. An index contains only items with its partition key. */
class Partitions {
  readonly partition: string;
  readonly order: 'pk' | 'sk';
  private readonly all = new Map<unknown, Map<string, Item>>();

  constructor(partition: string, order: 'pk' | 'sk') {
    this.partition = partition;
    this.order = order;
  }

  get(partition: string, id: string): Item | undefined {
    return this.all.get(partition)?.get(id);
  }

  /** Returns the items of the partition in the values of a query. */
  named(values: Record<string, unknown> = {}): Item[] {
    const name = Object.values(values).find((value) => this.all.has(value));
    return [...(this.all.get(name)?.values() ?? [])];
  }

  *items(): Generator<Item> {
    for (const partition of this.all.values()) yield* partition.values();
  }

  replace(id: string, before: Item | undefined, after: Item | undefined): void {
    const [left, entered] = [before?.[this.partition], after?.[this.partition]];
    if (left !== undefined && left !== entered) this.all.get(left)?.delete(id);
    if (after === undefined || entered === undefined) return;
    const partition = this.all.get(entered);
    if (partition) partition.set(id, after);
    else this.all.set(entered, new Map([[id, after]]));
  }
}

export interface MemoryDynamoDbOptions {
  /** Receives every change of an item, like the table's stream. */
  onChange?: (before: Item | undefined, after: Item | undefined) => void;
  /** Replicates a write to indexes and to eventually consistent reads, in the order of the writes. Default: immediately. */
  replicate?: (apply: () => void) => void;
}

/**
 * One table of DynamoDB in memory, with the features that this service uses. Commands run one after another. Transactions are
 * serializable. Reads with `ConsistentRead` see every write. Other reads and indexes see it when it is replicated (DynamoDB
 * Developer Guide, "DynamoDB read consistency"). A stored item never changes, because a change stores another one, and each
 * reader gets a copy. The contract tests compare it with the local database.
 */
export class MemoryDynamoDb {
  private readonly stored = new Partitions('pk', 'sk');
  private readonly replica = new Partitions('pk', 'sk');
  private readonly indexes: Record<string, Partitions> = {
    [BY_PROJECT]: new Partitions('keysOf', 'pk'),
    [BY_STATUS]: new Partitions('byStatus', 'sk'),
  };
  private readonly unreplicated: Change[] = [];
  /** The maximum possible bytes of items after updates. */
  private readonly atMostBytes = new WeakMap<Item, number>();
  private readonly tokens = new Set<string>();
  private readonly options: Required<MemoryDynamoDbOptions>;

  constructor({ onChange = () => {}, replicate = (apply) => apply() }: MemoryDynamoDbOptions = {}) {
    this.options = { onChange, replicate };
  }

  get(pk: string, sk: string): Item | undefined {
    return this.stored.get(pk, sk);
  }

  /** Every item, in no particular order. */
  items(): Generator<Item> {
    return this.stored.items();
  }

  /** Performs a command atomically. It must be a valid request. */
  execute(command: Command): object {
    requireValid(command, SCHEMA);
    const { name, input } = command;
    switch (name) {
      case 'Get':
        return { Item: ownOf(this.read(input).get(input.Key.pk, input.Key.sk)) };
      case 'BatchGet': {
        const [[table, request]] = Object.entries(input.RequestItems) as [[string, Read & { Keys: Item[] }]];
        const items = this.read(request);
        const found = request.Keys.map(({ pk, sk }) => ownOf(items.get(String(pk), String(sk)))).filter(Boolean);
        return { Responses: { [table]: found } };
      }
      case 'Scan':
        return this.scan(input);
      case 'Query':
        return this.query(input);
      case 'Put':
        return this.single('Put', input);
      case 'Update':
        return this.single('Update', input);
      case 'Delete':
        return this.single('Delete', input);
      case 'TransactWrite':
        return this.transact(input.TransactItems, input.ClientRequestToken);
      default:
        throw new Error(`Unknown command ${name}`);
    }
  }

  private read({ ConsistentRead, IndexName = '' }: Read): Partitions {
    return this.indexes[IndexName] ?? (ConsistentRead ? this.stored : this.replica);
  }

  private single(kind: Kind, write: Write): object {
    const failure = this.failureOf(write);
    if (failure) throw new DynamoDbError('ConditionalCheckFailedException', failure);
    const change = this.changeOf(kind, write);
    this.store(change);
    return write.ReturnValues === 'ALL_NEW' ? { Attributes: ownOf(change.after) } : {};
  }

  private transact(items: TransactItem[], token: string | undefined): object {
    // The SDK sends the same token with every try of a call, so DynamoDB performs it once.
    if (token !== undefined && this.tokens.has(token)) return {};
    const writes = items.map((each) => Object.entries(each)[0] as [Kind, Write]);
    const failures = writes.map(([, write]) => this.failureOf(write));
    if (failures.some(Boolean)) {
      const CancellationReasons = failures.map((failure) =>
        failure ? { Code: 'ConditionalCheckFailed', ...failure } : { Code: 'None' },
      );
      throw new DynamoDbError('TransactionCanceledException', { CancellationReasons });
    }
    for (const change of writes.map(([kind, write]) => this.changeOf(kind, write))) this.store(change);
    if (token !== undefined) this.tokens.add(token);
    return {};
  }

  private failureOf(write: Write): { Item?: object } | undefined {
    const { pk, sk } = keyOf(write);
    const stored = this.get(pk, sk);
    if (!write.ConditionExpression || conditionOf(write.ConditionExpression)(stored ?? {}, write)) return undefined;
    const isWanted = write.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && stored;
    return isWanted ? { Item: marshalled(stored) } : {};
  }

  private changeOf(kind: Kind, write: Write): Change {
    const key = keyOf(write);
    const before = this.get(key.pk, key.sk);
    if (kind === 'ConditionCheck') return { key, before, after: before };
    const after = kind === 'Delete' ? undefined : changed(before ?? key, write);
    if (after && kind === 'Update') this.requireSize(before ?? {}, after, write);
    return { key, before, after };
  }

  /** Throws if an update makes an item too large. Calculates the exact size only when it can exceed the limit. */
  private requireSize(
    before: Item,
    after: Item,
    { ExpressionAttributeNames = {}, ExpressionAttributeValues = {} }: Write,
  ): void {
    const added = JSON.stringify([ExpressionAttributeNames, ExpressionAttributeValues]).length * MAX_BYTES_OF_CHARACTER;
    const bytes = (this.atMostBytes.get(before) ?? 0) + added;
    this.atMostBytes.set(
      after,
      bytes > MAX_ITEM_BYTES || !this.atMostBytes.has(before) ? requireStorable(after, SCHEMA) : bytes,
    );
  }

  private store(change: Change): void {
    const { key, before, after } = change;
    if (before === after) return;
    this.stored.replace(key.sk, before, after);
    this.unreplicated.push(change);
    this.options.replicate(() => {
      const count = this.unreplicated.indexOf(change) + 1; // earlier changes first, and each change once
      for (const { key, before, after } of this.unreplicated.splice(0, count)) {
        this.replica.replace(key.sk, before, after);
        for (const index of Object.values(this.indexes)) index.replace(idOf(key), before, after);
      }
    });
    this.options.onChange(before, after);
  }

  /** Reads partition by partition. The order has no meaning, but a position must continue where the page ended. */
  private scan(input: Read & { Limit?: number; ExclusiveStartKey?: Item; ProjectionExpression?: string }): object {
    const scanned = this.read(input);
    const place = (item: Item): string => `${item[scanned.partition]} ${item[scanned.order]}`;
    const start = input.ExclusiveStartKey && place(input.ExclusiveStartKey);
    const found = [...scanned.items()]
      .filter((item) => start === undefined || place(item) > start)
      .sort((a, b) => (place(a) > place(b) ? 1 : -1));
    const read = found.slice(0, Math.min(input.Limit ?? QUERY_PAGE, QUERY_PAGE));
    const last = read.length < found.length ? read.at(-1) : undefined;
    const names = input.ProjectionExpression?.split(', ');
    const projected = (item: Item): Item =>
      Object.fromEntries(Object.entries(item).filter(([name]) => names?.includes(name) ?? true));
    return {
      Items: read.map(projected),
      Count: read.length,
      ...(last && { LastEvaluatedKey: { pk: last.pk, sk: last.sk, [scanned.partition]: last[scanned.partition] } }),
    };
  }

  private query(
    input: Names &
      Read & {
        KeyConditionExpression: string;
        FilterExpression?: string;
        Limit?: number;
        ScanIndexForward?: boolean;
        ExclusiveStartKey?: Item;
        Select?: string;
        ProjectionExpression?: string;
      },
  ): object {
    const queried = this.read(input);
    const direction = input.ScanIndexForward === false ? -1 : 1;
    const place = (item: Item): string => String(item[queried.order]);
    const isAfter = (a: string, b: string): boolean => (direction === 1 ? a > b : a < b);
    const start = input.ExclusiveStartKey && place(input.ExclusiveStartKey);
    const isWanted = conditionOf(input.KeyConditionExpression);
    const found = queried
      .named(input.ExpressionAttributeValues)
      .filter((item) => isWanted(item, input) && (start === undefined || isAfter(place(item), start)))
      .sort((a, b) => (isAfter(place(a), place(b)) ? 1 : -1));
    const read = found.slice(0, Math.min(input.Limit ?? QUERY_PAGE, QUERY_PAGE));
    // DynamoDB stops at `Limit`, so the next page can be empty.
    const last = read.length === input.Limit || read.length < found.length ? read.at(-1) : undefined;
    const { FilterExpression } = input;
    const matching = FilterExpression ? read.filter((item) => conditionOf(FilterExpression)(item, input)) : read;
    return {
      ...(input.Select !== 'COUNT' && { Items: matching.map(ownOf) }),
      Count: matching.length,
      ...(last && { LastEvaluatedKey: { pk: last.pk, sk: last.sk, [queried.partition]: last[queried.partition] } }),
    };
  }
}

function keyOf({ Item, Key }: Write): { pk: string; sk: string } {
  const { pk, sk } = Key ?? Item ?? {};
  return { pk: String(pk), sk: String(sk) };
}

/** Returns a copy of a stored item for a reader. */
const ownOf = (item: Item | undefined): Item | undefined => item && { ...item };

const idOf = ({ pk, sk }: { pk: string; sk: string }): string => `${pk} ${sk}`;

function changed(before: Item, write: Write): Item {
  if (!write.Item) return updateOf(write.UpdateExpression ?? '')(before, write);
  return Object.fromEntries(Object.entries(write.Item).filter(([, value]) => value !== undefined));
}
