import { describe, expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { put } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook, publish, publishAll } from '../../support/requests.ts';
import type { Client } from '../../support/service.ts';

const events = (count: number) => Array.from({ length: count }, (_, i) => changed({ document_key: `doc-${i}` }));

/** A project with a budget of one delivery per second, and two webhooks. The clock stands still, except for requests and attempts. */
async function newProject(variables = { DELIVERIES_PER_SECOND: '1' }) {
  const service = memoryService({ variables });
  const project = await service.project();
  const live = await project.client('live');
  const endpoint = service.endpoint();
  const webhook = await createWebhook(live, endpoint.url);
  await createWebhook(live, endpoint.url, { documents: ['doc-0'] });
  const record = () => [...service.db.items()].find(({ pk }) => pk === `PROJECT#${project.id}`);
  const usedSeconds = () => (Number(record()?.deliveriesUsedUntil ?? 0) - service.clock.now()) / 1000;
  return { service, project, live, endpoint, webhook, record, usedSeconds };
}
/** Uses the budget of 101 s: a hundred events, of which the second webhook receives one. */
async function exceed({ service, live }: { service: ReturnType<typeof memoryService>; live: Client }) {
  const ids = await publishAll(live, events(100));
  await service.settle();
  return ids;
}
const attemptTo = (client: Client, headers = {}) => client('POST', '/v1/events', { body: changed(), headers });

describe('the budget of deliveries', () => {
  it('rejects events until the time in Retry-After, stores none of them, and loses none that it accepted', async () => {
    const own = await newProject();
    const ids = await exceed(own);
    const over = own.usedSeconds() - 60;
    expect(over).toBeGreaterThan(30);
    const { status, headers, body } = await attemptTo(own.live);
    expect([status, body.code, headers['retry-after']]).toEqual([429, 'too_many_requests', String(Math.ceil(over))]);
    expect(body.detail).toContain(`in ${Math.ceil(over)} s`);
    own.service.clock.skip((Number(headers['retry-after']) - 1) * 1000);
    expect((await attemptTo(own.live)).headers['retry-after']).toBe('1');
    own.service.clock.skip(1000);
    await publish(own.live);
    await own.service.settle();
    const received = own.endpoint.received.map((post) => post.headers['X-Service-Event-Id']);
    expect(received).toHaveLength(102);
    expect(new Set(received).size).toBe(101);
    expect(ids.every((id) => received.includes(id))).toBe(true);
  });

  it('limits documents, tests, pushes and new connections, but neither pulls nor internal events', async () => {
    const own = await newProject();
    await put(own.live, 'doc-0', { a: 1 });
    const connect = (id: string) =>
      own.live('PUT', `/v1/connections/${id}`, { body: { node_id: 'n', lease_seconds: 10 } });
    await connect('phone');
    await exceed(own);
    const sync = (push: object[]) =>
      own.live('POST', '/v1/sync', { body: { node_id: 'n', pattern: '*', known: {}, push } });
    const push = { op: 'put', document_key: 'doc-0', base_revision: 1, fields: { a: 2 } };
    const requests = [
      own.live('PUT', '/v1/documents/doc-1', { body: { fields: {} } }),
      own.live('PATCH', '/v1/documents/doc-0', { body: { fields: { a: 2 } } }),
      own.live('DELETE', '/v1/documents/doc-0'),
      own.live('POST', `/v1/webhooks/${own.webhook.id}/test`, { body: {} }),
      sync([push]),
      connect('tablet'),
    ];
    for (const { status, headers } of await Promise.all(requests))
      expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await own.live('GET', '/v1/documents/doc-0')).body).toMatchObject({ revision: 1, fields: { a: 1 } });
    expect((await sync([])).body.changes).toHaveLength(1);
    await own.service.settle(); // the lease expires
    const types = ['sync.completed', 'connection.lost'].map((type) => own.live('GET', `/v1/events?type=${type}`));
    expect((await Promise.all(types)).map(({ body }) => body.data.length)).toEqual([1, 1]);
  });

  it('replays the response to an accepted request, and a rejected request is new when it is repeated', async () => {
    const own = await newProject();
    const first = await attemptTo(own.live, { 'Idempotency-Key': 'first' });
    await exceed(own);
    const replay = await attemptTo(own.live, { 'Idempotency-Key': 'first' });
    expect([replay.status, replay.body, replay.headers['idempotency-replayed']]).toEqual([202, first.body, 'true']);
    const rejected = await attemptTo(own.live, { 'Idempotency-Key': 'second' });
    expect(rejected.status).toBe(429);
    own.service.clock.skip(Number(rejected.headers['retry-after']) * 1000);
    const repeated = await attemptTo(own.live, { 'Idempotency-Key': 'second' });
    expect([repeated.status, repeated.headers['idempotency-replayed']]).toEqual([202, undefined]);
  });

  it('completes a request whose first run stored its events and ended without a response', async () => {
    const own = await newProject();
    const request = { body: { events: events(2) }, headers: { 'Idempotency-Key': 'same' } };
    own.service.faults.around = async (command, perform) => {
      if (String(command.input.UpdateExpression).includes('#response')) throw new Error('The write failed');
      return perform();
    };
    expect((await own.live('POST', '/v1/events/batch', request)).status).toBe(500);
    delete own.service.faults.around;
    await exceed(own);
    const stored = (await own.live('GET', '/v1/events?document_key=doc-1')).body.data;
    const { status, body } = await own.live('POST', '/v1/events/batch', request);
    expect([status, body.data.length, stored]).toEqual([202, 2, expect.arrayContaining([body.data[1]])]);
    expect((await attemptTo(own.live)).status).toBe(429);
  });

  it('returns the violations of an invalid request', async () => {
    const own = await newProject();
    await exceed(own);
    expect((await own.live('POST', '/v1/events', { body: { type: 'none' } })).status).toBe(400);
  });

  it('belongs to one project with both of its environments', async () => {
    const own = await newProject();
    const [sandbox, other] = [await own.project.client('test'), await (await own.service.project()).client('live')];
    await exceed(own);
    expect((await attemptTo(sandbox)).status).toBe(429);
    expect((await attemptTo(other)).status).toBe(202);
  });

  it('counts events only for their subscribed webhooks, and paused webhooks too', async () => {
    const own = await newProject();
    const before = own.service.clock.now();
    await own.live('PATCH', `/v1/webhooks/${own.webhook.id}`, { body: { status: 'disabled' } });
    await publishAll(own.live, [...events(3), { type: 'sync.completed', data: SYNC }]);
    await own.service.settle();
    const counted = own.usedSeconds() - (before - own.service.clock.now()) / 1000;
    expect(Math.round(counted)).toBe(5); // four events for the paused webhook, and one for the other
  });

  it('costs a quiet project nothing: neither a write, nor a change of its record', async () => {
    const own = await newProject({ DELIVERIES_PER_SECOND: '1000' });
    const before = own.record();
    await publishAll(own.live, events(95));
    await own.service.settle();
    expect(own.record()).toEqual(before);
    await publishAll(own.live, events(5));
    await own.service.settle();
    expect(own.usedSeconds()).toBeGreaterThan(-10); // 101 deliveries in a minute are worth a write
  });
});

const SYNC = {
  sync_id: 's',
  node_id: 'n',
  pattern: '*',
  started_at: '2026-01-31T11:00:00Z',
  completed_at: '2026-01-31T11:00:00Z',
};
