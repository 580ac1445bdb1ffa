import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dynamoDbClient } from '../../../infra/local/services/dynamodb.ts';
import { Endpoints, type Fault, type ServiceCall } from '../../../infra/local/services/endpoints.ts';

const endpoints = new Endpoints();
const performed: string[] = [];
const calls: ServiceCall[] = [];

beforeAll(async () => {
  await endpoints.listen();
  endpoints.add('dynamodb', ({ body }) => {
    performed.push(body);
    return { headers: { 'Content-Type': 'application/x-amz-json-1.0' }, body: '{"Item":{"a":{"S":"b"}}}' };
  });
});
beforeEach(() => {
  performed.length = 0;
  calls.length = 0;
});
afterAll(() => endpoints.close());

const failAt = (attempt: number, fault: Fault) => {
  endpoints.intercept = (call) => {
    calls.push(call);
    return call.attempt === attempt ? fault : undefined;
  };
};
const read = () => {
  const client = dynamoDbClient(endpoints.url('dynamodb'));
  const command = new GetItemCommand({ TableName: 't', Key: { pk: { S: 'a' } } });
  return client.send(command).finally(() => client.destroy());
};

describe('a fault of one try', () => {
  it.each([
    ['error before', 1],
    ['throttled', 1],
    ['error after', 2],
    ['no answer', 2],
  ] as const)('"%s" leaves the next one to succeed', async (fault, timesPerformed) => {
    failAt(1, fault);
    expect((await read()).Item).toEqual({ a: { S: 'b' } });
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(1);
    expect(performed).toHaveLength(timesPerformed);
  });
});
