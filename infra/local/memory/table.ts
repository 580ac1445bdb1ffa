import { conditionOf, updateOf } from './expressions.ts';
import { Partitions, projected, type Read } from './partitions.ts';
import type { Item, Names } from './paths.ts';
import { type Command, DynamoDbError, marshalled, requireValid } from './requests.ts';
import { requireItem, type TableSchema } from './schema.ts';

/** A write in the notation of the document client. */
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

/** An item before and after a write. */
export interface Change {
  key: { pk: string; sk: string };
  before: Item | undefined;
  after: Item | undefined;
}

/** The tokens of transactions to remember. The SDK repeats a transaction within seconds. */
const MAX_TOKENS = 10_000;

export interface MemoryDynamoDbOptions {
  /** Receives all changes of a command before they take effect. If it throws, none takes effect. */
  onCommit?: (changes: readonly Change[]) => void;
  /** Receives every change of an item, like the table's stream. */
  onChange?: (before: Item | undefined, after: Item | undefined) => void;
  /** Replicates a write to indexes and to eventually consistent reads, in the order of the writes. Default: immediately. */
  replicate?: (apply: () => void) => void;
}

/**
 * One table of DynamoDB in memory, with the features that this service uses. Commands run one after another. Transactions are
 * serializable. Reads with `ConsistentRead` see every write. Other reads and indexes see it when it is replicated (DynamoDB
 * Developer Guide, "DynamoDB read consistency"). A stored item never changes, because a change stores another one, and each
 * reader gets a copy. `test/support/replay.ts` compares it with the other databases.
 */
export class MemoryDynamoDb {
  private readonly stored: Partitions;
  private readonly replica: Partitions;
  private readonly indexes: Readonly<Record<string, Partitions>>;
  private readonly unreplicated: Change[] = [];
  private readonly tokens = new Set<string>();
  private readonly schema: TableSchema;
  private readonly options: Required<MemoryDynamoDbOptions>;

  constructor(
    schema: TableSchema,
    { onCommit = () => {}, onChange = () => {}, replicate = (apply) => apply() }: MemoryDynamoDbOptions = {},
  ) {
    const { keys, indexes, projections = {} } = schema;
    this.schema = schema;
    this.options = { onCommit, onChange, replicate };
    this.stored = new Partitions(keys);
    this.replica = new Partitions(keys);
    this.indexes = Object.fromEntries(
      Object.entries(indexes).map(([name, index]) => [name, new Partitions(index, keys, projections[name])]),
    );
  }

  get(pk: string, sk: string): Item | undefined {
    return this.stored.get(pk, sk);
  }

  /** Every item, in no particular order. */
  items(): Generator<Item> {
    return this.stored.items();
  }

  /** Adds an item without a commit, such as one of an earlier process. */
  restore(item: Item): void {
    this.store({ key: keyOf({ Item: item }), before: undefined, after: item });
  }

  /** Performs a command atomically. Throws `InvalidRequest` or `DynamoDbError`. */
  execute(command: Command): object {
    requireValid(command, this.schema);
    const { name, input } = command;
    switch (name) {
      case 'Get':
        return { Item: this.found(input.Key, input) };
      case 'BatchGet': {
        const [[table, request]] = Object.entries(input.RequestItems) as [[string, Read & { Keys: Item[] }]];
        return { Responses: { [table]: request.Keys.map((key) => this.found(key, request)).filter(Boolean) } };
      }
      case 'Scan':
        return this.read(input).scan(input);
      case 'Query':
        return this.read(input).query(input);
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

  private found(key: Item, input: Read): Item | undefined {
    const item = this.read(input).get(String(key.pk), String(key.sk));
    return item && projected(item, input);
  }

  private single(kind: Kind, write: Write): object {
    const failure = this.failureOf(write);
    if (failure) throw new DynamoDbError('ConditionalCheckFailedException', failure);
    const change = this.changeOf(kind, write);
    this.commit([change]);
    return write.ReturnValues === 'ALL_NEW' ? { Attributes: { ...change.after } } : {};
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
      const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
      throw new DynamoDbError('TransactionCanceledException', {
        message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
        CancellationReasons,
      });
    }
    this.commit(writes.map(([kind, write]) => this.changeOf(kind, write)));
    if (token !== undefined) this.tokens.add(token);
    const [oldest = ''] = this.tokens;
    if (this.tokens.size > MAX_TOKENS) this.tokens.delete(oldest);
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
    if (after && kind === 'Update') requireItem(marshalled(after), this.schema);
    return { key, before, after };
  }

  private commit(all: readonly Change[]): void {
    const changes = all.filter(({ before, after }) => before !== after);
    this.options.onCommit(changes);
    for (const change of changes) {
      this.store(change);
      this.options.onChange(change.before, change.after);
    }
  }

  private store(change: Change): void {
    this.stored.replace(change.key.sk, change.before, change.after);
    this.unreplicated.push(change);
    this.options.replicate(() => {
      const count = this.unreplicated.indexOf(change) + 1; // earlier changes first, and each change once
      for (const { key, before, after } of this.unreplicated.splice(0, count)) {
        this.replica.replace(key.sk, before, after);
        for (const index of Object.values(this.indexes)) index.replace(`${key.pk} ${key.sk}`, before, after);
      }
    });
  }
}

function keyOf({ Item, Key }: Pick<Write, 'Item' | 'Key'>): { pk: string; sk: string } {
  const { pk, sk } = Key ?? Item ?? {};
  return { pk: String(pk), sk: String(sk) };
}

function changed(before: Item, write: Write): Item {
  if (!write.Item) return updateOf(write.UpdateExpression ?? '')(before, write);
  return Object.fromEntries(Object.entries(write.Item).filter(([, value]) => value !== undefined));
}
