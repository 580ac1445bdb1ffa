import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { startDatabase } from '../../../infra/local/services/database.ts';
import { dynamoDbClient } from '../../../infra/local/services/dynamodb.ts';
import { startStack } from '../../../infra/local/stack.ts';
import { listening, textOf } from '../http.ts';
import { isOfFigures, Meter } from './meter.ts';
import { storedBytesOf } from './storage.ts';
import { type Counts, scaled, scaledCounts, type Usage } from './usage.ts';

export interface Scenario {
  /** Events that are published. */
  events: number;
  /** How many of them in one request. */
  batch?: number;
  /** Requests that are under way at once. */
  together?: number;
  webhooks?: number;
  /** Attempts of each delivery that fail. */
  failures?: number;
}

/** Retries after hours come in milliseconds. */
const SPEED = 20_000;

/** What one event of a scenario takes, from its publication until nothing is left to do with it. */
export async function usageOf(
  assembly: string,
  { events, batch = 1, together = 1, webhooks = 1, failures = 0 }: Scenario,
): Promise<{ usage: Usage; counts: Counts; metrics: number }> {
  const database = await startDatabase();
  let log = (_text: string) => {};
  const stack = await startStack({
    assembly,
    databaseEndpoint: database.endpoint,
    speed: SPEED,
    output: (name, text) => (isOfFigures(name) ? undefined : log(text)),
  });
  const meter = new Meter(stack);
  log = (text) => meter.log(text);
  const endpoint = await listening(async (request, response) => {
    meter.delivered(Buffer.byteLength(await textOf(request)));
    response.writeHead(Number(request.headers['x-service-attempt']) <= failures ? 500 : 200).end();
  });
  const [stage] = stack.template.ofType<{ AccessLogSetting: { Format: string } }>('AWS::ApiGateway::Stage');
  const accessLogBytes = stage?.properties.AccessLogSetting.Format.length ?? 0;

  const { admin_key } = (await stack.invoke('CreateProject', { name: 'Bench', email: 'bench@example.com' })) as {
    admin_key: { key: string };
  };
  const post = async (path: string, body: unknown): Promise<void> => {
    const headers = { Authorization: `Bearer ${admin_key.key}`, 'Content-Type': 'application/json' };
    const response = await fetch(stack.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    meter.request(text.length, accessLogBytes);
  };
  const isIdle = () =>
    [...stack.queues.values()].every((queue) => Object.values(queue.counts()).every((count) => count === 0)) &&
    stack.scheduler.count() === 0 &&
    [...stack.functions.values()].every((fn) => fn.busy === 0);
  /** Nothing has been to do for half a second: what a stream hands on is nowhere else. */
  const atRest = async (): Promise<void> => {
    for (let quiet = 0; quiet < 10; quiet = isIdle() ? quiet + 1 : 0) await new Promise((done) => setTimeout(done, 50));
  };
  const storedBytes = async (): Promise<number> => {
    const client = dynamoDbClient(database.endpoint);
    const [table] = stack.template.ofType('AWS::DynamoDB::Table');
    const { Items = [] } = await client.send(new ScanCommand({ TableName: stack.template.ref(table?.id ?? '') }));
    client.destroy();
    return Items.filter(({ pk }) => !pk?.S?.startsWith('FIGURES#')).reduce(
      (total, item) => total + storedBytesOf(item),
      0,
    );
  };

  const event = (i: number) => ({
    type: 'document.changed',
    data: {
      document_key: `org:acme:doc-${i}`,
      revision: 2,
      changes: [{ field: 'title', old_value: 'Draft', new_value: 'Final', origin: 'node-1' }],
    },
  });
  const publish = (from: number) =>
    batch === 1
      ? post('/v1/events', event(from))
      : post('/v1/events/batch', { events: Array.from({ length: batch }, (_, i) => event(from + i)) });

  for (let i = 0; i < webhooks; i++)
    await post('/v1/webhooks', { url: endpoint.url, events: ['document.changed'], secret: 'bench secret' });
  // Endpoints earn the quick lane, functions start.
  if (failures === 0) {
    for (let i = 0; i < 3; i++) {
      await publish(-1 - i);
      await atRest();
    }
  }
  meter.take();
  const storedBefore = await storedBytes();
  for (let published = 0; published < events; published += batch * together) {
    await Promise.all(Array.from({ length: together }, (_, i) => publish(published + i * batch)));
    await atRest();
  }
  const taken = meter.take();
  const usage = { ...taken.usage, storedBytes: (await storedBytes()) - storedBefore };
  endpoint.close();
  await stack.stop();
  database.stop();
  return {
    usage: scaled(usage, 1 / events),
    counts: scaledCounts(taken.counts, 1 / events),
    metrics: meter.metrics.size,
  };
}
