import { describe, expect, it } from 'vitest';
import { dynamoDbActions } from '../../../infra/local/services/dynamodb-request.ts';
import { LocalIam } from '../../../infra/local/services/iam.ts';
import type { Resource } from '../../../infra/local/template.ts';

const ALLOW = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: 'arn:aws:sqs:::*' };
const DENY = { Effect: 'Deny', Action: 'sqs:*', Resource: 'arn:aws:sqs:::secret' };

function createIam(...Statement: object[]): LocalIam {
  const policy = { id: 'Policy', type: '', properties: { Roles: ['role'], PolicyDocument: { Statement } } };
  return new LocalIam({ ofType: <Properties>() => [policy] as unknown as Resource<Properties>[] });
}

describe('a role', () => {
  it.each([
    ['an action that no statement allows', [], 'arn:aws:sqs:::queue', false],
    ['an action that a statement allows', [ALLOW], 'arn:aws:sqs:::queue', true],
    ['an action that one statement allows and another denies', [ALLOW, DENY], 'arn:aws:sqs:::secret', false],
    ['an action that is denied before it is allowed', [DENY, ALLOW], 'arn:aws:sqs:::secret', false],
    ['an action outside a denial', [ALLOW, DENY], 'arn:aws:sqs:::queue', true],
    [
      'an action denied under an unmet condition',
      [ALLOW, { ...DENY, Condition: { StringEquals: { a: 'b' } } }],
      'arn:aws:sqs:::secret',
      true,
    ],
  ])('decides like IAM about %s: %s', (_name, statements, resource, isAllowed) => {
    expect(createIam(...statements).allows('role', 'sqs:SendMessage', resource)).toBe(isAllowed);
  });

  it('is denied the permissions of another role', () => {
    expect(createIam(ALLOW).allows('another', 'sqs:SendMessage', 'arn:aws:sqs:::queue')).toBe(false);
  });
});

describe('a condition', () => {
  const allows = (Condition: object, context: Record<string, string | string[]>) =>
    createIam({ ...ALLOW, Condition }).allows('role', 'sqs:SendMessage', 'arn:aws:sqs:::queue', context);

  it.each([
    ['StringEquals', 'a', { key: 'a' }, true],
    ['StringEquals', 'a', { key: 'b' }, false],
    ['StringEquals', 'a', {}, false],
    ['StringEquals', 'a*', { key: 'ab' }, false],
    ['StringEquals', ['a', 'b'], { key: 'b' }, true],
    ['ForAnyValue:StringLike', ['A#*', 'B#*'], { key: ['C#1', 'B#2'] }, true],
    ['ForAnyValue:StringLike', ['A#*', 'B#*'], { key: ['C#1', 'AA#2'] }, false],
    ['ForAnyValue:StringLike', ['A#*'], {}, false],
    ['ForAllValues:StringLike', ['A#*', 'B#*'], { key: ['A#1', 'B#2'] }, true],
    ['ForAllValues:StringLike', ['A#*', 'B#*'], { key: ['A#1', 'C#2'] }, false],
    ['ForAllValues:StringLike', ['A#*'], { key: 'AA#1' }, false],
    ['ForAllValues:StringLike', ['A#*'], {}, true], // like AWS, because a request without keys needs a separate action
  ])('%s %o is met by %o: %s', (operator, wanted, context, isMet) => {
    expect(allows({ [operator]: { key: wanted } }, context)).toBe(isMet);
  });

  it('throws for an unsupported operator', () => {
    expect(() => allows({ StringNotLike: { key: 'a' } }, {})).toThrow('StringNotLike');
  });
});

describe('a request to the table authorizes', () => {
  const pk = (S: string) => ({ pk: { S }, sk: { S: 'x' } });
  const asked = (operation: string, input: object) => dynamoDbActions(operation, input, (name) => `arn:${name}`);
  const query = {
    TableName: 't',
    KeyConditionExpression: '#pk = :pk AND sk > :sk',
    ExpressionAttributeValues: { ':sk': { S: 'B' }, ':pk': { S: 'A' } },
  };

  it.each([
    ['GetItem', { TableName: 't', Key: pk('A') }, 'arn:t', ['A']],
    ['Query', query, 'arn:t', ['A']],
    ['Query', { ...query, IndexName: 'i' }, 'arn:t/index/i', ['A']],
  ])('of %s %o for its keys', (operation, input, resource, leadingKeys) => {
    expect(asked(operation, input)).toEqual([{ action: `dynamodb:${operation}`, resource, leadingKeys }]);
  });

  it('a query for the attributes that it names', () => {
    const names = { ProjectionExpression: '#p, sk', ExpressionAttributeNames: { '#p': 'pk', '#t': 'type' } };
    const named = { ...query, KeyConditionExpression: 'pk = :pk', ...names, FilterExpression: '#t = :admin' };
    const attributes = ['sk', 'pk', 'type'];
    expect(asked('Query', { ...named, Select: 'SPECIFIC_ATTRIBUTES' })).toEqual([
      { action: 'dynamodb:Query', resource: 'arn:t', leadingKeys: ['A'], attributes, select: 'SPECIFIC_ATTRIBUTES' },
    ]);
  });

  it('every write of a transaction, with its own key and with all keys', () => {
    const TransactItems = [
      { Put: { TableName: 't', Item: pk('A') } },
      { ConditionCheck: { TableName: 't', Key: pk('B') } },
    ];
    const ofAll = { resource: 'arn:t', leadingKeys: ['A', 'B'], isOfAll: true };
    expect(asked('TransactWriteItems', { TransactItems })).toEqual([
      { action: 'dynamodb:PutItem', resource: 'arn:t', leadingKeys: ['A'] },
      { action: 'dynamodb:PutItem', ...ofAll },
      { action: 'dynamodb:ConditionCheckItem', resource: 'arn:t', leadingKeys: ['B'] },
      { action: 'dynamodb:ConditionCheckItem', ...ofAll },
    ]);
  });

  it('nothing and throws for an unsupported key condition', () => {
    expect(() => asked('Query', { ...query, KeyConditionExpression: 'sk > :sk AND pk = :pk' })).toThrow(
      'partition key',
    );
  });
});
