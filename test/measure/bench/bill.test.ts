import { expect, it } from 'vitest';
import type { Service, ServiceRequest } from '../../../infra/local/services/endpoints.ts';
import type { LocalStack } from '../../../infra/local/stack.ts';
import { Meter } from './cost/meter.ts';
import { durationMs, pollRequests } from './cost/prices.ts';
import { storedBytesOf } from './cost/storage.ts';

it('bills all writes except those of the stats', async () => {
  const wrapped = new Map<string, (service: Service) => Service>();
  const meter = new Meter({
    endpoints: { wrap: (name: string, wrap: (service: Service) => Service) => wrapped.set(name, wrap) },
    template: { ofType: () => [] },
    functions: new Map(),
  } as unknown as LocalStack);
  const database = wrapped.get('dynamodb')?.(() => ({
    body: JSON.stringify({ ConsumedCapacity: { CapacityUnits: 1 } }),
  }));
  const write = (principal: string, pk: string) => {
    const body = JSON.stringify({ Key: { pk: { S: pk }, sk: { S: 'a' } } });
    return database?.({ action: 'UpdateItem', headers: {}, body, principal } as ServiceRequest);
  };
  await write('StatsCountRole', 'FIGURES#whk_1');
  await write('EventsRole', 'EVENT#prj_1');
  expect(meter.take().writeUnits).toBe(1);
});

it.each([
  [{ pk: { S: 'abc' } }, 2 + 3],
  [{ at: { N: '1769860800000' } }, 2 + 8],
  [{ yes: { BOOL: true }, no: { NULL: true } }, 4 + 3],
  [{ list: { L: [{ S: 'é' }, { N: '1' }] } }, 4 + 3 + 3 + 3],
  [{ map: { M: { a: { S: 'bc' } } } }, 3 + 3 + 1 + 3],
])('stores an item %j with its bytes plus 100', (item, bytes) => {
  expect(storedBytesOf(item as Parameters<typeof storedBytesOf>[0])).toBe(100 + bytes);
});

it.each([
  [1, 2, 130],
  [10, 2, 220],
  [100, 20, 1120],
])('bills a batch of %d deliveries with %d SQS requests and %d ms', (messages, requests, ms) => {
  expect([pollRequests(messages), durationMs('DeliveryDeliverB9F0AABF', messages)]).toEqual([requests, ms]);
});
