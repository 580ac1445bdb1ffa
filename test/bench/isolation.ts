import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { startDynamoDb } from '../../infra/local/dynamodb.ts';
import { type LocalStack, startStack } from '../../infra/local/stack.ts';

const HEALTHY = 10;
const EVENTS = 500;

/** p50 and p99 from publication to receipt at the healthy webhooks, alone and beside a receiver that never answers. */
export async function measureIsolation(assembly: string) {
  await run(assembly, false, 50); // warms the machine up
  const alone = await run(assembly, false, EVENTS);
  const beside = await run(assembly, true, EVENTS);
  const ratio = { p50_ms: beside.p50_ms / alone.p50_ms, p99_ms: beside.p99_ms / alone.p99_ms };
  const round = ({ p50_ms, p99_ms }: typeof ratio, digits: number) => ({
    p50_ms: p50_ms.toFixed(digits),
    p99_ms: p99_ms.toFixed(digits),
  });
  return { alone: round(alone, 0), 'beside a hanging one': round(beside, 0), ratio: round(ratio, 2) };
}

// DynamoDB Local slows down with what it holds: each run has one of its own.
async function run(assembly: string, withHanging: boolean, events: number) {
  const dynamoDb = await startDynamoDb();
  const stack = await startStack({ assembly, dynamoDbEndpoint: dynamoDb.endpoint });
  const latencies: number[] = [];
  let done = () => {};
  const finished = new Promise<void>((resolve) => {
    done = resolve;
  });
  const healthy = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.writeHead(200).end();
    const { timestamp } = JSON.parse(Buffer.concat(chunks).toString());
    if (latencies.push(Date.now() - Date.parse(timestamp)) === HEALTHY * events) done();
  });
  const hanging = http.createServer(() => {});
  await Promise.all(
    [healthy, hanging].map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))),
  );

  const post = await clientOf(stack);
  const subscribe = (server: http.Server) => {
    const { port } = server.address() as AddressInfo;
    return post('/v1/webhooks', { url: `http://127.0.0.1:${port}/`, events: ['document.deleted'] });
  };
  if (withHanging) await subscribe(hanging);
  for (let i = 0; i < HEALTHY; i++) await subscribe(healthy);
  for (let sent = 0; sent < events; sent += 50) {
    const event = { type: 'document.deleted', data: { document_key: 'a', revision: 1, origin: 'bench' } };
    await post('/v1/events/batch', { events: Array(50).fill(event) });
  }
  await finished;
  for (const server of [healthy, hanging]) server.close().closeAllConnections();
  await stack.stop();
  dynamoDb.stop();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return { p50_ms: at(0.5), p99_ms: at(0.99) };
}

async function clientOf(stack: LocalStack) {
  const { admin_key } = (await stack.invoke('CreateProject', { name: 'Bench', email: 'bench@example.com' })) as {
    admin_key: { key: string };
  };
  return async (path: string, body: unknown) => {
    const headers = { Authorization: `Bearer ${admin_key.key}`, 'Content-Type': 'application/json' };
    const response = await fetch(stack.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
  };
}
