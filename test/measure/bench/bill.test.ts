import { expect, it } from 'vitest';
import type { Service, ServiceRequest } from '../../../infra/local/services/endpoints.ts';
import type { LocalStack } from '../../../infra/local/stack.ts';
import { billOf, idleBillOf, sum } from './cost/bill.ts';
import { Meter } from './cost/meter.ts';
import { durationMs, pollRequests } from './cost/prices.ts';
import { storedBytesOf } from './cost/storage.ts';
import { NOTHING, scaled } from './cost/usage.ts';

const close = (bill: Record<string, number>) =>
  Object.fromEntries(Object.entries(bill).map(([name, dollars]) => [name, Number(dollars.toFixed(4))]));

it('has a line for each billed item', () => {
  const million = scaled(
    {
      ...NOTHING,
      apiRequests: 1,
      invocations: 4,
      gbSeconds: 0.1,
      writeUnits: 2,
      readUnits: 5,
      sqsRequests: 3,
      logBytes: 2000,
    },
    1e6,
  );
  expect(close(billOf(million))).toEqual({
    'API Gateway': 3.5,
    Lambda: 2.1333,
    DynamoDB: 1.875,
    'stored for 30 days': 0,
    SQS: 1.5,
    Scheduler: 0,
    SES: 0,
    Logs: 1,
    'Data out': 0,
  });
  expect(sum(billOf({ ...NOTHING, schedules: 2e6, emails: 100 }))).toBeCloseTo(2.01);
  expect(sum(billOf({ ...NOTHING, storedBytes: 1e9, outBytes: 1e9 }))).toBeCloseTo(0.54);
});

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

it('bills metrics, alarms, a dashboard and polls of empty queues in an idle month', () => {
  expect(
    close(idleBillOf({ metrics: 7, alarmMetrics: 30, countedMappings: 2, dashboards: 1, polledQueues: 4 })),
  ).toEqual({
    metrics: 2.1,
    'metrics of mappings': 0.6,
    alarms: 3,
    dashboards: 3,
    'polls of idle queues': 1.296,
  });
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
