import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { createLimiter } from '../../limiter.ts';
import type { Space } from '../../space.ts';
import { clientSettings } from '../client.ts';
import { failedConditions, isWriteConflict } from './errors.ts';

/*
 * One table. What is read, and how:
 *   project               GetItem   PROJECT#<prj>            PROJECT
 *   key of a credential   GetItem   KEY#<key>                KEY          (one per request)
 *   keys of a project     Query     index by_project: keysOf = <prj>, pk
 *   webhooks of a space   Query     HOOKS#<prj>#<env>        <whk>
 *   event                 GetItem   EVENT#<evt>              EVENT        (its insertion feeds the stream)
 *   deliveries            Query     HOOK#<whk>               <evt>        (newest first, from a time on)
 *   document              GetItem   DOCS#<prj>#<env>         <document_key> (deleted ones stay, as stubs)
 *   documents by prefix   Query     DOCS#<prj>#<env>         begins_with(<prefix>)
 *   connection            GetItem   CONNECTION#<prj>#<env>#<id>           CONNECTION
 *   completed sync cycle  Put once  SYNC#<prj>#<env>#<syn>   SYNC
 *   idempotency record    GetItem   IDEMPOTENCY#<prj>#<env>#<hash>        IDEMPOTENCY
 *   count of webhooks     GetItem   COUNT#<prj>#<env>        WEBHOOKS
 */
export const BY_PROJECT = 'by_project';

export interface ItemKey {
  pk: string;
  sk: string;
}
export type Item = Record<string, unknown>;

const spaceOf = ({ projectId, environment }: Space): string => `${projectId}#${environment}`;

export const itemKey = {
  project: (projectId: string): ItemKey => ({ pk: `PROJECT#${projectId}`, sk: 'PROJECT' }),
  key: (keyId: string): ItemKey => ({ pk: `KEY#${keyId}`, sk: 'KEY' }),
  webhook: (space: Space, id: string): ItemKey => ({ pk: `HOOKS#${spaceOf(space)}`, sk: id }),
  webhookCount: (space: Space): ItemKey => ({ pk: `COUNT#${spaceOf(space)}`, sk: 'WEBHOOKS' }),
  event: (id: string): ItemKey => ({ pk: `EVENT#${id}`, sk: 'EVENT' }),
  delivery: (webhookId: string, eventId: string): ItemKey => ({ pk: `HOOK#${webhookId}`, sk: eventId }),
  document: (space: Space, documentKey: string): ItemKey => ({ pk: `DOCS#${spaceOf(space)}`, sk: documentKey }),
  connection: (space: Space, id: string): ItemKey => ({ pk: `CONNECTION#${spaceOf(space)}#${id}`, sk: 'CONNECTION' }),
  sync: (space: Space, id: string): ItemKey => ({ pk: `SYNC#${spaceOf(space)}#${id}`, sk: 'SYNC' }),
  idempotency: (space: Space, hash: string): ItemKey => ({
    pk: `IDEMPOTENCY#${spaceOf(space)}#${hash}`,
    sk: 'IDEMPOTENCY',
  }),
};

type Unnamed<T> = T extends object
  ? { [K in keyof T]: T[K] extends infer V | undefined ? Omit<V & object, 'TableName'> : never }
  : never;
type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
type Named<K extends keyof TransactItem> = Unnamed<Required<Pick<TransactItem, K>>>;

/** One write of one item, without the table's name. */
export type Write = Named<'Put'> | Named<'Update'> | Named<'Delete'> | Named<'ConditionCheck'>;

export interface Page {
  items: Item[];
  /** Of the items, also where only they were asked for. */
  count: number;
  /** The key after which to go on; `undefined` at the end. */
  next: ItemKey | undefined;
}
export type Query = Omit<QueryCommandInput, 'TableName' | 'ExclusiveStartKey'> & { after?: object | undefined };

export type Table = ReturnType<typeof createTable>;

/** Keys of one BatchGetItem (DynamoDB quotas). */
const MAX_BATCH_GET = 100;

/** Requests at the same time: fewer than the SDK has connections (50), and no more than a small store answers in time. */
const CONCURRENT_REQUESTS = 16;

/** Requests for one page of a list: even of 1 MB each they take less than a second. */
const MAX_REQUESTS = 8;

