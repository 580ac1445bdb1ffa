import { afterAll, describe, expect, it } from 'vitest';
import { MemoryDatabase } from '../../../infra/local/memory/database.ts';
import type { InvalidRequest } from '../../../infra/local/models/invalid-request.ts';
import { requireModel } from '../../../infra/local/models/models.ts';
import { operationOf } from '../../../infra/local/models/operations.ts';
import { requireEmail } from '../../../infra/local/models/ses.ts';
import type { ServiceRequest } from '../../../infra/local/services/endpoints.ts';
import { LocalIam } from '../../../infra/local/services/iam.ts';
import { s3Service } from '../../../infra/local/services/s3.ts';
import { TABLE } from '../../support/dynamodb-table.ts';

/*
 * Requests that AWS rejects. The local services apply the same rules to every request of the functions. Each test of a local stack
 * fails if one of its functions made such a request.
 */

const key = { pk: { S: 'p' }, sk: { S: 's' } };
const TableName = 'table';
const put = (members: object) => ({ TableName, Item: { ...key, ...members } });
const update = (UpdateExpression: string, values?: object) => ({
  TableName,
  Key: key,
  UpdateExpression,
  ...(values && { ExpressionAttributeValues: values }),
});
const query = (KeyConditionExpression: string, values: Record<string, object>, others: object = {}) => ({
  TableName,
  KeyConditionExpression,
  ExpressionAttributeValues: values,
  ...others,
});
const refusedPut = (ConditionExpression: string) => ({ ...put({}), ConditionExpression });
const p = { ':p': { S: 'p' } };
const nested = (depth: number): object => (depth === 0 ? { S: '' } : { L: [nested(depth - 1)] });
const transaction = (count: number, bytes = 1) => ({
  TransactItems: Array.from({ length: count }, (_, i) => ({
    Put: { TableName, Item: { pk: { S: `p${i}` }, sk: { S: 's' }, text: { S: 'x'.repeat(bytes) } } },
  })),
});

const startOfIndex = { IndexName: 'by_status', ExclusiveStartKey: key };

type Refused = [rule: string, operation: string, input: object, error: string | RegExp];

