import { describe, expect, it } from 'vitest';
import { SCHEMA } from '../../../infra/local/memory/table.ts';
import { requireDynamoDbRequest } from '../../../infra/local/models/dynamodb/request.ts';
import type { InvalidRequest } from '../../../infra/local/models/invalid-request.ts';
import { requireModel } from '../../../infra/local/models/models.ts';
import { operationOf } from '../../../infra/local/models/operations.ts';
import { requireEmail } from '../../../infra/local/models/ses.ts';
import { embeddedMetrics } from '../../support/cloudwatch/embedded.ts';

/*
 * Requests that AWS rejects, with the error and the page of the rule. The local services apply the same rules to every request of
 * the functions. Each test of a local stack fails if one of its functions made such a request.
 */

const DYNAMODB = 'https://docs.aws.amazon.com/amazondynamodb/latest';
const QUOTAS = `${DYNAMODB}/developerguide/Constraints.html`;
const RESERVED_WORDS = `${DYNAMODB}/developerguide/ReservedWords.html`;
const NAMES = `${DYNAMODB}/developerguide/Expressions.ExpressionAttributeNames.html`;
const VALUES = `${DYNAMODB}/developerguide/Expressions.ExpressionAttributeValues.html`;
const UPDATES = `${DYNAMODB}/developerguide/Expressions.UpdateExpressions.html`;
const OPERATORS = `${DYNAMODB}/developerguide/Expressions.OperatorsAndFunctions.html`;
const FILTERS = `${DYNAMODB}/developerguide/Query.FilterExpression.html`;
const key = { pk: { S: 'p' }, sk: { S: 's' } };
const TableName = 'table';
const put = (members: object) => ({ TableName, Item: { ...key, ...members } });
const update = (UpdateExpression: string, others: object = {}) => ({
  TableName,
  Key: key,
  UpdateExpression,
  ...others,
});
const query = (KeyConditionExpression: string, values: Record<string, object>, others: object = {}) => ({
  TableName,
  KeyConditionExpression,
  ExpressionAttributeValues: values,
  ...others,
});
const sums = (count: number) =>
  update(`SET ${Array.from({ length: count }, (_, i) => `a${i}=:n+:n`)}`, {
    ExpressionAttributeValues: { ':n': { N: '1' } },
  });
const p = { ':p': { S: 'p' } };
const nested = (depth: number): object => (depth === 0 ? { S: '' } : { L: [nested(depth - 1)] });
const transaction = (count: number, bytes = 1) => ({
  TransactItems: Array.from({ length: count }, (_, i) => ({
    Put: { TableName, Item: { pk: { S: `p${i}` }, sk: { S: 's' }, text: { S: 'x'.repeat(bytes) } } },
  })),
});

/** The page of a rule is the API reference of its operation unless it is named. */
type Refused = [rule: string, operation: string, input: object, error: string | RegExp, page?: string];

