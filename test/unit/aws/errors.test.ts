import { expect, it } from 'vitest';
import { domainError, isOutage } from '../../../lib/aws/domain-errors.ts';
import { ConflictError, UnavailableError } from '../../../lib/errors.ts';

const awsError = (name: string) => Object.assign(new Error(name), { name, $metadata: { httpStatusCode: 400 } });

it.each<[string, unknown]>([
  ['a throttled call', domainError(awsError('ThrottlingException'))],
  ['denied access', domainError(awsError('AccessDeniedException'))],
  ['a queue that does not exist', domainError(awsError('QueueDoesNotExist'))],
  ['a refused connection', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
  ['an unavailable service', new UnavailableError(new Error('down'))],
  ['a write conflict', new ConflictError('conflict')],
])('treats %s as an outage', (_, error) => {
  expect(isOutage(error)).toBe(true);
});

it.each<[string, unknown]>([
  ['a message that SQS refuses', domainError(awsError('InvalidMessageContents'))],
  ['an item that DynamoDB refuses', domainError(awsError('ValidationException'))],
  ['an item that is no valid request', domainError(awsError('SerializationException'))],
  ['a bug', new TypeError('body is undefined')],
  ['a wrong argument', Object.assign(new TypeError('invalid'), { code: 'ERR_INVALID_ARG_TYPE' })],
  ['a value that is not an error', 'text'],
])('does not treat %s as an outage', (_, error) => {
  expect(isOutage(error)).toBe(false);
});
