import {
  CreateTableCommand,
  TransactWriteItemsCommand,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { MemoryDatabase } from '../../../infra/local/memory/database.ts';
import { schemaOf } from '../../../infra/local/memory/schema.ts';
import { startMemoryDatabase } from '../../../infra/local/memory/server.ts';
import { MemoryDynamoDb } from '../../../infra/local/memory/table.ts';
import { dynamoDbClient, openTable } from '../../../infra/local/services/table.ts';
import { BY_STATUS } from '../../../lib/deployment.ts';
import { HOUR_MS } from '../../memory/contracts/builders.ts';
import { afterFile, temporaryDirectory } from '../../support/after-file.ts';
import { TABLE } from '../../support/dynamodb-table.ts';

const TableName = 'table';
const StreamArn = `arn:aws:dynamodb:us-east-1:000000000000:table/${TableName}/stream/memory`;
const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'ITEM' } });

interface StreamRecord {
  eventName: string;
  dynamodb: { SequenceNumber: string; Keys: object; OldImage?: object; NewImage?: { n?: { N: string } } };
}

function opened(database = new MemoryDatabase()) {
  afterFile(() => database.close());
  const perform = <Output>(operation: string, input: object) =>
    database.perform(operation, { TableName, ...input }) as Output;
  const records = () => {
    const iterator = perform<object>('GetShardIterator', { StreamArn });
    return perform<{ Records: StreamRecord[] }>('GetRecords', iterator).Records;
  };
  return { perform, records };
}

