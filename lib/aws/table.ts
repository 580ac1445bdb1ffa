import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { cancellationCodes, isConditionFailure, isTransient } from '../faults.ts';
import type { Space } from '../space.ts';
import { clientSettings } from './client.ts';

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

/** Attempts at a transaction that runs into another one, and the longest wait between two. */
const CONFLICT_TRIES = 6;
const CONFLICT_WAIT_MS = 50;

export function createTable(name: string, client = new DynamoDBClient(clientSettings)) {
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const named = <T extends object>(input: T): T & { TableName: string } => ({ TableName: name, ...input });

  return {
    /** Strongly consistent. */
    async get(key: ItemKey): Promise<Item | undefined> {
      return (await documents.send(new GetCommand(named({ Key: key, ConsistentRead: true })))).Item;
    },

    /** Strongly consistent; at most 100 keys, without duplicates, in no particular order. */
    async batchGet(keys: ItemKey[]): Promise<Item[]> {
      const items: Item[] = [];
      for (let wanted = keys, tries = 0; wanted.length > 0; tries++) {
        if (tries > 0) await pause(tries);
        const request = { RequestItems: { [name]: { Keys: wanted, ConsistentRead: true } } };
        const { Responses, UnprocessedKeys } = await documents.send(new BatchGetCommand(request));
        items.push(...(Responses?.[name] ?? []));
        wanted = (UnprocessedKeys?.[name]?.Keys ?? []) as ItemKey[];
      }
      return items;
    },

    /** Strongly consistent, except on an index. */
    async query({ after, ...query }: Query): Promise<Page> {
      const input = named({
        ConsistentRead: query.IndexName === undefined,
        ...query,
        ExclusiveStartKey: after as Item | undefined,
      });
      const { Items = [], Count = 0, LastEvaluatedKey } = await documents.send(new QueryCommand(input));
      return { items: Items, count: Count, next: LastEvaluatedKey as ItemKey | undefined };
    },

    /**
     * Writes all or nothing. Returns the indexes of the writes whose condition was false (then nothing was written);
     * empty is success. Conflicts with other transactions are tried again with jitter, then thrown.
     */
    async write(writes: Write[]): Promise<number[]> {
      for (let tries = 1; ; tries++) {
        try {
          await (writes.length === 1 ? writeOne(writes[0] as Write) : transact(writes));
          return [];
        } catch (error) {
          if (isConditionFailure(error)) return [0];
          const codes = cancellationCodes(error) ?? [];
          const failed = codes.flatMap((code, i) => (code === 'ConditionalCheckFailed' ? [i] : []));
          if (failed.length > 0) return failed;
          if (tries === CONFLICT_TRIES || !isConflict(error)) throw error;
          await pause(tries);
        }
      }
    },
  };

  function transact(writes: Write[]): Promise<unknown> {
    const TransactItems = writes.map((write) =>
      Object.fromEntries(Object.entries(write).map(([kind, input]) => [kind, named(input)])),
    );
    return documents.send(new TransactWriteCommand({ TransactItems } as TransactWriteCommandInput));
  }

  function writeOne(write: Write): Promise<unknown> {
    if ('Put' in write) return documents.send(new PutCommand(named(write.Put)));
    if ('Update' in write) return documents.send(new UpdateCommand(named(write.Update)));
    if ('Delete' in write) return documents.send(new DeleteCommand(named(write.Delete)));
    return transact([write]);
  }
}

// Also of single writes: DynamoDB refuses one while a transaction holds its item.
const isConflict = (error: unknown): boolean =>
  (error as Error).name === 'TransactionConflictException' || (cancellationCodes(error) !== null && isTransient(error));

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
