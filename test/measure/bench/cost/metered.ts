import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { sizeOf } from '../../../../infra/local/memory/values.ts';
import type { LocalStack } from '../../../../infra/local/stack.ts';
import { itemsOf } from '../../../support/items.ts';
import { createProject } from '../project.ts';
import { startBench } from '../stack.ts';
import { isOfStats, Meter } from './meter.ts';

/** The bytes that DynamoDB adds to every stored item for indexing (DynamoDB pricing). */
const ITEM_OVERHEAD_BYTES = 100;

/** Starts a local stack with a project and a meter. `speed` is the factor for queue delays and schedules. */
export async function startMetered(assembly: string, speed: number) {
  let log = (_text: string) => {};
  const { stack, databaseEndpoint, stop } = await startBench(assembly, {
    speed,
    output: (name, text) => (isOfStats(name) ? undefined : log(text)),
  });
  const meter = new Meter(stack);
  log = (text) => meter.log(text);
  const [stage] = stack.template.ofType<{ AccessLogSetting: { Format: string } }>('AWS::ApiGateway::Stage');
  const accessLogBytes = accessLineOf(stage?.properties.AccessLogSetting.Format ?? '').length;
  const { id: projectId, send } = await createProject(stack);
  const isIdle = () =>
    [...stack.queues.values()].every((queue) => Object.values(queue.counts()).every((count) => count === 0)) &&
    stack.scheduler.count() === 0 &&
    meter.running === 0;

  return {
    stack,
    meter,
    projectId,
    /** Calls the API with an admin key, and returns the body of the response. Throws if the request fails. */
    async send(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<string> {
      const response = await send(method, path, body, headers);
      meter.request(response.length, accessLogBytes);
      return response;
    },
    /**
     * Waits until there was no work for half a second longer than the batching windows, because records in the stream are not
     * visible otherwise.
     */
    async atRest(): Promise<void> {
      const quietMs = 500 + gatheringMs(stack);
      for (let ms = 0; ms < quietMs; ms = isIdle() ? ms + 50 : 0)
        await new Promise((resolve) => setTimeout(resolve, 50));
    },
    /** Excludes stats, which are stored for more than a year. */
    async storedBytes(): Promise<number> {
      const items = await itemsOf(databaseEndpoint, stack.tableName);
      const billed = items.filter(({ pk }) => !pk?.S?.startsWith('FIGURES#'));
      const entries = [...billed, ...billed.flatMap((item) => entriesOf(stack, item))];
      return entries.reduce((total, item) => total + ITEM_OVERHEAD_BYTES + sizeOf(item as never), 0);
    },
    stop,
  };
}

/** The entries of an item in the indexes of the table. */
function entriesOf({ template }: LocalStack, item: Readonly<Record<string, object>>): object[] {
  const [table] = template.ofType<Pick<CreateTableCommandInput, 'GlobalSecondaryIndexes'>>('AWS::DynamoDB::Table');
  return (table?.properties.GlobalSecondaryIndexes ?? []).flatMap(({ KeySchema = [], Projection }) => {
    const keys = KeySchema.map(({ AttributeName = '' }) => AttributeName);
    if (!keys.every((name) => name in item)) return [];
    const members = new Set([...keys, 'pk', 'sk', ...(Projection?.NonKeyAttributes ?? [])]);
    const isAll = Projection?.ProjectionType === 'ALL';
    return [Object.fromEntries(Object.entries(item).filter(([name]) => isAll || members.has(name)))];
  });
}

/** The values of a successful request in the access log. Error fields are `-`. */
const LOGGED: Record<string, string> = {
  requestId: '4be9b33f-dd99-4860-ab37-1e0cbb0b048c',
  requestTimeEpoch: '1769860800000',
  'identity.sourceIp': '203.0.113.100',
  httpMethod: 'POST',
  resourcePath: '/v1/events',
  status: '202',
  'authorizer.principalId': 'key_Vbe1NT51oyw7',
  responseLatency: '40',
  tlsVersion: 'TLSv1.3',
};
const accessLineOf = (format: string): string =>
  format.replace(/\$context\.([\w.]+)/g, (_, name: string) => LOGGED[name] ?? '-');

/** The longest batching window, except for stats and checks, which no other work waits for. */
function gatheringMs({ template }: LocalStack): number {
  const mappings = template.ofType<{ MaximumBatchingWindowInSeconds?: number }>('AWS::Lambda::EventSourceMapping');
  const ofDeliveries = mappings.filter(({ id }) => /^(FanOut|Deliver)/.test(id));
  return 1000 * Math.max(...ofDeliveries.map(({ properties }) => properties.MaximumBatchingWindowInSeconds ?? 0));
}