const keyOf = (item: Item | undefined): ItemKey => ({ pk: String(item?.pk), sk: String(item?.sk) });

/** Attempts at a write that runs into a transaction, and the longest wait between two. */
const CONFLICT_TRIES = 6;
const CONFLICT_WAIT_MS = 50;

/**
 * Every conditional write leaves a random id in the item. When its condition is false and the stored item has that id, the
 * write was done before: its response was lost and the SDK sent it again.
 */
const WRITE_ID = 'writeId';

/** A write whose condition was false: its place among the writes, and what is stored, if anything is. */
export interface Rejected {
  index: number;
  item: Item | undefined;
}

type Decision = { done: true; item: Item | undefined } | { done: false; rejected: Rejected[] };

export function createTable(name: string, client = new DynamoDBClient(clientSettings)) {
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  // Those that wait do so here: at the SDK's own pool of connections their time limit would run.
  const limited = createLimiter(CONCURRENT_REQUESTS);
  const named = <T extends object>(input: T): T & { TableName: string } => ({ TableName: name, ...input });

  /** Strongly consistent, except on an index. */
  async function query({ after, ...query }: Query): Promise<Page> {
    const input = named({
      ConsistentRead: query.IndexName === undefined,
      ...query,
      ExclusiveStartKey: after as Item | undefined,
    });
    const { Items = [], Count = 0, LastEvaluatedKey } = await limited(() => documents.send(new QueryCommand(input)));
    return { items: Items.map(withoutWriteId), count: Count, next: LastEvaluatedKey as ItemKey | undefined };
  }

  async function getSome(keys: ItemKey[]): Promise<Item[]> {
    const items: Item[] = [];
    for (let wanted = keys, tries = 0; wanted.length > 0; tries++) {
      if (tries > 0) await pause(tries);
      const request = { RequestItems: { [name]: { Keys: wanted, ConsistentRead: true } } };
      const { Responses, UnprocessedKeys } = await limited(() => documents.send(new BatchGetCommand(request)));
      items.push(...(Responses?.[name] ?? []).map(withoutWriteId));
      wanted = (UnprocessedKeys?.[name]?.Keys ?? []) as ItemKey[];
    }
    return items;
  }

  return {
    query,

    /** Strongly consistent. */
    async get(key: ItemKey): Promise<Item | undefined> {
      const { Item } = await limited(() => documents.send(new GetCommand(named({ Key: key, ConsistentRead: true }))));
      return Item && withoutWriteId(Item);
    },

    /** Strongly consistent; without duplicates, in no particular order. */
    async batchGet(keys: ItemKey[]): Promise<Item[]> {
      const parts = Array.from({ length: Math.ceil(keys.length / MAX_BATCH_GET) }, (_, i) =>
        getSome(keys.slice(i * MAX_BATCH_GET, (i + 1) * MAX_BATCH_GET)),
      );
      return (await Promise.all(parts)).flat();
    },

    /**
     * The first `wanted` items of a query, of which every request reads at most `Limit` or 1 MB. Gives up after a few
     * requests: then there are fewer, and `next` says where to go on.
     */
    async queryPages(input: Query, wanted: number): Promise<Omit<Page, 'count'>> {
      const items: Item[] = [];
      let after = input.after;
      for (let requests = 0; requests < MAX_REQUESTS; requests++) {
        const page = await query({ ...input, after });
        items.push(...page.items);
        if (items.length > wanted) return { items: items.slice(0, wanted), next: keyOf(items[wanted - 1]) };
        if (items.length === wanted || page.next === undefined) return { items, next: page.next };
        after = page.next;
      }
      return { items, next: after as ItemKey };
    },

    /**
     * Writes all or nothing. Returns the writes whose condition was false (then nothing was written); empty is success,
     * also if the response to an earlier try was lost. Conflicts with other transactions are tried again with jitter, then
     * thrown.
     */
    async write(writes: Write[]): Promise<Rejected[]> {
      const writeId = randomUUID();
      const marked = writes.map((write) => withWriteId(write, writeId));
      const [only] = marked;
      const decision = await decide(writeId, () => (marked.length === 1 && only ? writeOne(only) : transact(marked)));
      return decision.done ? [] : decision.rejected;
    },

    /** Updates one item and returns it as it is now; `undefined` if the condition was false. */
    async update(input: Named<'Update'>['Update']): Promise<Item | undefined> {
      const writeId = randomUUID();
      const { Update } = withWriteId({ Update: input }, writeId) as Named<'Update'>;
      const command = () => new UpdateCommand(named({ ...Update, ReturnValues: 'ALL_NEW' as const }));
      const decision = await decide(writeId, () => limited(() => documents.send(command())));
      return decision.done ? withoutWriteId(decision.item ?? {}) : undefined;
    },
  };

  function transact(writes: Write[]): Promise<unknown> {
    const TransactItems = writes.map((write) =>
      Object.fromEntries(Object.entries(write).map(([kind, input]) => [kind, named(input)])),
    );
    return limited(() => documents.send(new TransactWriteCommand({ TransactItems } as TransactWriteCommandInput)));
  }

  // A deletion leaves nothing to know it by. As a transaction it is idempotent: the SDK sends a token with all its tries.
  function writeOne(write: Write): Promise<unknown> {
    if ('Put' in write) return limited(() => documents.send(new PutCommand(named(write.Put))));
    if ('Update' in write) return limited(() => documents.send(new UpdateCommand(named(write.Update))));
    return transact([write]);
  }
}

