import { describe, expect, it } from 'vitest';
import type { Interceptor } from '../../../infra/local/services/endpoints.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type Attempt, createWebhook, deliveryOf, publish, settled } from '../../support/requests.ts';
import { type Answer, type Client, eventually, FAST, type Project, useService } from '../../support/service.ts';
import { IS_THOROUGH } from './harness.ts';

// The SDK has the same number of tries as in production.
const service = useService(FAST);

const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);

interface Context {
  project: Project;
  admin: Client;
  live: Client;
}
/** Performs actions and returns their results without random or time-dependent parts. */
type Scenario = (context: Context) => Promise<unknown>;

const statusOf = async (answer: Promise<Answer>) => (await answer).status;

/** Sends a request twice with one idempotency key. */
async function twice(client: Client, method: string, path: string, body?: unknown) {
  const call = { body, headers: { 'Idempotency-Key': crypto.randomUUID() } };
  const first = await client(method, path, call);
  const again = await client(method, path, call);
  return [first.status, again.status, again.headers['idempotency-replayed']];
}

/** With the SDK and the database. `unit/promises` has every write of every operation. */
const SCENARIOS: Record<string, Scenario> = {
  'a key is created under an idempotency key': ({ admin }) => twice(admin, 'POST', '/v1/keys', { type: 'live' }),
  'a webhook lives': async ({ live }) => {
    const { id } = await createWebhook(live, 'http://127.0.0.1:9/');
    return [
      await statusOf(live('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } })),
      await statusOf(live('POST', `/v1/webhooks/${id}/rotate-secret`)),
      await twice(live, 'POST', `/v1/webhooks/${id}/rotate-secret`),
      await statusOf(live('POST', `/v1/webhooks/${id}/test`)),
      await statusOf(live('DELETE', `/v1/webhooks/${id}`)),
      await statusOf(live('GET', `/v1/webhooks/${id}`)),
    ];
  },
  'a connection is lost': async (context) => {
    const endpoint = await startReceiver();
    await createWebhook(context.live, endpoint.url, { events: ['connection.lost'] });
    await context.live('PUT', '/v1/connections/c', { body: { node_id: 'n', lease_seconds: 10 } });
    service.stack.clock.advance(10_000);
    // At this speed, the check from the queue can run before the connection is written.
    const message = { connectionId: 'c', projectId: context.project.id, environment: 'live' };
    const record = { messageId: 'check', body: JSON.stringify(message), attributes: {} };
    await service.stack.invoke('ConnectionsCheck', { Records: [record] });
    await endpoint.until(1);
    return endpoint.received.map(({ headers }) => headers['x-service-event-type']);
  },
  // single.test.ts covers the steps after failed attempts.
  'an attempt fails and one succeeds': async ({ live }) => {
    const endpoint = await startReceiver((response, count) => void response.writeHead(count === 1 ? 500 : 200).end());
    const { id } = await createWebhook(live, endpoint.url);
    const event = await publish(live);
    const { status, attempts } = await settled(live, id, event.body.id);
    await eventually(() => [...service.stack.functions.values()].every(({ busy }) => busy === 0));
    return [status, attempts.map(({ number }: Attempt) => number), endpoint.received.length];
  },
  'an event is skipped and recovered': async (context) => {
    const { live } = context;
    const endpoint = await startReceiver();
    const { id } = await createWebhook(live, endpoint.url);
    await live('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    const event = await publish(live);
    await eventually(() => deliveryOf(live, id, event.body.id));
    await live('PATCH', `/v1/webhooks/${id}`, { body: { status: 'enabled' } });
    const { body } = await live('POST', `/v1/webhooks/${id}/recover`, {
      body: { since: event.body.timestamp },
    });
    await endpoint.until(1);
    return [body, (await settled(live, id, event.body.id)).status];
  },
};

/** Runs a scenario while the response to the first try of one write is lost. Returns the number of writes. */
async function run(scenario: Scenario, lost: number): Promise<{ writes: string[]; result: unknown }> {
  const project = await service.project();
  const context = { project, admin: project.admin, live: await project.client('live') };
  await context.live('GET', '/v1/events/evt_none'); // records its first use
  const calls = new Set<string>();
  const writes: string[] = [];
  const intercept: Interceptor = ({ principal, action, callId }) => {
    if (!WRITES.has(action) || calls.has(callId)) return undefined;
    calls.add(callId);
    writes.push(`${action} by ${principal}`);
    return writes.length - 1 === lost ? 'no answer' : undefined;
  };
  service.stack.endpoints.intercept = intercept;
  try {
    return { writes, result: await scenario(context) };
  } finally {
    service.stack.endpoints.intercept = undefined;
  }
}

describe('a write with a lost response, which the SDK retries', () => {
  it.each(Object.entries(SCENARIOS))('makes no difference: %s', async (_, scenario) => {
    const clean = await run(scenario, -1);
    expect(clean.writes.length).toBeGreaterThan(0);
    for (let lost = 0; lost < clean.writes.length; lost++) {
      // Tests the writes of each function and action once.
      if (!IS_THOROUGH && clean.writes.indexOf(clean.writes[lost] ?? '') !== lost) continue;
      const { result } = await run(scenario, lost);
      expect(result, `write ${lost} (${clean.writes[lost]}) was done and its response lost`).toEqual(clean.result);
    }
  });
});
