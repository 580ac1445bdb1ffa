import { expect, it } from 'vitest';
import { domainError, isOutage } from '../../../lib/aws/domain-errors.ts';
import { ConflictError, UnavailableError } from '../../../lib/errors.ts';

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
  ['a wrong argument', false, Object.assign(new TypeError('invalid'), { code: 'ERR_INVALID_ARG_TYPE' })],
  ['a value that is not an error', false, 'text'],
])('decides whether %s is an outage: %s', (_, expected, error) => {
  expect(isOutage(error)).toBe(expected);
});
