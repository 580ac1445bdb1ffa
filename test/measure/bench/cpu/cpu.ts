import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { DynamoDBRecord } from 'aws-lambda';
import { queueRecord } from '../../../../infra/local/lambda/queue-poller.ts';
import { streamRecord } from '../../../../infra/local/lambda/stream-consumer.ts';
import type { LocalStack } from '../../../../infra/local/stack.ts';
import { changed } from '../../../support/changed.ts';
import { itemsOf } from '../../../support/items.ts';
import { createProject } from '../project.ts';
import { startBench } from '../stack.ts';
import type { Invoked } from './function-process.ts';
import { functionNamed, startFunctions } from './functions.ts';
import { limitCpu } from './quota.ts';

/** The memory in MB at which a function has one vCPU (Lambda Developer Guide, "Configure Lambda function memory"). */
const MB_OF_VCPU = 1769;
/** The limits of an event source and of a project. */
const EVENTS = 100;
const WEBHOOKS = 100;
const BATCHES = [10, 100] as const;
/** The measured invocations of each size, after one that loads the code and opens connections. */
const REPEATS = 3;
/** The deliveries of a part of an event with many webhooks, and the batches of parts that the deliveries need. */
const PART = 10;
const BATCHES_OF_PARTS = Math.ceil(((REPEATS + 1) * (BATCHES[0] + BATCHES[1])) / (PART * BATCHES[0]));
/** The measured authorizations, after as many that let the engine compile the code. */
const AUTHORIZATIONS = 300;

/**
 * Runs the bundles of the authorizer, of the fan-out and of a lane with the CPU share of a memory size: authorizations with a
 * token, a fan-out of 100 events to 100 webhooks in parts, and batches of these parts and of deliveries over TLS 1.3 to 100 hosts. A record fails if a call
 * of a service or an attempt exceeds its time limit.
 */
export async function measureCpu(assembly: string, memorySizes: readonly number[] = [512, 1024, MB_OF_VCPU]) {
  const { stack, databaseEndpoint, stop } = await startBench(assembly);
  for (const mapping of stack.mappings.values()) mapping.Enabled = false; // the bench invokes the functions
  stack.iam.isPermissive = true; // one process runs three functions
  const endpoints = fork(new URL('./endpoints-process.ts', import.meta.url), [String(WEBHOOKS)]);
  const [urls] = (await once(endpoints, 'message')) as [string[]];
  const { post } = await createProject(stack);
  const { token = '' } = await post('/v1/tokens', { documents: ['org:acme:*'], permissions: ['read'], ttl: 3600 });
  for (const url of urls) await post('/v1/webhooks', { url, events: ['document.changed'] });
  const rows: Record<string, Record<string, number>> = {};
  await post('/v1/events/batch', { events: Array.from({ length: EVENTS }, () => changed()) });
  const records = await eventRecords(databaseEndpoint, stack);
  for (const memory_mb of memorySizes) {
    const fanOut = functionNamed(stack, 'FanOut');
    const lane = functionNamed(stack, 'DeliverNew');
    const authorizer = functionNamed(stack, 'Authorize');
    const { child, invoke } = startFunctions({
      ...authorizer.variables,
      ...fanOut.variables,
      ...lane.variables,
      ...stack.environment,
      LANE: 'new',
    });
    await invoke({ path: fanOut.path, event: { Records: records.slice(0, 1) } });
    const release = limitCpu(child.pid ?? 0, memory_mb / MB_OF_VCPU);
    const add = (name: string, count: number, all: Invoked[]) => {
      const mean = (of: (each: Invoked) => number) => all.reduce((sum, each) => sum + of(each), 0) / all.length;
      rows[`${name}, ${memory_mb} MB`] = {
        memory_mb,
        wall_ms: Math.round(mean(({ wallMs }) => wallMs)),
        cpu_ms_each: Number((mean(({ cpuMs }) => cpuMs) / count).toPrecision(3)),
        each_per_second: Math.round((1000 * count) / mean(({ wallMs }) => wallMs)),
        failed: all.reduce((sum, { failures }) => sum + failures, 0),
      };
    };
    const authorized: Invoked[] = [];
    for (let i = 0; i < 2 * AUTHORIZATIONS; i++)
      authorized.push(await invoke({ path: authorizer.path, event: authorizerEvent(token) }));
    add('authorization with a token', 1, authorized.slice(AUTHORIZATIONS));
    const fannedOut = await invoke({ path: fanOut.path, event: { Records: records } });
    add(`fan-out of ${EVENTS} events to ${WEBHOOKS} webhooks`, EVENTS * WEBHOOKS, [fannedOut]);
    const parts: Invoked[] = [];
    for (let i = 0; i < BATCHES_OF_PARTS; i++)
      parts.push(await invoke({ path: lane.path, event: { Records: received(stack, 'Deliveries', BATCHES[0]) } }));
    add('messages of parts, in batches of 100', PART * BATCHES[0], parts);
    for (const size of BATCHES) {
      const all: Invoked[] = [];
      for (let i = 0; i <= REPEATS; i++) {
        const invoked = await invoke({ path: lane.path, event: { Records: received(stack, 'NewDeliveries', size) } });
        if (i > 0) all.push(invoked);
      }
      add(`deliver, in batches of ${size}`, size, all);
    }
    release();
    child.kill();
  }
  endpoints.disconnect();
  await stop();
  return rows;
}

const authorizerEvent = (credential: string) => ({
  type: 'REQUEST',
  methodArn: 'arn:aws:execute-api:us-east-1:000000000000:api/prod/GET/v1/documents',
  httpMethod: 'GET',
  resource: '/v1/documents',
  multiValueHeaders: { Authorization: [`Bearer ${credential}`] },
  requestContext: { requestId: 'bench', identity: { sourceIp: '127.0.0.1' } },
});

/** The events of the table, as records of its stream. */
async function eventRecords(endpoint: string, { tableName, streamArn }: LocalStack) {
  const items = await itemsOf(endpoint, tableName);
  return items
    .filter(({ pk }) => pk?.S?.startsWith('EVENT#'))
    .map(({ pk, sk, ...item }, i) => {
      const Keys = { pk, sk };
      const dynamodb = {
        Keys,
        NewImage: { ...Keys, ...item },
        SequenceNumber: String(i),
        ApproximateCreationDateTime: Date.now() / 1000,
      };
      return streamRecord({ eventID: String(i), eventName: 'INSERT', dynamodb } as DynamoDBRecord, streamArn);
    });
}

/** Messages of the queue of a lane. */
function received({ queues }: LocalStack, name: string, count: number) {
  const queue = queues.get(name);
  const messages = Array.from({ length: count / 10 }, () => queue?.receive(10) ?? []).flat();
  if (messages.length < count) throw new Error(`The queue has only ${messages.length} messages`);
  return messages.map((message) => queueRecord(message, queue?.settings.arn ?? ''));
}
