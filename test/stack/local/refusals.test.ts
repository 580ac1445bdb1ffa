import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { embeddedMetrics } from '../../../infra/local/cloudwatch/embedded.ts';
import { requireDynamoDbRequest } from '../../../infra/local/models/dynamodb/request.ts';
import type { InvalidRequest } from '../../../infra/local/models/invalid-request.ts';
import { requireModel } from '../../../infra/local/models/models.ts';
import { operationOf } from '../../../infra/local/models/operations.ts';
import { requireEmail } from '../../../infra/local/models/ses.ts';
import { SCHEMA } from '../../memory/simulation/dynamodb.ts';

/*
 * Requests that AWS rejects, with the error and the page of the rule. The local services apply the same rules to every request of
 * the functions. Each test of a local stack fails if one of its functions made such a request.
 */

const DYNAMODB = 'https://docs.aws.amazon.com/amazondynamodb/latest';
const QUOTAS = `${DYNAMODB}/developerguide/Constraints.html`;
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

type Refused = [rule: string, operation: string, input: object, error: string | RegExp, page: string];

const REFUSED_BY_DYNAMODB: Refused[] = [
  ['a missing member', 'GetItem', { TableName }, 'ValidationException', `${DYNAMODB}/APIReference/API_GetItem.html`],
  [
    'an unknown member',
    'GetItem',
    { TableName, Key: key, Limit: 1 },
    'ValidationException',
    `${DYNAMODB}/APIReference/API_GetItem.html`,
  ],
  [
    'a limit of 0',
    'Query',
    query('pk = :p', p, { Limit: 0 }),
    'ValidationException',
    `${DYNAMODB}/APIReference/API_Query.html`,
  ],
  [
    'an unknown value',
    'Query',
    query('pk = :p', p, { Select: 'SOME' }),
    'ValidationException',
    `${DYNAMODB}/APIReference/API_Query.html`,
  ],
  [
    'a wrong type',
    'Query',
    query('pk = :p', p, { Limit: '1' }),
    'SerializationException',
    `${DYNAMODB}/APIReference/API_Query.html`,
  ],
  [
    'a token of 37 characters',
    'TransactWriteItems',
    { ...transaction(1), ClientRequestToken: 'x'.repeat(37) },
    'ValidationException',
    `${DYNAMODB}/APIReference/API_TransactWriteItems.html`,
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
  [
    'a number as a key',
    'PutItem',
    put({ keysOf: { N: '1' } }),
    /Type mismatch/,
    `${DYNAMODB}/APIReference/API_PutItem.html`,
  ],
  [
    'a key with another member',
    'GetItem',
    { TableName, Key: { ...key, x: { S: '' } } },
    /does not match the schema/,
    `${DYNAMODB}/APIReference/API_GetItem.html`,
  ],
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
  [
    'a reserved word',
    'UpdateItem',
    update('REMOVE data'),
    /reserved keyword: data/,
    `${DYNAMODB}/developerguide/ReservedWords.html`,
  ],
  [
    'an undefined name',
    'UpdateItem',
    update('REMOVE #a'),
    /not defined; attribute name: #a/,
    `${DYNAMODB}/developerguide/Expressions.ExpressionAttributeNames.html`,
  ],
  [
    'an undefined value',
    'UpdateItem',
    update('SET a = :a'),
    /not defined; attribute value: :a/,
    `${DYNAMODB}/developerguide/Expressions.ExpressionAttributeValues.html`,
  ],
  [
    'an unused name',
    'UpdateItem',
    update('REMOVE a', { ExpressionAttributeNames: { '#a': 'a' } }),
    /unused in expressions: keys: {#a}/,
    `${DYNAMODB}/developerguide/Expressions.ExpressionAttributeNames.html`,
  ],
  [
    'an unused value',
    'UpdateItem',
    update('REMOVE a', { ExpressionAttributeValues: { ':a': { S: '' } } }),
    /unused in expressions: keys: {:a}/,
    `${DYNAMODB}/developerguide/Expressions.ExpressionAttributeValues.html`,
  ],
  [
    'no values',
    'UpdateItem',
    update('REMOVE a', { ExpressionAttributeValues: {} }),
    /must not be empty/,
    `${DYNAMODB}/APIReference/API_UpdateItem.html`,
  ],
  ['an empty expression', 'UpdateItem', update(''), /can not be empty/, `${DYNAMODB}/APIReference/API_UpdateItem.html`],
  [
    'a syntax error',
    'UpdateItem',
    update('SET a = b,'),
    /Syntax error/,
    `${DYNAMODB}/developerguide/Expressions.UpdateExpressions.html`,
  ],
  [
    'redundant parentheses',
    'PutItem',
    { ...put({}), ConditionExpression: '((attribute_exists(a)))' },
    /redundant parentheses/,
    `${DYNAMODB}/developerguide/Expressions.OperatorsAndFunctions.html`,
  ],
  [
    'a key attribute in an update',
    'UpdateItem',
    update('REMOVE sk'),
    /part of the key/,
    `${DYNAMODB}/APIReference/API_UpdateItem.html`,
  ],
  [
    'overlapping paths',
    'UpdateItem',
    update('REMOVE a.b, a.b[1]'),
    /overlap/,
    `${DYNAMODB}/developerguide/Expressions.UpdateExpressions.html`,
  ],
  [
    'a text that is added',
    'UpdateItem',
    update('ADD a :a', { ExpressionAttributeValues: { ':a': { S: '' } } }),
    /Incorrect operand type/,
    `${DYNAMODB}/developerguide/Expressions.UpdateExpressions.html`,
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
  [
    'no partition key',
    'Query',
    query('sk = :p', p),
    /missed key schema element: pk/,
    `${DYNAMODB}/APIReference/API_Query.html`,
  ],
  [
    'a range of the partition key',
    'Query',
    query('pk > :p', p),
    /not supported/,
    `${DYNAMODB}/APIReference/API_Query.html`,
  ],
  [
    'a range from its end',
    'Query',
    query('pk = :p AND sk BETWEEN :b AND :a', { ...p, ':a': { S: 'a' }, ':b': { S: 'b' } }),
    /upper bound/,
    `${DYNAMODB}/developerguide/Expressions.OperatorsAndFunctions.html`,
  ],
  [
    'a filter of a key',
    'Query',
    query('pk = :p', p, { FilterExpression: 'sk = :p' }),
    /non-primary key/,
    `${DYNAMODB}/developerguide/Query.FilterExpression.html`,
  ],
  [
    'a consistent read of an index',
    'Query',
    query('byStatus = :p', p, { IndexName: 'by_status', ConsistentRead: true }),
    /Consistent reads/,
    `${DYNAMODB}/APIReference/API_Query.html`,
  ],
  [
    'an unknown index',
    'Query',
    query('pk = :p', p, { IndexName: 'by_name' }),
    /specified index/,
    `${DYNAMODB}/APIReference/API_Query.html`,
  ],
  [
    'a start key without a member',
    'Query',
    query('byStatus = :p', p, { IndexName: 'by_status', ExclusiveStartKey: key }),
    /starting key is invalid/,
    `${DYNAMODB}/APIReference/API_Query.html`,
  ],
  [
    'a start key in another partition',
    'Query',
    query('pk = :p', p, { ExclusiveStartKey: { ...key, pk: { S: 'q' } } }),
    /outside query boundaries/,
    `${DYNAMODB}/APIReference/API_Query.html`,
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
  [
    'a key twice',
    'BatchGetItem',
    { RequestItems: { table: { Keys: [key, key] } } },
    /duplicates/,
    `${DYNAMODB}/APIReference/API_BatchGetItem.html`,
  ],
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
const SES = 'https://docs.aws.amazon.com/ses/latest';
const REFUSED_BY_SES: [rule: string, email: Partial<typeof email>, error: RegExp, page: string][] = [
  ['no recipient', { recipients: [] }, /Missing required header/, `${SES}/APIReference/API_SendEmail.html`],
  ['51 recipients', { recipients: Array(51).fill('a@example.com') }, /exceeds 50/, `${SES}/dg/quotas.html`],
  ['more than 10 MB', { bytes: 10_485_761 }, /more than 10485760 bytes/, `${SES}/dg/quotas.html`],
  ['an address without a domain', { recipients: ['a'] }, /final '@domain'/, `${SES}/APIReference/API_SendEmail.html`],
  [
    'a space in an address',
    { recipients: ['a b@example.com'] },
    /control or whitespace/,
    `${SES}/APIReference/API_SendEmail.html`,
  ],
  [
    'a local part that is not ASCII',
    { recipients: ['é@example.com'] },
    /illegal character/,
    `${SES}/APIReference/API_SendEmail.html`,
  ],
  [
    'a local part of 65 characters',
    { recipients: [`${'a.'.repeat(32)}a@example.com`] },
    /illegal character/,
    `${SES}/APIReference/API_SendEmail.html`,
  ],
  [
    'a domain that is not in Punycode',
    { recipients: ['a@exämple.com'] },
    /Domain contains illegal/,
    `${SES}/APIReference/API_SendEmail.html`,
  ],
  [
    'a line break in the subject',
    { subject: 'a\r\nBcc: b@example.com' },
    /control characters/,
    `${SES}/dg/send-email-concepts-email-format.html`,
  ],
  [
    'half a surrogate pair in the subject',
    { subject: '\ud83d' },
    /control characters/,
    `${SES}/dg/send-email-concepts-email-format.html`,
  ],
];

const SCHEDULER = 'https://docs.aws.amazon.com/scheduler/latest';
const schedule = {
  ScheduleExpression: 'at(2026-01-01T00:00:00)',
  FlexibleTimeWindow: { Mode: 'OFF' },
  Target: {
    Arn: 'arn:aws:scheduler:::aws-sdk:sqs:sendMessage',
    RoleArn: 'arn:aws:iam::123456789012:role/a',
    Input: '{}',
  },
};
const REFUSED_BY_OTHERS: [
  service: string,
  rule: string,
  request: [string, string, object],
  code: string,
  page: string,
][] = [
  [
    'scheduler',
    'a name of 65 characters',
    ['POST', `/schedules/${'x'.repeat(65)}`, schedule],
    'ValidationException',
    `${SCHEDULER}/APIReference/API_CreateSchedule.html`,
  ],
  [
    'scheduler',
    'a space in a name',
    ['POST', '/schedules/a%20b', schedule],
    'ValidationException',
    `${SCHEDULER}/APIReference/API_CreateSchedule.html`,
  ],
  [
    'scheduler',
    'a time zone of 51 characters',
    ['POST', '/schedules/a', { ...schedule, ScheduleExpressionTimezone: 'x'.repeat(51) }],
    'ValidationException',
    `${SCHEDULER}/APIReference/API_CreateSchedule.html`,
  ],
  [
    'scheduler',
    'a client token with a space',
    ['POST', '/schedules/a', { ...schedule, ClientToken: 'a b' }],
    'ValidationException',
    `${SCHEDULER}/APIReference/API_CreateSchedule.html`,
  ],
  [
    'scheduler',
    '186 retries',
    [
      'POST',
      '/schedules/a',
      { ...schedule, Target: { ...schedule.Target, RetryPolicy: { MaximumRetryAttempts: 186 } } },
    ],
    'ValidationException',
    `${SCHEDULER}/APIReference/API_RetryPolicy.html`,
  ],
  [
    'scheduler',
    'no target',
    ['POST', '/schedules/a', { ...schedule, Target: undefined }],
    'ValidationException',
    `${SCHEDULER}/APIReference/API_CreateSchedule.html`,
  ],
  [
    'sqs',
    'no body',
    ['SendMessage', '/', { QueueUrl: 'q' }],
    'MissingParameter',
    'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html',
  ],
  [
    'sqs',
    'a delay that is no number',
    ['SendMessage', '/', { QueueUrl: 'q', MessageBody: 'a', DelaySeconds: 'soon' }],
    'SerializationException',
    'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html',
  ],
  [
    's3',
    'no key',
    ['PUT', '/bucket', {}],
    'InvalidRequest',
    'https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html',
  ],
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

const LAMBDA_QUOTAS = 'https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html';
const GATEWAY = 'https://docs.aws.amazon.com/apigateway/latest/developerguide';
const SES_SENDING = `${SES}/dg/request-production-access.html`;
const IMPORTANT_NOTES = `${GATEWAY}/api-gateway-known-issues.html`;
const SQS_BATCH = 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html';
const SQS_MESSAGE = 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html';

/** Other limits, with the test that shows the behavior of the local stack or of the service. */
const SHOWN_ELSEWHERE: [rule: string, page: string, file: string, test: string][] = [
  [
    'a request over 10 MB',
    `${GATEWAY}/api-gateway-execution-service-limits-table.html`,
    'stack/local/gateway-responses.test.ts',
    'is rejected when its body has more than 10 MB',
  ],
  [
    'an ARN of a method over 1,600 bytes',
    `${GATEWAY}/api-gateway-lambda-authorizer-output.html`,
    'stack/local/gateway-responses.test.ts',
    'is rejected when the ARN of its method has more than 1,600 bytes',
  ],
  [
    'a resource in a policy over 512 characters',
    `${GATEWAY}/api-gateway-lambda-authorizer-output.html`,
    'stack/local/gateway-responses.test.ts',
    'fails when a resource of the policy has more than 512 characters',
  ],
  [
    'a request line and headers over 10,240 bytes',
    `${GATEWAY}/api-gateway-execution-service-limits-table.html`,
    'stack/local/gateway-responses.test.ts',
    'is rejected when its request line and headers have more than 10,240 bytes',
  ],
  [
    'a function that takes 29 seconds',
    `${GATEWAY}/api-gateway-execution-service-limits-table.html`,
    'stack/local/gateway-responses.test.ts',
    'causes a timeout after 29 seconds',
  ],
  [
    'a reserved header of a function',
    IMPORTANT_NOTES,
    'stack/local/gateway-responses.test.ts',
    'is renamed like in API Gateway',
  ],
  [
    'plain braces and pipes in a query string',
    IMPORTANT_NOTES,
    'stack/flows/refusals.test.ts',
    'is rejected if its query contains a plain brace or pipe, unless it is URL-encoded',
  ],
  [
    'a semicolon in a query string',
    IMPORTANT_NOTES,
    'stack/flows/refusals.test.ts',
    'is rejected if its query contains a plain semicolon, which separates parameters',
  ],
  ['a character outside the set of SQS', SQS_MESSAGE, 'stack/local/sqs-service.test.ts', 'rejects a message with %j'],
  ['an invalid message', SQS_MESSAGE, 'stack/local/sqs-service.test.ts', 'rejects %s'],
  ['ids, count and total size of a batch', SQS_BATCH, 'stack/local/sqs-service.test.ts', 'rejects a batch of %s'],
  [
    'an unverified recipient in the sandbox',
    SES_SENDING,
    'stack/local/ses.test.ts',
    'rejects an unverified recipient in the sandbox',
  ],
  [
    'a recipient on the suppression list',
    `${SES}/dg/sending-email-suppression-list.html`,
    'stack/local/ses.test.ts',
    'accepts an email to a suppressed recipient, and does not send it',
  ],
  [
    'an unknown configuration set',
    `${SES}/APIReference/API_SendEmail.html`,
    'stack/local/ses.test.ts',
    'rejects an unknown configuration set',
  ],
  [
    'a schedule in the past, or with an invalid expression',
    `${SCHEDULER}/APIReference/API_CreateSchedule.html`,
    'stack/local/scheduler.test.ts',
    'is rejected: %s',
  ],
  [
    'a batch of records over 6 MB',
    LAMBDA_QUOTAS,
    'stack/local/stream-consumer.test.ts',
    'ends a batch before its event exceeds 6 MB',
  ],
  [
    'an event over 6 MB',
    LAMBDA_QUOTAS,
    'stack/local/lambda.test.ts',
    'is rejected over 6 MB as the event of a function',
  ],
  ['a response over 6 MB', LAMBDA_QUOTAS, 'stack/local/lambda.test.ts', 'is a function error one byte over the limit'],
  ['environment variables over 4 KB', LAMBDA_QUOTAS, 'stack/local/lambda.test.ts', 'have at most 4 KB'],
];

/** The tests from outside that fail when a request of the service breaks a rule above. */
const SHOWN_BY_SERVICE: [service: string, file: string, test: string][] = [
  ['DynamoDB', 'memory/contracts/storable.test.ts', 'keeps every character'],
  ['SQS', 'stack/flows/content.test.ts', 'reaches events, deliveries, logs, lists, emails and CSV files unchanged'],
  [
    'Scheduler',
    'stack/flows/delivery.test.ts',
    'makes 6 attempts on schedule, then disables the webhook and sends one email',
  ],
  ['SES', 'stack/flows/content.test.ts', 'reaches events, deliveries, logs, lists, emails and CSV files unchanged'],
  ['S3', 'stack/flows/replay.test.ts', 'sets aside an event that always fails, and delivers later events'],
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

describe('another service', () => {
  it.each(REFUSED_BY_OTHERS)('%s rejects %s', (service, _rule, [action, path, body], code) => {
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

describe('the test that shows a rule', () => {
  const shown = [...SHOWN_ELSEWHERE.map(([rule, , file, name]) => [rule, file, name] as const), ...SHOWN_BY_SERVICE];

  it.each(shown)('exists for %s', (_rule, file, name) => {
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')).toContain(`('${name}'`);
  });
});
