import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { InvalidRequest } from '../models/invalid-request.ts';
import { ACCOUNT, REGION } from '../template.ts';
import { converted, DynamoDbError, marshalled, OPERATIONS } from './requests.ts';
import { schemaOf } from './schema.ts';
import { Storage, type StreamEntry } from './storage.ts';
import { MemoryDynamoDb } from './table.ts';

type Input = Record<string, unknown>;

/** The commands of the document client, by the operations of the protocol. */
const COMMANDS = Object.fromEntries(Object.entries(OPERATIONS).map(([command, operation]) => [operation, command]));
const MAX_RECORDS = 1000;
const SHARD = 'shardId-00000001';

/**
 * The protocol of DynamoDB and its streams over tables in memory, with the operations that the local stack needs. A stream has one
 * shard. The data is in a file of `directory`, or temporary without one.
 */
export class MemoryDatabase {
  private readonly tables = new Map<string, { input: CreateTableCommandInput; db: MemoryDynamoDb }>();
  readonly storage: Storage;

  constructor(directory?: string) {
    this.storage = new Storage(directory, Date.now());
    for (const input of this.storage.tables()) {
      const db = this.open(input);
      for (const item of this.storage.items(input.TableName ?? '')) db.restore(item);
    }
  }

  /** Performs an operation. Throws `InvalidRequest` or `DynamoDbError`. */
  perform(operation: string, input: Input): object {
    const name = COMMANDS[operation];
    if (name) {
      const { db } = this.table(tableNameIn(input));
      return responseOf({ ...db.execute({ name, input: converted(input, unmarshall) }) });
    }
    switch (operation) {
      case 'CreateTable':
        return { TableDescription: this.create(input as unknown as CreateTableCommandInput) };
      case 'DescribeTable':
        return { Table: described(this.table(String(input.TableName)).input) };
      case 'DescribeStream':
        return { StreamDescription: { StreamArn: input.StreamArn, Shards: [{ ShardId: SHARD }] } };
      case 'GetShardIterator':
        return { ShardIterator: `${tableOfStream(input.StreamArn)} ${input.SequenceNumber ?? 0}` };
      case 'GetRecords':
        return this.records(String(input.ShardIterator), Number(input.Limit ?? MAX_RECORDS));
      default:
        throw new InvalidRequest(`The database in memory does not support ${operation}`, 'UnknownOperationException');
    }
  }

  close(): void {
    this.storage.close();
  }

  private create(input: CreateTableCommandInput): object {
    const { TableName = '', AttributeDefinitions = [], KeySchema, GlobalSecondaryIndexes = [] } = input;
    if (this.tables.has(TableName)) throw new DynamoDbError('ResourceInUseException');
    const isSupported =
      KeySchema?.map(({ AttributeName }) => AttributeName).join() === 'pk,sk' &&
      GlobalSecondaryIndexes.every((index) => index.KeySchema?.length === 2) &&
      AttributeDefinitions.every(({ AttributeType }) => AttributeType === 'S');
    if (!isSupported)
      throw new InvalidRequest('The database in memory supports only the keys pk and sk, and texts as keys');
    this.storage.addTable(TableName, input);
    this.open(input);
    return described(input);
  }

  private open(input: CreateTableCommandInput): MemoryDynamoDb {
    const { TableName = '' } = input;
    const db = new MemoryDynamoDb(schemaOf(input), {
      onCommit: (changes) => this.storage.commit(TableName, changes, Date.now()),
    });
    this.tables.set(TableName, { input, db });
    return db;
  }

  private table(name: string) {
    const table = this.tables.get(name);
    if (!table) throw new DynamoDbError('ResourceNotFoundException');
    return table;
  }

  private records(iterator: string, limit: number): object {
    const [name = '', position = ''] = iterator.split(' ');
    const entries = this.storage.entries(name, Number(position), limit);
    return { Records: entries.map(recordOf), NextShardIterator: `${name} ${entries.at(-1)?.sequence ?? position}` };
  }
}

function described(input: CreateTableCommandInput): object {
  const { TableName, KeySchema, GlobalSecondaryIndexes, StreamSpecification } = input;
  const stream = StreamSpecification?.StreamEnabled && {
    LatestStreamArn: `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${TableName}/stream/memory`,
  };
  return { TableName, KeySchema, GlobalSecondaryIndexes, TableStatus: 'ACTIVE', ...stream };
}

const tableOfStream = (arn: unknown): string => /:table\/(.+)\/stream\//.exec(String(arn))?.[1] ?? '';

/** A record of a stream with both images (DynamoDB API Reference, `Record`). */
function recordOf({ sequence, at, before, after }: StreamEntry): object {
  const { pk, sk } = after ?? before ?? {};
  return {
    eventID: String(sequence),
    eventName: before === undefined ? 'INSERT' : after === undefined ? 'REMOVE' : 'MODIFY',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: REGION,
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(at / 1000),
      Keys: marshalled({ pk, sk }),
      ...(before && { OldImage: marshalled(before) }),
      ...(after && { NewImage: marshalled(after) }),
      SequenceNumber: String(sequence).padStart(21, '0'),
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    },
  };
}

/** The table of a request. All members of a transaction or a batch have the same one. */
function tableNameIn({ TableName, RequestItems, TransactItems }: Input): string {
  const [write] = ((TransactItems as object[] | undefined) ?? []).flatMap((item) => Object.values(item));
  return String(TableName ?? Object.keys(RequestItems ?? {})[0] ?? (write as Input | undefined)?.TableName);
}

/** Attribute values instead of the values of the document client. */
function responseOf(output: Input): object {
  const { Item, Attributes, Items, LastEvaluatedKey, Responses, ...others } = output;
  const list = (items: unknown) => (items as Input[]).map(marshalled);
  return {
    ...others,
    ...(Item !== undefined && { Item: marshalled(Item as Input) }),
    ...(Attributes !== undefined && { Attributes: marshalled(Attributes as Input) }),
    ...(Items !== undefined && { Items: list(Items) }),
    ...(LastEvaluatedKey !== undefined && { LastEvaluatedKey: marshalled(LastEvaluatedKey as Input) }),
    ...(Responses !== undefined && {
      Responses: Object.fromEntries(Object.entries(Responses as object).map(([name, items]) => [name, list(items)])),
    }),
  };
}
