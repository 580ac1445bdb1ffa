import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MemoryDatabase } from '../../../infra/local/memory/database.ts';
import { startMemoryDatabase } from '../../../infra/local/memory/server.ts';
import { defaultDatabase } from '../../../infra/local/services/database.ts';
import { BY_STATUS } from '../../../lib/deployment.ts';
import { afterFile, temporaryDirectory } from '../../support/after-file.ts';
import { TABLE } from '../../support/dynamodb-table.ts';
import { eventually } from '../../support/service.ts';

const directory = temporaryDirectory();

const TableName = 'table';
const StreamArn = `arn:aws:dynamodb:us-east-1:000000000000:table/${TableName}/stream/memory`;
const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'ITEM' } });

interface StreamRecord {
  eventName: string;
  dynamodb: { SequenceNumber: string; Keys: object; OldImage?: object; NewImage?: { n?: { N: string } } };
}

function opened(path?: string) {
  const database = new MemoryDatabase(path);
  const perform = <Output>(operation: string, input: object) =>
    database.perform(operation, { TableName, ...input }) as Output;
  const recordsAfter = (SequenceNumber?: string) => {
    const iterator = perform<object>('GetShardIterator', { StreamArn, SequenceNumber });
    return perform<{ Records: StreamRecord[] }>('GetRecords', iterator).Records;
  };
  if (!path) perform('CreateTable', TABLE);
  afterFile(() => database.close());
  return { perform, recordsAfter };
}

describe('the database in memory', () => {
  it.each([
    ['darwin', 'arm64'],
    ['darwin', 'x64'],
    ['linux', 'arm64'],
  ])('is the default on %s %s, for which npm has no Dynoxide', (platform, arch) => {
    const own = Object.getOwnPropertyDescriptors(process);
    onTestFinished(() => void Object.defineProperties(process, { platform: own.platform, arch: own.arch }));
    Object.defineProperty(process, 'platform', { ...own.platform, value: platform });
    Object.defineProperty(process, 'arch', { ...own.arch, value: arch });
    expect(defaultDatabase()).toBe('memory');
  });

  it('keeps both or none of two writes, and the order of its stream, when the process is killed', async () => {
    const script = `
      const { MemoryDatabase } = await import('${import.meta.resolve('../../../infra/local/memory/database.ts')}');
      const database = new MemoryDatabase(process.argv[1]);
      database.perform('CreateTable', ${JSON.stringify({ ...TABLE, TableName })});
      for (let n = 1; ; n++) {
        const put = (pk) => ({ Put: { TableName: 'table', Item: { pk: { S: pk }, sk: { S: 'ITEM' }, n: { N: String(n) } } } });
        database.perform('TransactWriteItems', { TransactItems: [put('a'), put('b')] });
        console.log(n);
        await new Promise(setImmediate);
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, directory]);
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    await eventually(() => printed.split('\n').length > 100);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const confirmed = Number(printed.split('\n').at(-2));
    const { perform, recordsAfter } = opened(directory);
    const [a, b] = ['a', 'b'].map(
      (pk) => perform<{ Item: { n: { N: string } } }>('GetItem', { Key: key(pk) }).Item.n.N,
    );
    expect(a).toBe(b);
    expect(Number(a)).toBeGreaterThanOrEqual(confirmed);
    const written = recordsAfter().map(({ dynamodb }) => Number(dynamodb.NewImage?.n?.N));
    expect(written).toEqual(written.map((_, i) => Math.floor(i / 2) + 1));
    const before = recordsAfter().at(-1)?.dynamodb.SequenceNumber;
    perform('DeleteItem', { Key: key('a') });
    expect(recordsAfter(before)).toMatchObject([{ eventName: 'REMOVE', dynamodb: { Keys: key('a') } }]);
  });

  it('describes each change in its stream with both images', () => {
    const { perform, recordsAfter } = opened();
    perform('PutItem', { Item: { ...key('a'), n: { N: '1' } } });
    perform('UpdateItem', {
      Key: key('a'),
      UpdateExpression: 'ADD n :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    });
    const images = recordsAfter().map(({ eventName, dynamodb: { OldImage, NewImage } }) => [
      eventName,
      OldImage,
      NewImage,
    ]);
    expect(images).toEqual([
      ['INSERT', undefined, { ...key('a'), n: { N: '1' } }],
      ['MODIFY', { ...key('a'), n: { N: '1' } }, { ...key('a'), n: { N: '2' } }],
    ]);
  });

  it('returns only the projected attributes of an index, in pages of at most 1 MB', () => {
    const { perform } = opened();
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

  it('rejects requests of web pages whose host name resolves to this machine', async () => {
    const { endpoint, stop } = await startMemoryDatabase();
    const headers = { Host: 'attacker.example', 'X-Amz-Target': 'DynamoDB_20120810.DescribeTable' };
    const { port } = new URL(endpoint);
    const status = await new Promise((resolve) => {
      http.request({ port, method: 'POST', headers }, ({ statusCode }) => resolve(statusCode)).end('{}');
    });
    expect(status).toBe(403);
    stop();
  });
});