const REFUSED_BY_DYNAMODB: Refused[] = [
  ['a missing member', 'GetItem', { TableName }, 'ValidationException'],
  ['an unknown member', 'GetItem', { TableName, Key: key, Limit: 1 }, 'ValidationException'],
  ['a limit of 0', 'Query', query('pk = :p', p, { Limit: 0 }), 'ValidationException'],
  ['an unknown value', 'Query', query('pk = :p', p, { Select: 'SOME' }), 'ValidationException'],
  ['a wrong type', 'Query', query('pk = :p', p, { Limit: '1' }), 'SerializationException'],
  [
    'a token of 37 characters',
    'TransactWriteItems',
    { ...transaction(1), ClientRequestToken: 'x'.repeat(37) },
    'ValidationException',
  ],
  ['a key of 2,049 bytes', 'PutItem', put({ pk: { S: `${'é'.repeat(1024)}x` } }), /2048 bytes/, QUOTAS],
  ['a sort key of an index of 1,025 bytes', 'PutItem', put({ pk: { S: `${'é'.repeat(512)}x` } }), /1024 bytes/, QUOTAS],
  ['a sort key of 1,025 bytes', 'PutItem', put({ sk: { S: `${'é'.repeat(512)}x` } }), /1024 bytes/, QUOTAS],
  ['an empty key', 'GetItem', { TableName, Key: { ...key, sk: { S: '' } } }, /empty string/, QUOTAS],
  [
    'an empty key of an index',
    'UpdateItem',
    update('SET byStatus = :v', { ExpressionAttributeValues: { ':v': { S: '' } } }),
    /empty string/,
    QUOTAS,
  ],
  ['a number as a key', 'PutItem', put({ keysOf: { N: '1' } }), /Type mismatch/],
  ['a key with another member', 'GetItem', { TableName, Key: { ...key, x: { S: '' } } }, /does not match the schema/],
  ['an item of more than 400 KB', 'PutItem', put({ text: { S: 'é'.repeat(204_796) } }), /Item size/, QUOTAS],
  ['33 levels', 'PutItem', put({ list: nested(32) }), /Nesting Levels/, QUOTAS],
  ['39 digits', 'PutItem', put({ n: { N: `1${'0'.repeat(37)}1` } }), /38 significant digits/, QUOTAS],
  ['a number above 9.99E+125', 'PutItem', put({ n: { N: '1e126' } }), /overflow/, QUOTAS],
  ['a number below 1E-130', 'PutItem', put({ n: { N: '1e-131' } }), /underflow/, QUOTAS],
  ['an empty set', 'PutItem', put({ set: { SS: [] } }), /set may not be empty/, QUOTAS],
  ['a lone surrogate', 'PutItem', put({ text: { S: '\ud800' } }), 'SerializationException', QUOTAS],
  [
    'two types in a value',
    'PutItem',
    put({ n: { S: '', N: '1' } }),
    /more than one datatypes/,
    `${DYNAMODB}/APIReference/API_AttributeValue.html`,
  ],
  ['a reserved word', 'UpdateItem', update('REMOVE data'), /reserved keyword: data/, RESERVED_WORDS],
  ['an undefined name', 'UpdateItem', update('REMOVE #a'), /not defined; attribute name: #a/, NAMES],
  ['an undefined value', 'UpdateItem', update('SET a = :a'), /not defined; attribute value: :a/, VALUES],
  [
    'an unused name',
    'UpdateItem',
    update('REMOVE a', { ExpressionAttributeNames: { '#a': 'a' } }),
    /unused in expressions: keys: {#a}/,
    NAMES,
  ],
  [
    'an unused value',
    'UpdateItem',
    update('REMOVE a', { ExpressionAttributeValues: { ':a': { S: '' } } }),
    /unused in expressions: keys: {:a}/,
    VALUES,
  ],
  ['no values', 'UpdateItem', update('REMOVE a', { ExpressionAttributeValues: {} }), /must not be empty/],
  ['an empty expression', 'UpdateItem', update(''), /can not be empty/],
  ['a syntax error', 'UpdateItem', update('SET a = b,'), /Syntax error/, UPDATES],
  [
    'redundant parentheses',
    'PutItem',
    { ...put({}), ConditionExpression: '((attribute_exists(a)))' },
    /redundant parentheses/,
    OPERATORS,
  ],
  ['a key attribute in an update', 'UpdateItem', update('REMOVE sk'), /part of the key/],
  ['overlapping paths', 'UpdateItem', update('REMOVE a.b, a.b[1]'), /overlap/, UPDATES],
  [
    'a text that is added',
    'UpdateItem',
    update('ADD a :a', { ExpressionAttributeValues: { ':a': { S: '' } } }),
    /Incorrect operand type/,
    UPDATES,
  ],
  ['an expression of 4,097 bytes', 'UpdateItem', update(`REMOVE ${'a'.repeat(4090)}`), /maximum allowed size/, QUOTAS],
  ['301 operators', 'UpdateItem', sums(301), /too many operators/, QUOTAS],
  [
    '101 operands of IN',
    'PutItem',
    { ...put({}), ConditionExpression: `a IN (${Array(101).fill('b').join()})` },
    /too many operands/,
    QUOTAS,
  ],
  [
    'a placeholder of 256 bytes',
    'UpdateItem',
    update(`REMOVE #${'a'.repeat(255)}`, { ExpressionAttributeNames: { [`#${'a'.repeat(255)}`]: 'a' } }),
    /longer than 255/,
    QUOTAS,
  ],
  ['no partition key', 'Query', query('sk = :p', p), /missed key schema element: pk/],
  ['a range of the partition key', 'Query', query('pk > :p', p), /not supported/],
  [
    'a range from its end',
    'Query',
    query('pk = :p AND sk BETWEEN :b AND :a', { ...p, ':a': { S: 'a' }, ':b': { S: 'b' } }),
    /upper bound/,
    OPERATORS,
  ],
  ['a filter of a key', 'Query', query('pk = :p', p, { FilterExpression: 'sk = :p' }), /non-primary key/, FILTERS],
  [
    'a consistent read of an index',
    'Query',
    query('byStatus = :p', p, { IndexName: 'by_status', ConsistentRead: true }),
    /Consistent reads/,
  ],
  ['an unknown index', 'Query', query('pk = :p', p, { IndexName: 'by_name' }), /specified index/],
  [
    'a start key without a member',
    'Query',
    query('byStatus = :p', p, { IndexName: 'by_status', ExclusiveStartKey: key }),
    /starting key is invalid/,
  ],
  [
    'a start key in another partition',
    'Query',
    query('pk = :p', p, { ExclusiveStartKey: { ...key, pk: { S: 'q' } } }),
    /outside query boundaries/,
  ],
  ['101 writes', 'TransactWriteItems', transaction(101), 'ValidationException', QUOTAS],
  ['more than 4 MB', 'TransactWriteItems', transaction(11, 390_000), /4 MB/, QUOTAS],
  [
    'an item twice',
    'TransactWriteItems',
    { TransactItems: [...transaction(1).TransactItems, ...transaction(1).TransactItems] },
    /multiple operations on one item/,
    QUOTAS,
  ],
  [
    'two writes in one',
    'TransactWriteItems',
    { TransactItems: [{ Put: put({}), Delete: { TableName, Key: key } }] },
    /only contain one/,
    `${DYNAMODB}/APIReference/API_TransactWriteItem.html`,
  ],
  [
    '101 keys',
    'BatchGetItem',
    { RequestItems: { table: { Keys: Array.from({ length: 101 }, (_, i) => ({ ...key, sk: { S: `${i}` } })) } } },
    'ValidationException',
    QUOTAS,
  ],
  ['a key twice', 'BatchGetItem', { RequestItems: { table: { Keys: [key, key] } } }, /duplicates/],
];

const ACCEPTED_BY_DYNAMODB: [rule: string, operation: string, input: object][] = [
  ['32 levels', 'PutItem', put({ list: nested(31) })],
  ['38 digits', 'PutItem', put({ n: { N: `1${'0'.repeat(36)}1` } })],
  ['an empty text', 'PutItem', put({ text: { S: '' } })],
  ['a key of 2,048 bytes', 'PutItem', put({ keysOf: { S: 'é'.repeat(1024) } })],
  ['300 operators', 'UpdateItem', sums(300)],
  ['an expression of 4,096 bytes', 'UpdateItem', update(`REMOVE ${'a'.repeat(4089)}`)],
  ['100 writes', 'TransactWriteItems', transaction(100)],
  ['almost 4 MB', 'TransactWriteItems', transaction(10, 390_000)],
];

const email = { source: 'Us <us@example.com>', recipients: ['a@example.com'], subject: 'Hello', bytes: 1000 };
const SES_QUOTAS = 'https://docs.aws.amazon.com/ses/latest/dg/quotas.html';
const SES_FORMAT = 'https://docs.aws.amazon.com/ses/latest/dg/send-email-concepts-email-format.html';
/** The page of a rule is the API reference of `SendEmail` unless it is named. */
const REFUSED_BY_SES: [rule: string, email: Partial<typeof email>, error: RegExp, page?: string][] = [
  ['no recipient', { recipients: [] }, /Missing required header/],
  ['51 recipients', { recipients: Array(51).fill('a@example.com') }, /exceeds 50/, SES_QUOTAS],
  ['more than 10 MB', { bytes: 10_485_761 }, /more than 10485760 bytes/, SES_QUOTAS],
  ['an address without a domain', { recipients: ['a'] }, /final '@domain'/],
  ['a space in an address', { recipients: ['a b@example.com'] }, /control or whitespace/],
  ['a local part that is not ASCII', { recipients: ['é@example.com'] }, /illegal character/],
  ['a local part of 65 characters', { recipients: [`${'a.'.repeat(32)}a@example.com`] }, /illegal character/],
  ['a domain that is not in Punycode', { recipients: ['a@exämple.com'] }, /Domain contains illegal/],
  ['a line break in the subject', { subject: 'a\r\nBcc: b@example.com' }, /control characters/, SES_FORMAT],
  ['half a surrogate pair in the subject', { subject: '\ud83d' }, /control characters/, SES_FORMAT],
];

const AWS = 'https://docs.aws.amazon.com';
const target = {
  Arn: 'arn:aws:scheduler:::aws-sdk:sqs:sendMessage',
  RoleArn: 'arn:aws:iam::123456789012:role/a',
  Input: '{}',
};
type OtherRequest = [action: string, path: string, body: object];
const schedule = (name: string, members: object = {}): OtherRequest => {
  const at = { ScheduleExpression: 'at(2026-01-01T00:00:00)', FlexibleTimeWindow: { Mode: 'OFF' } };
  return ['POST', `/schedules/${name}`, { ...at, Target: target, ...members }];
};
const message = (members: object): OtherRequest => ['SendMessage', '/', { QueueUrl: 'q', ...members }];
const manyRetries = { Target: { ...target, RetryPolicy: { MaximumRetryAttempts: 186 } } };
const REFUSED_BY_OTHERS: [service: string, page: string, refused: [rule: string, OtherRequest, code: string][]][] = [
  [
    'scheduler',
    `${AWS}/scheduler/latest/APIReference/API_CreateSchedule.html`,
    [
      ['a name of 65 characters', schedule('x'.repeat(65)), 'ValidationException'],
      ['a space in a name', schedule('a%20b'), 'ValidationException'],
      ['a long time zone', schedule('a', { ScheduleExpressionTimezone: 'x'.repeat(51) }), 'ValidationException'],
      ['a client token with a space', schedule('a', { ClientToken: 'a b' }), 'ValidationException'],
      ['186 retries', schedule('a', manyRetries), 'ValidationException'],
      ['no target', schedule('a', { Target: undefined }), 'ValidationException'],
    ],
  ],
  [
    'sqs',
    `${AWS}/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html`,
    [
      ['no body', message({}), 'MissingParameter'],
      ['a delay that is no number', message({ MessageBody: 'a', DelaySeconds: 'soon' }), 'SerializationException'],
    ],
  ],
  ['s3', `${AWS}/AmazonS3/latest/API/API_PutObject.html`, [['no key', ['PUT', '/bucket', {}], 'InvalidRequest']]],
];

const EMF =
  'https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html';
const metrics = (directive: object, members: object = {}) => ({
  _aws: {
    Timestamp: 1,
    CloudWatchMetrics: [{ Namespace: 'n', Dimensions: [['d']], Metrics: [{ Name: 'm' }], ...directive }],
  },
  d: 'v',
  m: 1,
  ...members,
});
const IGNORED_BY_CLOUDWATCH: [rule: string, event: Record<string, unknown>][] = [
  ['101 metrics', metrics({ Metrics: Array(101).fill({ Name: 'm' }) })],
  ['31 dimensions', metrics({ Dimensions: [Array(31).fill('d')] })],
  ['101 values', metrics({}, { m: Array(101).fill(1) })],
  ['a value that is a text', metrics({}, { m: '1' })],
  ['a dimension without a value', metrics({}, { d: undefined })],
  ['a dimension of 1,025 characters', metrics({}, { d: 'x'.repeat(1025) })],
  ['a name of 1,025 characters', metrics({ Metrics: [{ Name: 'x'.repeat(1025) }] })],
  ['a dimension that is not ASCII', metrics({}, { d: 'é' })],
  ['a dimension with a control character', metrics({}, { d: 'a\n' })],
  ['a dimension of spaces', metrics({}, { d: ' ' })],
  ['a dimension whose name starts with a colon', metrics({ Dimensions: [[':d']] }, { ':d': 'v' })],
  ['a value above 2^360', metrics({}, { m: 2 ** 361 })],
  ['an infinite value', metrics({}, { m: Number.POSITIVE_INFINITY })],
  ['more than 256 KB', metrics({}, { text: 'x'.repeat(262_144) })],
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
  const require = (operation: string, input: object) => {
    requireModel('dynamodb', operation, input);
    requireDynamoDbRequest(operation, input, SCHEMA);
  };

  it.each(REFUSED_BY_DYNAMODB)('rejects %s in %s', (_rule, operation, input, expected) => {
    const error = errorOf(() => require(operation, input));
    if (typeof expected === 'string') expect(error.code).toBe(expected);
    else expect(error).toMatchObject({ code: 'ValidationException', message: expect.stringMatching(expected) });
  });

  it.each(ACCEPTED_BY_DYNAMODB)('accepts %s in %s', (_rule, operation, input) => {
    require(operation, input);
  });
});

describe('SES', () => {
  it('accepts valid emails', () => requireEmail(email));

  it.each(REFUSED_BY_SES)('rejects %s', (_rule, members, message) => {
    const error = errorOf(() => requireEmail({ ...email, ...members }));
    expect(error).toMatchObject({ code: 'InvalidParameterValue', message: expect.stringMatching(message) });
  });
});

describe.each(REFUSED_BY_OTHERS)('%s, by %s,', (service, _page, refused) => {
  it.each(refused)('rejects %s', (_rule, [action, path, body], code) => {
    const error = errorOf(() => {
      const found = operationOf(service, { method: action, action, path, body: JSON.stringify(body) });
      requireModel(service, found?.operation ?? '', found?.input);
    });
    expect(error.code).toBe(code);
  });
});

describe(`CloudWatch, by ${EMF},`, () => {
  it('extracts metrics within the limits', () => {
    expect(embeddedMetrics(metrics({}))).toHaveLength(1);
  });

  it.each(IGNORED_BY_CLOUDWATCH)('ignores %s', (_rule, event) => {
    expect(() => embeddedMetrics(event)).toThrow('CloudWatch extracts no metric');
  });
});
