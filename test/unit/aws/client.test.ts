import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../lib/aws/runtime.ts';

const steps = ({ middlewareStack }: { middlewareStack: { identify(): string[] } }) =>
  middlewareStack.identify().join('\n');

describe('a client of the SDK', () => {
  it.each([SQSClient, DynamoDBClient])('copies nothing for a log: %o', (type) => {
    expect(steps(new type())).toContain('loggerMiddleware');
    expect(steps(createClient(type as typeof SQSClient))).not.toContain('loggerMiddleware');
  });
});