/** Requests that the database in memory rejects. The other databases check their expressions too. */
const REFUSED_BY_DYNAMODB: Refused[] = [
  ['a missing member', 'GetItem', { TableName }, 'ValidationException'],
  ['an unknown member', 'GetItem', { TableName, Key: key, Limit: 1 }, 'ValidationException'],
  ['a limit of 0', 'Query', query('pk = :p', p, { Limit: 0 }), 'ValidationException'],
  ['a wrong type', 'Query', query('pk = :p', p, { Limit: '1' }), 'SerializationException'],
  ['a key of 2,049 bytes', 'PutItem', put({ pk: { S: `${'é'.repeat(1024)}x` } }), /2048 bytes/],
  ['a sort key of 1,025 bytes', 'PutItem', put({ sk: { S: `${'é'.repeat(512)}x` } }), /1024 bytes/],
  ['an empty key', 'GetItem', { TableName, Key: { ...key, sk: { S: '' } } }, /empty string/],
  ['an empty key of an index', 'UpdateItem', update('SET byStatus = :v', { ':v': { S: '' } }), /empty string/],
  ['a number as a key', 'PutItem', put({ keysOf: { N: '1' } }), /Type mismatch/],
  ['a key with another member', 'GetItem', { TableName, Key: { ...key, x: { S: '' } } }, /does not match the schema/],
  ['an item of more than 400 KB', 'PutItem', put({ text: { S: 'é'.repeat(204_796) } }), /Item size/],
  ['33 levels', 'PutItem', put({ list: nested(32) }), /Nesting Levels/],
  ['a lone surrogate', 'PutItem', put({ text: { S: '\ud800' } }), 'SerializationException'],
  ['an undefined name', 'UpdateItem', update('REMOVE #a'), /name #a is not defined/],
  ['an undefined value', 'UpdateItem', update('SET a = :a'), /value :a is not defined/],
  ['a syntax error', 'UpdateItem', update('SET a b'), /does not support the expression/],
  [
    'a function that the service does not use',
    'PutItem',
    refusedPut('contains(a, :n)'),
    /does not support the expression/,
  ],
  ['no partition key', 'Query', query('sk = :p', p), /missed key schema element: pk/],
  ['an unknown index', 'Query', query('pk = :p', p, { IndexName: 'by_name' }), /specified index/],
  [
    'a start key of the table for an index',
    'Query',
    query('byStatus = :p', p, startOfIndex),
    /starting key is invalid/,
  ],
  ['101 writes', 'TransactWriteItems', transaction(101), 'ValidationException'],
  ['more than 4 MB', 'TransactWriteItems', transaction(11, 390_000), /4 MB/],
  [
    'an item twice',
    'TransactWriteItems',
    { TransactItems: [{ Put: put({}) }, { Put: put({}) }] },
    /multiple operations/,
  ],
  ['a key twice', 'BatchGetItem', { RequestItems: { table: { Keys: [key, key] } } }, /duplicates/],
];

const email = { source: 'Us <us@example.com>', recipient: 'a@example.com', subject: 'Hello', bytes: 1000 };
const REFUSED_BY_SES: [rule: string, email: Partial<typeof email>, error: RegExp][] = [
  ['no recipient', { recipient: '' }, /Missing final/],
  ['more than 10 MB', { bytes: 10_485_761 }, /more than 10485760 bytes/],
  ['a local part that is not ASCII', { recipient: 'é@example.com' }, /illegal character/],
  ['a domain that is not in Punycode', { recipient: 'a@exämple.com' }, /Domain contains illegal/],
  ['a line break in the subject', { subject: 'a\r\nBcc: b@example.com' }, /control characters/],
];

const target = {
  Arn: 'arn:aws:scheduler:::aws-sdk:sqs:sendMessage',
  RoleArn: 'arn:aws:iam::123456789012:role/a',
  Input: '{}',
};
type OtherRequest = [target: string, path: string, body: object];
const schedule = (name: string, members: object = {}): OtherRequest => {
  const at = { ScheduleExpression: 'at(2026-01-01T00:00:00)', FlexibleTimeWindow: { Mode: 'OFF' } };
  return ['', `/schedules/${name}`, { ...at, Target: target, ...members }];
};
const message = (members: object): OtherRequest => [
  'AmazonSQS.SendMessageBatch',
  '/',
  { QueueUrl: 'q', Entries: [{ Id: 'a', ...members }] },
];
const manyRetries = { Target: { ...target, RetryPolicy: { MaximumRetryAttempts: 186 } } };
const REFUSED_BY_OTHERS: [service: string, rule: string, request: OtherRequest, code: string][] = [
  ['scheduler', 'a name of 65 characters', schedule('x'.repeat(65)), 'ValidationException'],
  ['scheduler', '186 retries', schedule('a', manyRetries), 'ValidationException'],
  ['scheduler', 'no target', schedule('a', { Target: undefined }), 'ValidationException'],
  ['sqs', 'no body', message({}), 'MissingParameter'],
  ['sqs', 'a delay that is no number', message({ MessageBody: 'a', DelaySeconds: 'soon' }), 'SerializationException'],
];

const errorOf = (act: () => unknown): InvalidRequest => {
  try {
    act();
  } catch (error) {
    return error as InvalidRequest;
  }
  throw new Error('The request was accepted');
};

describe('DynamoDB', () => {
  const database = new MemoryDatabase();
  database.perform('CreateTable', { ...TABLE, TableName });
  afterAll(() => database.close());

  it.each(REFUSED_BY_DYNAMODB)('rejects %s in %s', (_rule, operation, input, expected) => {
    const error = errorOf(() => database.perform(operation, { ...input }));
    if (typeof expected === 'string') expect(error.code).toBe(expected);
    else expect(error).toMatchObject({ code: 'ValidationException', message: expect.stringMatching(expected) });
    expect(database.perform('Scan', { TableName })).toMatchObject({ Count: 0 });
  });
});

describe('SES', () => {
  it.each(REFUSED_BY_SES)('rejects %s', (_rule, members, message) => {
    const error = errorOf(() => requireEmail({ ...email, ...members }));
    expect(error).toMatchObject({ code: 'InvalidParameterValue', message: expect.stringMatching(message) });
  });
});

describe('the service models', () => {
  it.each(REFUSED_BY_OTHERS)('of %s reject %s', (service, _rule, [target, path, body], code) => {
    const error = errorOf(() => {
      const request = { method: 'POST', path, headers: { 'x-amz-target': target }, body: JSON.stringify(body) };
      const { action = '', input } = operationOf(service, request) ?? {};
      requireModel(service, action, input);
    });
    expect(error.code).toBe(code);
  });
});

it('S3 rejects a path without a key', () => {
  const service = s3Service(new Map(), new LocalIam({ ofType: () => [] }));
  const error = errorOf(() => service({ method: 'PUT', path: '/bucket', body: '' } as ServiceRequest));
  expect(error.code).toBe('InvalidRequest');
});
