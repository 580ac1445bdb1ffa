import { expect, it } from 'vitest';
import { domainError, isOutage } from '../../../lib/aws/domain-errors.ts';
import { put } from '../../../lib/aws/expressions.ts';
import { createTable } from '../../../lib/aws/table.ts';
import { ConflictError, UnavailableError } from '../../../lib/errors.ts';
import { type Command, runtimeWith } from '../../support/runtime.ts';

const awsError = (name: string) => Object.assign(new Error(name), { name, $metadata: { httpStatusCode: 400 } });

it.each<[string, boolean, unknown]>([
  ['a throttled call', true, domainError(awsError('ThrottlingException'))],
  ['denied access', true, domainError(awsError('AccessDeniedException'))],
  ['a queue that does not exist', true, domainError(awsError('QueueDoesNotExist'))],
  ['a refused connection', true, Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
  ['an unavailable service', true, new UnavailableError(new Error('down'))],
  ['a write conflict', true, new ConflictError('conflict')],
  ['a message that SQS refuses', false, domainError(awsError('InvalidMessageContents'))],
  ['an item that DynamoDB refuses', false, domainError(awsError('ValidationException'))],
  ['an item that is no valid request', false, domainError(awsError('SerializationException'))],
  ['a bug', false, new TypeError('body is undefined')],
  ['a number out of range', false, Object.assign(new RangeError('size'), { code: 'ERR_OUT_OF_RANGE' })],
  ['a wrong argument', false, Object.assign(new TypeError('invalid'), { code: 'ERR_INVALID_ARG_TYPE' })],
  ['a value that is not an error', false, 'text'],
])('decides whether %s is an outage: %s', (_, expected, error) => {
  expect(isOutage(error)).toBe(expected);
});

it.each([
  'InternalServerError',
  'LimitExceededException',
  'RequestLimitExceeded',
  'ServiceUnavailable',
  'ThrottlingException',
  'TimeoutError',
  'TransactionInProgressException',
])('means that the same call can succeed later: %s', (name) => {
  expect(domainError(awsError(name))).toBeInstanceOf(UnavailableError);
});

it('can say itself that the same call can succeed later', () => {
  expect(domainError(Object.assign(awsError('Unknown'), { $retryable: {} }))).toBeInstanceOf(UnavailableError);
});

it.each([
  [true, ['None', 'TransactionConflict']],
  [true, ['ThrottlingError', 'TransactionConflict']],
  [false, ['ConditionalCheckFailed', 'TransactionConflict']], // the condition would be false again
  [false, []],
])('decides whether a canceled transaction can succeed later: %s for %j', (canSucceed, codes) => {
  const CancellationReasons = codes.map((Code) => ({ Code }));
  const error = domainError(Object.assign(awsError('TransactionCanceledException'), { CancellationReasons }));
  expect(error instanceof UnavailableError).toBe(canSucceed);
});

it('is followed by five more tries if the write of an item conflicts with a transaction', async () => {
  const written = (conflicts: number) => {
    const send = async ({ name }: Command) => {
      if (name === 'Put' && conflicts-- > 0) throw awsError('TransactionConflictException');
      return {};
    };
    return createTable(runtimeWith(send)).write([put({ pk: 'a', sk: 'b' })]);
  };
  expect(await written(5)).toEqual([]);
  await expect(written(6)).rejects.toThrow(UnavailableError);
});