async function decide(writeId: string, write: () => Promise<unknown>): Promise<Decision> {
  for (let tries = 1; ; tries++) {
    try {
      const { Attributes } = (await write()) as { Attributes?: Item };
      return { done: true, item: Attributes };
    } catch (error) {
      const rejected = failedConditions(error).map(({ index, item }) => ({ index, item: item && unmarshall(item) }));
      const own = rejected.find(({ item }) => item?.[WRITE_ID] === writeId);
      if (own) return { done: true, item: own.item };
      if (rejected.length > 0) return { done: false, rejected };
      if (tries === CONFLICT_TRIES || !isWriteConflict(error)) throw error;
      await pause(tries);
    }
  }
}

function withWriteId(write: Write, writeId: string): Write {
  const ReturnValuesOnConditionCheckFailure = 'ALL_OLD';
  if ('Put' in write && write.Put.ConditionExpression) {
    const Item = { ...write.Put.Item, [WRITE_ID]: writeId };
    return { Put: { ...write.Put, Item, ReturnValuesOnConditionCheckFailure } };
  }
  if ('Update' in write && write.Update.ConditionExpression) {
    const { UpdateExpression = '', ExpressionAttributeNames, ExpressionAttributeValues } = write.Update;
    const mark = `SET #${WRITE_ID} = :${WRITE_ID}`;
    return {
      Update: {
        ...write.Update,
        UpdateExpression: UpdateExpression.startsWith('SET ')
          ? UpdateExpression.replace('SET ', () => `${mark}, `)
          : `${mark} ${UpdateExpression}`,
        ExpressionAttributeNames: { ...ExpressionAttributeNames, [`#${WRITE_ID}`]: WRITE_ID },
        ExpressionAttributeValues: { ...ExpressionAttributeValues, [`:${WRITE_ID}`]: writeId },
        ReturnValuesOnConditionCheckFailure,
      },
    };
  }
  return write;
}

function withoutWriteId({ [WRITE_ID]: _, ...item }: Item): Item {
  return item;
}

function pause(tries: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * CONFLICT_WAIT_MS * 2 ** Math.min(tries, 4)));
}

/** Attribute names and values of an update that sets the defined members of `values` and removes the undefined ones. */
export function setting(values: Item) {
  const entries = Object.entries(values);
  const defined = entries.filter(([, value]) => value !== undefined);
  const set = defined.map(([name]) => `#${name} = :${name}`);
  const removed = entries.filter(([, value]) => value === undefined).map(([name]) => `#${name}`);
  const clauses = [
    ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
    ...(removed.length > 0 ? [`REMOVE ${removed.join(', ')}`] : []),
  ];
  return {
    UpdateExpression: clauses.join(' '),
    ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#${name}`, name])),
    // DynamoDB refuses an empty map.
    ...(defined.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(defined.map(([name, value]) => [`:${name}`, value])),
    }),
  };
}

/** DynamoDB's time to live is in seconds. It deletes late: whoever reads compares the time itself. */
export const timeToLive = (atMs: number): number => Math.ceil(atMs / 1000);
