import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { allDone, createLimiter } from '../concurrency.ts';
import { batchGetEach, requireRead } from './batch-get.ts';
import { domainError, type Rejected } from './domain-errors.ts';
import type { Item, ItemKey } from './items.ts';
import { layoutCheck } from './layout.ts';
import { type ClientSettings, createClient, type Runtime, variable } from './runtime.ts';
import { carryOut, pauseAtRandom, type Updating, type Write, withoutWriteId } from './writes.ts';

export interface QueryPage {
  items: Item[];
  /** The number of items, also for a query that only counts. */
  count: number;
  /** The key after which the next page starts, or `undefined` at the end. */
  next: ItemKey | undefined;
}
export type Query = Omit<QueryCommandInput, 'TableName' | 'ExclusiveStartKey'> & { after?: object | undefined };

export type Table = ReturnType<typeof createTable>;

/** The concurrent requests, which are fewer than the connections of the SDK (50) and suit a small store. */
const CONCURRENT_REQUESTS = 16;

const rethrow = (error: unknown): never => {
  throw domainError(error);
};

/** Restricts a read to the keys and some members. The names are substituted, because members such as `status` are reserved words. */
function projection(members: readonly string[]) {
  const names = ['pk', 'sk', ...members];
  return {
    ProjectionExpression: names.map((name) => `#${name}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
  };
}

/** The client of the table. It takes and returns JavaScript values. */
class DocumentClient extends DynamoDBDocumentClient {
  constructor(_settings: ClientSettings) {
    super(createClient(DynamoDBClient), { marshallOptions: { removeUndefinedValues: true } });
  }
}

/** The table of the function. Every command is rejected while the table has another layout. */
export function createTable(runtime: Pick<Runtime, 'variables' | 'client' | 'clock' | 'wait' | 'random'>) {
  const name = variable(runtime, 'TABLE_NAME');
  const documents = runtime.client(DocumentClient);
  const pause = pauseAtRandom(runtime);
  const now = runtime.clock;
  // Requests wait here, because the time limits of the SDK include the wait for a connection.
  const limited = createLimiter(CONCURRENT_REQUESTS);
  const named = <T extends object>(input: T): T & { TableName: string } => ({ TableName: name, ...input });
  const getItem = async (Key: ItemKey): Promise<Item | undefined> =>
    (await documents.send(new GetCommand(named({ Key, ConsistentRead: true })))).Item;
  const checkLayout = layoutCheck(getItem);
  // The first read and the check run in parallel.
  const reading = async <T>(act: () => Promise<T>): Promise<T> => {
    const [result] = await limited(() => Promise.all([act(), checkLayout()])).catch(rethrow);
    return result;
  };
  const writing = async <T>(act: () => Promise<T>): Promise<T> => {
    await checkLayout();
    return limited(act);
  };

  /** Reads are strongly consistent by default, except on an index. */
  const inputOf = ({ after, ...read }: Query) =>
    named({
      ConsistentRead: read.IndexName === undefined,
      ...read,
      ExclusiveStartKey: after as Item | undefined,
    });
  const pageOf = ({ Items = [], Count = 0, LastEvaluatedKey }: QueryCommandOutput): QueryPage => ({
    items: Items.map(withoutWriteId),
    count: Count,
    next: LastEvaluatedKey as ItemKey | undefined,
  });

  const query = async (input: Query): Promise<QueryPage> =>
    pageOf(await reading(() => documents.send(new QueryCommand(inputOf(input)))));

  /** Reads page after page on demand. */
  async function* queryAll(all: Query): AsyncGenerator<Item> {
    let { after } = all;
    do {
      const { items, next } = await query({ ...all, after });
      yield* items;
      after = next;
    } while (after !== undefined);
  }

  /** Reads the items of a part of a batch: all of their members, or the keys and some members. */
  const reader = (ConsistentRead: boolean, members?: readonly string[]) => async (Keys: ItemKey[]) => {
    const request = { RequestItems: { [name]: { Keys, ConsistentRead, ...(members && projection(members)) } } };
    const { Responses, UnprocessedKeys } = await reading(() => documents.send(new BatchGetCommand(request)));
    const items: Item[] = (Responses?.[name] ?? []).map(withoutWriteId);
    return { items, unprocessed: (UnprocessedKeys?.[name]?.Keys ?? []) as ItemKey[] };
  };

  return {
    now,
    /** The epoch of the table, which a restore raises. A function uses one table, so it reads the epoch once. */
    epoch: (): Promise<number> => checkLayout().catch(rethrow),
    query,
    queryAll,

    /** Removes items separately and without a condition, so a repetition is harmless. */
    async removeAll(keys: readonly ItemKey[]): Promise<void> {
      await allDone(keys.map((Key) => writing(() => documents.send(new DeleteCommand(named({ Key })))).catch(rethrow)));
    },

    /** Strongly consistent. */
    async get(key: ItemKey): Promise<Item | undefined> {
      const item = await reading(() => getItem(key));
      return item && withoutWriteId(item);
    },

    /** Returns the item, `undefined` or an error for each key, with strong consistency. Keys can repeat. */
    batchGetEach: (keys: readonly ItemKey[]) => batchGetEach(keys, reader(true), pause),

    /** Like `batchGetEach`, but throws if it cannot read a key. */
    batchGet: async (keys: readonly ItemKey[]) => (await batchGetEach(keys, reader(true), pause)).map(requireRead),

    /**
     * The same for a list, eventually consistent at half the price. With `members`, items have only their keys and these members. They
     * cost the same, but large items are not sent and decoded.
     */
    batchGetLate: async (keys: readonly ItemKey[], members?: readonly string[]) =>
      (await batchGetEach(keys, reader(false, members), pause)).map(requireRead),

    /** Reads at most `most` pages of a query, each of at most 1 MB. */
    async queryPages(input: Query, most: number): Promise<QueryPage> {
      let { items, count, next } = await query(input);
      for (let pages = 1; pages < most && next !== undefined; pages++) {
        const page = await query({ ...input, after: next });
        items = [...items, ...page.items];
        count += page.count;
        next = page.next;
      }
      return { items, count, next };
    },

    /**
     * Writes all or nothing. Returns the writes whose condition was false, in which case nothing was written. An empty list is a
     * success, also if the response to an earlier try was lost. Conflicts with other transactions are retried with jitter and
     * then thrown.
     */
    write(writes: readonly Write[]): Promise<Rejected[]> {
      const send = (writes: Write[]) => {
        const [only] = writes;
        return only && writes.length === 1 ? writeOne(only) : transact(writes);
      };
      return carryOut(writes, send, pause);
    },

    /**
     * Updates one item and returns the new item. If the condition is false, returns the stored item. The item is missing if the
     * response to the update was lost.
     */
    async updated(write: Write): Promise<{ isDone: boolean; item: Item | undefined }> {
      let item: Item | undefined;
      const send = async ([marked]: Write[]) => {
        const input = named({ ...(marked as Updating).Update, ReturnValues: 'ALL_NEW' as const });
        item = (await writing(() => documents.send(new UpdateCommand(input)))).Attributes;
      };
      const [rejected] = await carryOut([write], send, pause);
      return { isDone: !rejected, item: item ?? rejected?.item };
    },
  };

  function transact(writes: Write[]): Promise<unknown> {
    const TransactItems = writes.map((write) =>
      Object.fromEntries(Object.entries(write).map(([kind, input]) => [kind, named(input)])),
    );
    return writing(() => documents.send(new TransactWriteCommand({ TransactItems } as TransactWriteCommandInput)));
  }

  // A deletion leaves no write id. A transaction makes it idempotent, because the SDK sends one token with all tries.
  function writeOne(write: Write): Promise<unknown> {
    if ('Put' in write) return writing(() => documents.send(new PutCommand(named(write.Put))));
    if ('Update' in write) return writing(() => documents.send(new UpdateCommand(named(write.Update))));
    return transact([write]);
  }
}
