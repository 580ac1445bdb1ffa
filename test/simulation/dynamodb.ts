import { marshall } from '@aws-sdk/util-dynamodb';
import { BY_PROJECT, BY_STATUS } from '../../lib/deployment.ts';
import { conditionOf, type Item, type Names, updateOf } from './expressions.ts';

/** A write as the document client sends it. */
interface Write extends Names {
  Item?: Item;
  Key?: Item;
  ConditionExpression?: string;
  UpdateExpression?: string;
  ReturnValuesOnConditionCheckFailure?: string;
}
type Kind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck';
type TransactItem = Partial<Record<Kind, Write>>;

/** A command of the document client: its name without `Command`, and its input. */
export interface Command {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: inputs of many shapes
  input: any;
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

/** The keys of the indexes. */
const INDEXES: Record<string, [partition: string, order: 'pk' | 'sk']> = {
  [BY_PROJECT]: ['keysOf', 'pk'],
  [BY_STATUS]: ['byStatus', 'sk'],
};

/**
 * One table of DynamoDB in memory: what this service uses of it, one command after another. Transactions are serializable,
 * reads see everything. The contract tests hold it to what the local database does.
 */
export class MemoryDynamoDb {
  private readonly partitions = new Map<string, Map<string, Item>>();
  private readonly tokens = new Set<string>();
  private readonly onChange: (before: Item | undefined, after: Item | undefined) => void;

  /** `onChange` is told of every change of an item: the table's stream. */
  constructor(onChange: (before: Item | undefined, after: Item | undefined) => void = () => {}) {
    this.onChange = onChange;
  }

  get(pk: string, sk: string): Item | undefined {
    return this.partitions.get(pk)?.get(sk);
  }

  /** Every item, in no particular order. */
  *items(): Generator<Item> {
    for (const partition of this.partitions.values()) yield* partition.values();
  }

  /** Carries a command out, all of it or nothing. */
  execute({ name, input }: Command): object {
    switch (name) {
      case 'Get':
        return { Item: copyOf(this.get(input.Key.pk, input.Key.sk)) };
      case 'BatchGet': {
        const [[table, { Keys }]] = Object.entries(input.RequestItems) as [[string, { Keys: Item[] }]];
        const found = Keys.map(({ pk, sk }) => copyOf(this.get(String(pk), String(sk)))).filter(Boolean);
        return { Responses: { [table]: found } };
      }
      case 'Query':
        return this.query(input);
      case 'Put':
        return this.single('Put', input);
      case 'Update':
        return this.single('Update', input);
      case 'TransactWrite':
        return this.transact(input.TransactItems, input.ClientRequestToken);
      default:
        throw new Error(`Unknown command ${name}`);
    }
  }

  private single(kind: Kind, write: Write): object {
    const failure = this.failureOf(write);
    if (failure) throw new DynamoDbError('ConditionalCheckFailedException', failure);
    const item = this.apply(kind, write);
    return { Attributes: copyOf(item) };
  }

  private transact(items: TransactItem[], token: string | undefined): object {
    // The SDK sends the same token with every try of one call: DynamoDB carries it out once.
    if (token !== undefined && this.tokens.has(token)) return {};
    const writes = items.map((each) => Object.entries(each)[0] as [Kind, Write]);
    const keys = new Set(writes.map(([, write]) => idOf(keyOf(write))));
    if (keys.size < writes.length) throw new DynamoDbError('ValidationException', { message: 'One item twice' });
    const failures = writes.map(([, write]) => this.failureOf(write));
    if (failures.some(Boolean)) {
      const CancellationReasons = failures.map((failure) =>
        failure ? { Code: 'ConditionalCheckFailed', ...failure } : { Code: 'None' },
      );
      throw new DynamoDbError('TransactionCanceledException', { CancellationReasons });
    }
    for (const [kind, write] of writes) this.apply(kind, write);
    if (token !== undefined) this.tokens.add(token);
    return {};
  }

  private failureOf(write: Write): { Item?: object } | undefined {
    const { pk, sk } = keyOf(write);
    const stored = this.get(pk, sk);
    if (!write.ConditionExpression || conditionOf(write.ConditionExpression)(stored ?? {}, write)) return undefined;
    const isWanted = write.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && stored;
    return isWanted ? { Item: marshall(stored, { removeUndefinedValues: true }) } : {};
  }

  private apply(kind: Kind, write: Write): Item | undefined {
    const { pk, sk } = keyOf(write);
    const before = this.get(pk, sk);
    if (kind === 'ConditionCheck') return before;
    if (kind === 'Delete') {
      this.partitions.get(pk)?.delete(sk);
      this.onChange(before, undefined);
      return undefined;
    }
    const after =
      kind === 'Put'
        ? withoutUndefined(write.Item ?? {})
        : updateOf(write.UpdateExpression ?? '')(before ?? { pk, sk }, write);
    let partition = this.partitions.get(pk);
    if (!partition) {
      partition = new Map();
      this.partitions.set(pk, partition);
    }
    partition.set(sk, after);
    this.onChange(before, after);
    return after;
  }

  private query(
    input: Names & {
      IndexName?: string;
      KeyConditionExpression: string;
      FilterExpression?: string;
      Limit?: number;
      ScanIndexForward?: boolean;
      ExclusiveStartKey?: Item;
      Select?: string;
      ProjectionExpression?: string;
    },
  ): object {
    const [partition, order] = INDEXES[input.IndexName ?? ''] ?? ['pk', 'sk'];
    const direction = input.ScanIndexForward === false ? -1 : 1;
    const isWanted = conditionOf(input.KeyConditionExpression);
    const start = input.ExclusiveStartKey?.[order] as string | undefined;
    const pk = Object.values(input.ExpressionAttributeValues ?? {}).find((value) => this.partitions.has(String(value)));
    const candidates = input.IndexName ? [...this.items()] : [...(this.partitions.get(String(pk))?.values() ?? [])];
    const found = candidates
      .filter((item) => isWanted(item, input))
      .sort((a, b) => (String(a[order]) < String(b[order]) ? -direction : direction))
      .filter(
        (item) =>
          start === undefined ||
          direction * (String(item[order]) < start ? -1 : String(item[order]) > start ? 1 : 0) > 0,
      );
    const read = found.slice(0, Math.min(input.Limit ?? QUERY_PAGE, QUERY_PAGE));
    // DynamoDB looks no further than `Limit`: the next page may be empty.
    const last = read.length === input.Limit || read.length < found.length ? read.at(-1) : undefined;
    const matching = input.FilterExpression
      ? read.filter((item) => conditionOf(input.FilterExpression ?? '')(item, input))
      : read;
    return {
      ...(input.Select !== 'COUNT' && { Items: matching.map(copyOf) }),
      Count: matching.length,
      ...(last && { LastEvaluatedKey: { pk: last.pk, sk: last.sk, [partition]: last[partition] } }),
    };
  }
}

function keyOf({ Item, Key }: Write): { pk: string; sk: string } {
  const { pk, sk } = Key ?? Item ?? {};
  return { pk: String(pk), sk: String(sk) };
}

const idOf = ({ pk, sk }: { pk: string; sk: string }): string => `${pk} ${sk}`;
const copyOf = (item: Item | undefined): Item | undefined => item && { ...item };
const withoutUndefined = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined));
