import { describe, expect, it } from 'vitest';
import type { Interceptor } from '../../../infra/local/services/endpoints.ts';
import { changed } from '../../support/changed.ts';
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
const keyed = (body?: unknown) => ({ body, headers: { 'Idempotency-Key': crypto.randomUUID() } });
const document = { fields: { title: 'Draft' } };
const EVENT = changed();
const WEBHOOK = { url: 'http://127.0.0.1:9/', events: ['sync.completed'] };

/** Sends a request twice with one idempotency key. */
async function twice(client: Client, method: string, path: string, body?: unknown) {
  const call = keyed(body);
  const first = await client(method, path, call);
  const again = await client(method, path, call);
  return [first.status, again.status, again.headers['idempotency-replayed']];
}

async function newKey({ admin }: Context, type = 'live'): Promise<string> {
  return (await admin('POST', '/v1/keys', { body: { type } })).body.id;
}

/** Publishes an event for an endpoint, and returns the requests, records and emails. */
async function delivered({ live, project }: Context, statuses: number[]) {
  const endpoint = await startReceiver(
    (response, count) => void response.writeHead(statuses[count - 1] ?? statuses.at(-1) ?? 200).end(),
  );
  const { id } = await createWebhook(live, endpoint.url);
  const event = await publish(live);
  const { status, attempts } = await settled(live, id, event.body.id);
  const webhook = (await live('GET', `/v1/webhooks/${id}`)).body;
  const emails = () => service.stack.ses.emails.filter(({ to }) => to === project.email);
  if (webhook.status === 'disabled')
    await eventually(() => emails().some(({ subject }) => subject.startsWith('Webhook disabled')));
  await eventually(() => [...service.stack.functions.values()].every(({ busy }) => busy === 0));
  const numbers = attempts.map(({ number }: Attempt) => number);
  return { status, numbers, posts: endpoint.received.length, webhook: webhook.status, emails: emails().length };
}

const SCENARIOS: Record<string, Scenario> = {
  'a key is created': async ({ admin }) => {
    const { status } = await admin('POST', '/v1/keys', { body: { type: 'live' } });
    return [status, (await admin('GET', '/v1/keys')).body.data.length];
  },
  'a key is created under an idempotency key': ({ admin }) => twice(admin, 'POST', '/v1/keys', { type: 'live' }),
  'a key is rotated': async (context) => statusOf(context.admin('POST', `/v1/keys/${await newKey(context)}/rotate`)),
  'a key is revoked': async (context) => statusOf(context.admin('POST', `/v1/keys/${await newKey(context)}/revoke`)),
  'an admin key is revoked': async (context) =>
    statusOf(context.admin('POST', `/v1/keys/${await newKey(context, 'admin')}/revoke`)),
  'an allowlist is set': async (context) =>
    statusOf(context.admin('POST', `/v1/keys/${await newKey(context)}/allowlist`, { body: { cidrs: ['192.0.2.1'] } })),
  'the allowlist of one admin key relies on another': async (context) =>
    statusOf(
      context.admin('POST', `/v1/keys/${await newKey(context, 'admin')}/allowlist`, { body: { cidrs: ['192.0.2.1'] } }),
    ),
  'a key is renamed': async (context) =>
    statusOf(context.admin('PATCH', `/v1/keys/${await newKey(context)}`, { body: { name: 'New' } })),
  'the project is changed': async ({ admin }) => {
    const { status, body } = await admin('PATCH', '/v1/project', { body: { name: 'New' } });
    const entries = (await admin('GET', '/v1/audit')).body.data as { action: string }[];
    return [status, body.name, entries.filter(({ action }) => action === 'project.changed').length];
  },
  'a token is revoked': async ({ live }) => {
    const body = { documents: ['a:*'], permissions: ['read'], ttl: 60 };
    const { token, token_id } = (await live('POST', '/v1/tokens', { body })).body;
    const revoked = await statusOf(live('POST', `/v1/tokens/${token_id}/revoke`));
    return [revoked, await statusOf(service.as(token)('GET', '/v1/documents'))];
  },
  'a token is created under an idempotency key': ({ live }) =>
    twice(live, 'POST', '/v1/tokens', { documents: ['a:*'], permissions: ['read'], ttl: 60 }),
  'a webhook lives': async ({ live }) => {
    const { id } = await createWebhook(live, WEBHOOK.url);
    return [
      await statusOf(live('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } })),
      await statusOf(live('POST', `/v1/webhooks/${id}/rotate-secret`)),
      await twice(live, 'POST', `/v1/webhooks/${id}/rotate-secret`),
      await statusOf(live('POST', `/v1/webhooks/${id}/test`)),
      await statusOf(live('DELETE', `/v1/webhooks/${id}`)),
      await statusOf(live('GET', `/v1/webhooks/${id}`)),
    ];
  },
  'the hundredth webhook is created': async ({ live }) => {
    const creating = Array.from({ length: 20 }, () => live('POST', '/v1/webhooks', { body: WEBHOOK }));
    const answers = await Promise.all(creating);
    return [new Set(answers.map(({ status }) => status)), (await live('GET', '/v1/webhooks')).body.data.length];
  },
  'an event is published': ({ live }) => statusOf(live('POST', '/v1/events', { body: EVENT })),
  'an event is published under an idempotency key': ({ live }) => twice(live, 'POST', '/v1/events', EVENT),
  'events are published under an idempotency key': ({ live }) =>
    twice(live, 'POST', '/v1/events/batch', { events: [EVENT, EVENT] }),
  'a document lives': async ({ live }) => [
    await statusOf(live('PUT', '/v1/documents/a', { body: document })),
    (await live('PATCH', '/v1/documents/a', { body: { fields: { title: 'Final' } } })).body.revision,
    await statusOf(live('DELETE', '/v1/documents/a')),
  ],
  'a sync cycle has a name of its own': async ({ live }) => {
    const push = [{ op: 'put', document_key: 'a', base_revision: 0, fields: { a: 1 } }];
    const body = { node_id: 'n', sync_id: 'mine', pattern: '*', push, known: {} };
    const answer = await live('POST', '/v1/sync', { body });
    return [answer.status, answer.body.results[0].status];
  },
  'a connection lives': async ({ live }) => [
    await statusOf(live('PUT', '/v1/connections/c', { body: { node_id: 'n' } })),
    await statusOf(live('PUT', '/v1/connections/c', { body: { node_id: 'n' } })),
    await statusOf(live('DELETE', '/v1/connections/c')),
    await statusOf(live('DELETE', '/v1/connections/c')),
  ],
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
  'an attempt succeeds': (context) => delivered(context, [200]),
  // single.test.ts covers the steps after failed attempts.
  'an attempt fails and one succeeds': (context) => delivered(context, [500, 200]),
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
  'a delivery is sent again under an idempotency key': async ({ live }) => {
    const endpoint = await startReceiver();
    const { id } = await createWebhook(live, endpoint.url);
    const event = await publish(live);
    await settled(live, id, event.body.id);
    const answers = await twice(live, 'POST', `/v1/webhooks/${id}/deliveries/${event.body.id}/redeliver`);
    await endpoint.until(2);
    return answers;
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