describe('the database in memory', () => {
  it('describes each change in its stream with both images', () => {
    const { perform, records } = opened();
    perform('CreateTable', TABLE);
    perform('PutItem', { Item: { ...key('a'), n: { N: '1' } } });
    perform('UpdateItem', {
      Key: key('a'),
      UpdateExpression: 'ADD n :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    });
    perform('DeleteItem', { Key: key('a') });
    const images = records().map(({ eventName, dynamodb: { OldImage, NewImage } }) => [eventName, OldImage, NewImage]);
    expect(images).toEqual([
      ['INSERT', undefined, { ...key('a'), n: { N: '1' } }],
      ['MODIFY', { ...key('a'), n: { N: '1' } }, { ...key('a'), n: { N: '2' } }],
      ['REMOVE', { ...key('a'), n: { N: '2' } }, undefined],
    ]);
  });

  it('returns only the projected attributes of an index, in pages of at most 1 MB', () => {
    const { perform } = opened();
    perform('CreateTable', TABLE);
    for (let i = 0; i < 4; i++) {
      const attributes = { byStatus: { S: 'failed' }, endedAt: { N: '1' }, text: { S: 'x'.repeat(390_000) } };
      perform('PutItem', { Item: { pk: { S: 'a' }, sk: { S: `${i}` }, ...attributes } });
    }
    const query = (KeyConditionExpression: string, value: string, others: object = {}) =>
      perform<{ Items: object[]; LastEvaluatedKey?: object }>('Query', {
        KeyConditionExpression,
        ExpressionAttributeValues: { ':value': { S: value } },
        ...others,
      });
    const found = query('byStatus = :value', 'failed', { IndexName: BY_STATUS, Limit: 1 });
    const keys = { pk: { S: 'a' }, sk: { S: '0' }, byStatus: { S: 'failed' } };
    expect(found).toMatchObject({ Items: [{ ...keys, endedAt: { N: '1' } }], LastEvaluatedKey: keys });
    expect(found.Items[0]).not.toHaveProperty('text');
    const first = query('pk = :value', 'a');
    expect(first.Items).toHaveLength(3);
    const second = query('pk = :value', 'a', { ExclusiveStartKey: first.LastEvaluatedKey });
    expect([second.Items.length, second.LastEvaluatedKey]).toEqual([1, undefined]);
  });

  it('states why it canceled a transaction, with the stored item', async () => {
    const { endpoint, stop } = await startMemoryDatabase();
    const client = dynamoDbClient(endpoint);
    await client.send(new CreateTableCommand({ ...TABLE, TableName }));
    const condition = {
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
    const TransactItems = [{ Put: { TableName, Item: key('a'), ...condition } }];
    const write = () => client.send(new TransactWriteItemsCommand({ TransactItems } as TransactWriteItemsCommandInput));
    await write();
    const CancellationReasons = [{ Code: 'ConditionalCheckFailed', Item: key('a') }];
    await expect(write()).rejects.toMatchObject({ name: 'TransactionCanceledException', CancellationReasons });
    client.destroy();
    stop();
  });
});

describe('a kept table', () => {
  it('keeps the records of its stream for 24 hours, and continues their sequence', () => {
    const directory = temporaryDirectory();
    const { perform } = opened(new MemoryDatabase(directory));
    perform('CreateTable', TABLE);
    perform('PutItem', { Item: key('a') });
    perform('PutItem', { Item: key('b') });
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 23 * HOUR_MS });
    expect(opened(new MemoryDatabase(directory)).records()).toHaveLength(2);
    vi.setSystemTime(Date.now() + 2 * HOUR_MS);
    const later = opened(new MemoryDatabase(directory));
    later.perform('PutItem', { Item: key('c') });
    expect(later.records().map(({ dynamodb }) => Number(dynamodb.SequenceNumber))).toEqual([3]);
  });

  it('stores all changes of a transaction or none, and continues after a failure', () => {
    const database = new MemoryDatabase();
    const { perform, records } = opened(database);
    perform('CreateTable', TABLE);
    const large = { n: { N: '12345678901234567890' } }; // JSON cannot contain a BigInt
    const TransactItems = [key('a'), { ...key('b'), ...large }].map((Item) => ({ Put: { TableName, Item } }));
    expect(() => database.perform('TransactWriteItems', { TransactItems })).toThrow('BigInt');
    expect([perform('Scan', {}), records()]).toMatchObject([{ Count: 0 }, []]);
    perform('PutItem', { Item: key('c') });
    expect(records()).toHaveLength(1);
  });

  it('performs a transaction that it could not store when it is sent again', () => {
    const onCommit = vi.fn().mockImplementationOnce(() => {
      throw new Error('The disk is full');
    });
    const db = new MemoryDynamoDb(schemaOf(TABLE), { onCommit });
    const TransactItems = [{ Put: { TableName, Item: { pk: 'a', sk: 'ITEM' } } }];
    const write = () => db.execute({ name: 'TransactWrite', input: { TransactItems, ClientRequestToken: 'token' } });
    expect(write).toThrow('The disk is full');
    write();
    expect(db.get('a', 'ITEM')).toBeDefined();
  });

  const [byProject = {}, byStatus = {}, byType = {}] = TABLE.GlobalSecondaryIndexes;
  const indexes = (...GlobalSecondaryIndexes: object[]) => ({ GlobalSecondaryIndexes });
  it.each([
    ['key', { KeySchema: TABLE.KeySchema.toReversed() }],
    ['number of indexes', indexes(byProject, byStatus)],
    ['key of an index', indexes(byProject, { ...byStatus, KeySchema: TABLE.KeySchema }, byType)],
    ['content of an index', indexes(byProject, { ...byStatus, Projection: { NonKeyAttributes: ['test'] } }, byType)],
  ])('is rejected when the template has another %s', async (_, changed) => {
    const { endpoint, stop } = await startMemoryDatabase();
    const open = (properties: object) =>
      openTable({ ref: String, ofType: () => [{ id: 'Table', properties }] } as never, endpoint);
    await open(TABLE);
    await open({ ...TABLE, ...indexes(byType, byStatus, byProject) }); // is accepted
    await expect(open({ ...TABLE, ...changed })).rejects.toThrow('The keys or indexes of the kept table differ');
    stop();
  });
});
